import { expect } from 'chai';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { until, type Instance } from '../e2e/instance.ts';
import { newTenant, sharedInstance, shareWith } from '../e2e/shared.ts';
import { freePorts } from '../free-ports.ts';
import { clearUp, layOut, node, python, rsyslog, syslogNg, type Running, type Workplace } from './programs.ts';
import { installToolset, NotHere } from './toolsets.ts';

const folder = mkdtempSync(path.join(os.tmpdir(), 'logweir-door-shippers-'));
let tcp = 0;
let udp = 0;
let grpc = 0;

shareWith(async () => {
  [tcp = 0, udp = 0, grpc = 0] = await freePorts(3);
  const file = path.join(folder, 'doors.json');
  const doors = [
    { name: 'tcp', kind: 'syslog_tcp', port: tcp, key_in_structured_data: true },
    { name: 'udp', kind: 'syslog_udp', port: udp, key_in_structured_data: true },
    { name: 'otlp', kind: 'otlp_grpc', port: grpc },
  ];
  writeFileSync(file, JSON.stringify({ doors }));
  return { LOGWEIR_DOORS: file };
});

const frames = (): string =>
  ['order created for Zoë ☕', 'payment failed']
    .map((text) => `<30>1 ${new Date().toISOString()} web-1 checkout 77 - - ${text}\n`)
    .join('');

describe('shippers of syslog at the doors', function () {
  this.timeout(260_000);
  let instance: Instance;
  let place: Workplace | undefined;
  let running: Running | undefined;
  let tools = '';

  before(async function () {
    this.timeout(900_000);
    try {
      tools = (await installToolset('debian', (line) => console.log(`  ${line}`))).folder;
    } catch (error) {
      if (!(error instanceof NotHere)) throw error;
      console.log(`  NOT RUN: rsyslog and syslog-ng at the doors: ${error.message}`);
      this.skip();
    }
    instance = await sharedInstance();
  });
  after(() => rmSync(folder, { recursive: true, force: true }));
  afterEach(async () => {
    await running?.stop();
    if (place !== undefined) clearUp(place);
  });

  /** Lays the example out with the ports of the doors. */
  const laidOut = (example: string, key: string): Workplace => {
    place = layOut(example, tools, { port: tcp, key });
    const file = path.join(place.folder, example.includes('rsyslog') ? '60-logweir.conf' : 'logweir.conf');
    writeFileSync(file, readFileSync(file, 'utf8').replaceAll('6514', String(tcp)).replaceAll('5514', String(udp)));
    return place;
  };
  /** How often each message of a tenant is found, once there are `count` entries. */
  const found = async (tenant: { readonly id: number; readonly key: string }, count: number): Promise<Record<string, number>> => {
    const url = `${instance.app}/api/v1/tenants/${String(tenant.id)}/search?enrich=false`;
    const search = (): ReturnType<Instance['call']> =>
      instance.call('POST', url, { query: '*', start: '-1h' }, { Authorization: `Bearer ${tenant.key}` });
    const logs = await until(
      `${String(count)} entries; ${running?.output() ?? ''}`,
      async () => ((await search()).body as { readonly logs?: Record<string, unknown>[] }).logs ?? [],
      ({ length }) => length >= count,
    );
    const counts: Record<string, number> = {};
    for (const { _msg, service } of logs)
      counts[`${String(service)} ${String(_msg)}`] = (counts[`${String(service)} ${String(_msg)}`] ?? 0) + 1;
    return counts;
  };

  it('rsyslog, omfwd: TCP with octet counting, with lines, and UDP', async () => {
    const tenant = await newTenant(instance);
    running = await rsyslog(frames)(laidOut('doors/rsyslog-omfwd', tenant.key));
    expect(await found(tenant, 6)).to.deep.equal({ 'checkout order created for Zoë ☕': 3, 'checkout payment failed': 3 });
  });

  it('syslog-ng, syslog(): TCP with octet counting', async () => {
    const tenant = await newTenant(instance);
    running = await syslogNg(frames)(laidOut('doors/syslog-ng-tcp', tenant.key));
    expect(await found(tenant, 2)).to.deep.equal({ 'checkout order created for Zoë ☕': 1, 'checkout payment failed': 1 });
  });
});

describe('SDKs of OpenTelemetry at the door of gRPC', function () {
  this.timeout(260_000);
  let place: Workplace | undefined;
  afterEach(() => place !== undefined && clearUp(place));

  for (const [toolset, example, start] of [
    ['node', 'doors/opentelemetry-js-grpc', node('app.mjs')],
    ['python', 'doors/opentelemetry-python-grpc', python('app.py')],
  ] as const)
    it(`${example}: logs, spans and metrics, each found once`, async function () {
      this.timeout(900_000);
      const tools = await installToolset(toolset, (line) => console.log(`  ${line}`)).catch((error: unknown) => error);
      if (tools instanceof NotHere) {
        console.log(`  NOT RUN: ${example}: ${tools.message}`);
        this.skip();
      }
      if (tools instanceof Error) throw tools;
      const instance = await sharedInstance();
      const { id, key } = await newTenant(instance);
      place = layOut(example, (tools as { folder: string }).folder, { port: grpc, key });
      const sender = await start(place);
      await sender.ended;
      expect(sender.exitCode(), sender.output()).to.equal(0);
      const base = `${instance.app}/api/v1/tenants/${String(id)}`;
      const headers = { Authorization: `Bearer ${key}` };
      const asked =
        (method: string, path: string, body?: object): (() => Promise<string>) =>
        async () =>
          JSON.stringify((await instance.call(method, base + path, body, headers)).body);
      /** The answer, once it has this so often. */
      const has = async (what: RegExp, times: number, ask: () => Promise<string>): Promise<string> =>
        until(`${String(times)} of ${String(what)}; ${sender.output()}`, ask, (text) => [...text.matchAll(what)].length >= times);
      const logs = await has(/"_msg":"order created for Zoë ☕"/g, 1, asked('POST', '/search?enrich=false', { query: '*', start: '-1h' }));
      expect(logs)
        .to.include('"service":"checkout"')
        .and.to.match(/"order\.items":"?3\b/)
        .and.to.match(/"trace_id":"[0-9a-f]{32}"/);
      const spans = await has(/"name":"POST \/orders"/g, 1, asked('POST', '/spans/search', { query: '*', start: '-1h' }));
      expect(spans.match(/"name":"POST \/orders"/g)).to.have.length(1);
      const query = `/prometheus/api/v1/query?query=${encodeURIComponent('orders_total{channel="web",job="checkout"}')}`;
      expect(await has(/"3"\]/g, 1, asked('GET', query))).to.include('"status":"success"');
    });
});
