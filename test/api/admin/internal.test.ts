import { expect } from 'chai';
import { Checks } from '../../../api/admin/checks.ts';
import { Peers } from '../../../api/admin/peers.ts';
import { RawClient } from '../../fakes/raw-client.ts';
import { TOKEN, get, listen } from '../../fakes/internal-listener.ts';

describe('/ready', () => {
  it('200 only if every check of every process holds, else 503 and which do not', async () => {
    const peers = new Peers('127.0.0.1', TOKEN);
    const app = await listen('app', { peers });
    const ingest = await listen('ingest');
    app.checks.register('control', () => true);
    peers.set([
      { role: 'ingest', pid: -1, port: ingest.server.port },
      { role: 'app', pid: process.pid, port: app.server.port },
    ]);
    const ready = await get(`${app.url}/ready`);
    expect(ready.status).to.equal(200);
    expect(ready.json()).to.deep.include({ status: 'ready', failing: [] });
    ingest.checks.register('kafka', () => Promise.resolve(false));
    app.checks.register('clickhouse', () => Promise.reject(new Error('down')));
    const not = await get(`${app.url}/ready`);
    expect(not.status).to.equal(503);
    expect(not.json()['failing']).to.deep.equal(['app: clickhouse', 'ingest: kafka']);
    expect((await get(`${ingest.url}/ready`)).status).to.equal(503);
    expect((await get(`${app.url}/ready?self=1`)).json()['failing']).to.deep.equal(['app: clickhouse']);
    // a role that was there and is gone
    peers.set([]);
    expect((await get(`${app.url}/ready`)).json()['failing']).to.deep.equal(['app: clickhouse', 'ingest: answers']);
  });

  it('503 until it is known who else there is, and until each of them has started', async () => {
    const peers = new Peers('127.0.0.1', TOKEN);
    const app = await listen('app', { peers });
    const ingest = await listen('ingest');
    const failing = async (): Promise<unknown> => (await get(`${app.url}/ready`)).json()['failing'];
    expect((await get(`${app.url}/ready`)).status).to.equal(503);
    expect(await failing()).to.deep.equal(['app: peers']);
    const own = { role: 'app', pid: process.pid, port: app.server.port };
    peers.set([own], ['ingest', 'app']);
    expect(await failing()).to.deep.equal(['ingest: answers']);
    peers.set([own, { role: 'ingest', pid: -1, port: ingest.server.port }], ['ingest', 'app']);
    expect(await failing()).to.deep.equal([]);
  });

  it('says what an operator must look at, though every process is ready', async () => {
    const peers = new Peers('127.0.0.1', TOKEN);
    const app = await listen('app', { peers });
    const sink = await listen('sink');
    peers.set([{ role: 'sink', pid: -1, port: sink.server.port }]);
    sink.checks.registerWarning(() => null);
    expect((await get(`${app.url}/ready`)).json()['warnings']).to.deep.equal([]);
    sink.checks.registerWarning(() => '7 records have expired');
    const ready = await get(`${app.url}/ready`);
    expect(ready.status).to.equal(200);
    expect(ready.json()['warnings']).to.deep.equal(['sink: 7 records have expired']);
  });

  it('a peer that is gone fails', async () => {
    const peers = new Peers('0.0.0.0', TOKEN);
    const app = await listen('app', { peers });
    peers.set([{ role: 'sink', pid: -1, port: 1 }]);
    expect((await get(`${app.url}/ready`)).json()['failing']).to.deep.equal(['sink: answers']);
  });

  it('a check that hangs fails after 2 s', async () => {
    const checks = new Checks();
    checks.register('hangs', () => new Promise<boolean>(() => undefined));
    checks.register('throws', () => {
      throw new Error('x');
    });
    checks.register('holds', () => true);
    const start = performance.now();
    expect(await checks.run()).to.deep.equal({ hangs: false, throws: false, holds: true });
    expect(performance.now() - start).to.be.at.least(1900);
  });
});

describe('/metrics', () => {
  it('merges all processes: HELP and TYPE once, each series with its role', async () => {
    const peers = new Peers('127.0.0.1', TOKEN);
    const app = await listen('app', { peers });
    const sink = await listen('sink');
    peers.set([
      { role: 'sink', pid: -1, port: sink.server.port },
      { role: 'gone', pid: -2, port: 1 },
    ]);
    app.metrics.entries.inc({ format: 'otlp_logs' }, 3);
    sink.metrics.entries.inc({ format: 'otlp_logs' }, 4);
    sink.metrics.lag.set({ topic: 'logs.v1', partition: '0' }, NaN);
    const response = await fetch(`${app.url}/metrics`);
    expect(response.headers.get('content-type')).to.match(/^text\/plain; version=0\.0\.4/);
    const text = await response.text();
    expect(text).to.contain('logweir_entries_total{format="otlp_logs",role="app"} 3');
    expect(text).to.contain('logweir_entries_total{format="otlp_logs",role="sink"} 4');
    expect(text).to.match(/process_resident_memory_bytes\{role="sink"\} \d+/);
    expect(text).to.match(/nodejs_eventloop_lag_p99_seconds\{role="app"\} [\d.e-]+/);
    expect(text).not.to.contain('NaN').and.not.to.contain('null');
    const helps = text
      .split('\n')
      .filter((line) => line.startsWith('# TYPE '))
      .map((line) => line.split(' ')[2]);
    expect(new Set(helps).size).to.equal(helps.length);
    expect(await (await fetch(`${app.url}/metrics?self=1`)).text()).not.to.contain('role="sink"');
  });

  it('is valid exposition: every sample belongs to the TYPE above it, and no series comes twice', async () => {
    const { url } = await listen('app');
    await get(`${url}/ready`);
    const lines = (await get(`${url}/metrics`)).text.split('\n').filter((line) => line !== '');
    let name = '';
    const series = new Set<string>();
    for (const line of lines) {
      if (line.startsWith('# TYPE ')) name = line.split(' ')[2] ?? '';
      if (line.startsWith('#')) continue;
      const match = /^([a-zA-Z_:][\w:]*)(\{(?:[a-zA-Z_]\w*="(?:[^"\\\n]|\\.)*",?)*\})? (\S+)$/.exec(line);
      expect(match, line).not.to.equal(null);
      expect(match?.[1]?.startsWith(name), line).to.equal(true);
      expect(Number.isNaN(Number(match?.[3]?.replace('+Inf', 'Infinity'))), line).to.equal(false);
      expect(series.has(`${match?.[1]}${match?.[2]}`), line).to.equal(false);
      series.add(`${match?.[1]}${match?.[2]}`);
    }
  });

  it('takes nothing from a peer that says something else', async () => {
    const liar = await listen('liar', { adminRoutes: [] });
    const peers = new Peers('127.0.0.1', TOKEN);
    const app = await listen('app', { peers });
    peers.set([{ role: 'liar', pid: -1, port: liar.server.port }]);
    await liar.server.stop();
    expect((await get(`${app.url}/metrics`)).status).to.equal(200);
  });
});

describe('stopping the internal listener', () => {
  it('is quick', async () => {
    const { server } = await listen('x');
    const idle = new RawClient(server.port).send('GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n');
    await idle.answer();
    const start = performance.now();
    await server.stop();
    await idle.gone();
    // it does not wait for its clients, which may take 10 s
    expect(performance.now() - start).to.be.below(8000);
  });
});
