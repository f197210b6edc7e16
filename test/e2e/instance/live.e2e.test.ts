import { expect } from 'chai';
import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import WebSocket from 'ws';
import { timeText } from '../../../pipeline/alerting/book/shown-alert.ts';
import { alert } from '../../fakes/alerts-record.ts';
import { alertTeller } from '../alert-source.ts';
import { until, type Instance } from '../instance.ts';
import { newTenant, sharedInstance } from '../shared.ts';
import { TailClient, type Message } from '../tail-client.ts';

describe('live tails', function () {
  this.timeout(600_000);
  let instance: Instance;
  let tenant: { readonly id: number; readonly key: string };
  const open: TailClient[] = [];
  before(async () => {
    instance = await sharedInstance();
  });
  beforeEach(async () => {
    tenant = await newTenant(instance);
  });
  afterEach(() => {
    for (const client of open.splice(0)) client.close();
  });

  const url = (path = 'livetail', id = tenant.id): string => `${instance.app}/ws/${path}/${String(id)}`;
  const own = (): Record<string, string> => ({ Authorization: `Bearer ${tenant.key}` });
  async function ingest(entries: readonly Message[]): Promise<void> {
    const { status } = await instance.call('POST', `${instance.ingest}/api/v1/ingest`, entries, own());
    expect(status).to.equal(200);
  }
  async function tail(message: Message): Promise<TailClient> {
    const client = await TailClient.ready(url(), tenant.key, message);
    open.push(client);
    return client;
  }
  const entry = (n: number, more: Message = {}): Message => ({ _msg: `message ${String(n)}`, service: 'web', level: 'info', n, ...more });
  async function search(query: string): Promise<Message[]> {
    // a tail does not add what is known of patterns, which come to be known at some time
    const url = `${instance.app}/api/v1/tenants/${String(tenant.id)}/search?enrich=false`;
    const { body } = await instance.call('POST', url, { query }, own());
    return (body as { logs: Message[] }).logs;
  }

  it('send what matches, once, exactly as search gives it', async () => {
    const all = await tail({ query: '*' });
    const some = await tail({ query: 'level:error "message 3" | fields n, _time' });
    const entries = Array.from({ length: 8 }, (_none, n) =>
      entry(n, {
        level: n % 3 === 0 ? 'error' : 'info',
        took: 1.5,
        ok: true,
        'a.b': { c: 'd' },
        _time: new Date(Date.now() - n * 1001).toISOString(),
      }),
    );
    await ingest(entries);
    expect(await all.has(8)).to.have.members([0, 1, 2, 3, 4, 5, 6, 7]);
    expect(await some.has(1)).to.deep.equal([3]);
    const found = await until(
      'the stored entries',
      () => search('*'),
      ({ length }) => length === 8,
    );
    const byNumber = (a: Message, b: Message): number => Number(a['n']) - Number(b['n']);
    expect([...all.entries].sort(byNumber)).to.deep.equal([...found].sort(byNumber));
    expect(Object.keys(some.entries[0] ?? {})).to.have.members(['_time', 'n']);
  });

  it('a new query takes the place of the one before, and one that is wrong does not', async () => {
    const client = await tail({ query: 'service:a' });
    await ingest([entry(1, { service: 'a' }), entry(2, { service: 'b' })]);
    await client.has(1);
    for (const [message, words] of [
      [{ query: '* | stats count()' }, 'Live tail cannot run the pipe "stats"'],
      [{ query: 'a AND (' }, 'offset'],
      [{ query: '' }, 'empty'],
      [{ query: 'x'.repeat(10_001) }, '10000 characters'],
      [{}, 'no `query`'],
      [{ query: 1 }, 'must be a string'],
      ['{"query":', 'not JSON'],
      ['[]', 'JSON object'],
      [{ query: '*', since: 'soon' }, 'not a valid time'],
      [{ query: '*', resume: "'; DROP TABLE logs" }, 'not a position'],
      ['{"__proto__":{"query":"*"}}', 'no `query`'],
    ] as const) {
      const before = client.controls.length;
      client.send(message);
      await until(
        words,
        () => Promise.resolve(client.controls.slice(before).find(({ type }) => type === 'error')),
        (control) => String(control?.['detail']).includes(words),
      );
    }
    await ingest([entry(3, { service: 'a' })]);
    await client.has(2);
    client.send({ query: 'service:b', control: true });
    await until(
      'the new query',
      () => Promise.resolve(client.controls.filter(({ type }) => type === 'ready').length),
      (count) => count === 2,
    );
    await ingest([entry(4, { service: 'a' }), entry(5, { service: 'b' })]);
    expect(await client.has(3)).to.deep.equal([1, 3, 5]);
  });

  it('begin with what is stored, without a seam, while entries come all the time', async () => {
    let [sent, isOver] = [0, false];
    const sending = (async () => {
      for (; !isOver || sent < 60; sent += 5) await ingest(Array.from({ length: 5 }, (_none, index) => entry(sent + index)));
    })();
    await until(
      'some entries',
      () => Promise.resolve(sent),
      (count) => count > 20,
    );
    const clients = await Promise.all(Array.from({ length: 3 }, () => tail({ query: 'service:web', since: '-5m' })));
    for (const client of clients) await client.control('backfill');
    isOver = true;
    await sending;
    for (const client of clients)
      expect([...(await client.has(sent))].sort((a, b) => Number(a) - Number(b))).to.deep.equal(
        Array.from({ length: sent }, (_none, n) => n),
      );
  });

  it('go on after a cut where the last position was, and nothing is missing or comes twice', async () => {
    const first = await tail({ query: 'service:web | fields n', since: '-5m' });
    await first.control('backfill');
    await ingest([entry(1), entry(2)]);
    await first.has(2);
    await until(
      'a position behind them',
      () => Promise.resolve(first.sincePosition.length),
      (count) => count === 0,
    );
    const { position } = first;
    first.close();
    await ingest([entry(3), entry(4)]);
    const second = await tail({ query: 'service:web | fields n', resume: position });
    await second.control('backfill');
    await ingest([entry(5)]);
    expect(await second.has(3)).to.deep.equal([3, 4, 5]);
  });

  it('give the newest stored entries alone, and tell of the cut', async () => {
    for (let at = 0; at < 10_050; at += 3350) await ingest(Array.from({ length: 3350 }, (_none, index) => entry(at + index)));
    const client = await tail({ query: '* | fields n', since: '-5m' });
    expect(await client.control('backfill')).to.deep.include({ count: 10_000, cut: true });
    expect(client.entries).to.have.length(10_000);
  });

  it('show no other tenant, and nothing to whom they are not', async () => {
    const other = await newTenant(instance);
    const client = await tail({ query: '*' });
    await instance.call('POST', `${instance.ingest}/api/v1/ingest`, [entry(1)], { Authorization: `Bearer ${other.key}` });
    await ingest([entry(2)]);
    expect(await client.has(1)).to.deep.equal([2]);
    for (const [path, key, status] of [
      [url('livetail', other.id), tenant.key, 403],
      [url('livetail', other.id), 'nobodys', 401],
      [`${instance.app}/ws/livetail/x`, tenant.key, 400],
      [`${instance.ingest}/ws/livetail/${String(tenant.id)}`, tenant.key, 404],
      [`${instance.app}/ws/nothing/1`, tenant.key, 404],
    ] as const) {
      const refused = new TailClient(path, key);
      await until(
        'the refusal',
        () => Promise.resolve(refused.refused),
        (answer) => answer?.status === status,
      );
      expect(refused.refused?.requestId).to.match(/^[0-9a-f-]{36}$/);
    }
  });

  it('as Server-Sent Events, which go on behind the last one that came', async () => {
    const path = `${instance.app}/api/v1/tenants/${String(tenant.id)}/tail?${new URLSearchParams({ query: 'service:web', since: '-5m' }).toString()}`;
    const read = async (lastId: string, count: number): Promise<{ ids: string[]; numbers: unknown[] }> => {
      const client = new AbortController();
      const headers = { ...own(), Accept: 'text/event-stream', ...(lastId === '' ? {} : { 'Last-Event-ID': lastId }) };
      const response = await fetch(path, { headers, signal: client.signal });
      expect([response.status, response.headers.get('content-type')]).to.deep.equal([200, 'text/event-stream; charset=utf-8']);
      const [ids, numbers]: [string[], unknown[]] = [[], []];
      let text = '';
      for await (const part of response.body?.pipeThrough(new TextDecoderStream()) ?? []) {
        const events = (text + part).split('\n\n');
        text = events.pop() ?? '';
        for (const event of events) {
          const [, id = '', data = ''] = /^id: (.*)\ndata: (.*)$/.exec(event) ?? [];
          if (data === '') continue;
          ids.push(id);
          numbers.push((JSON.parse(data) as Message)['n']);
        }
        if (numbers.length >= count) break;
      }
      client.abort();
      return { ids, numbers };
    };
    await ingest([entry(1), entry(2), entry(3)]);
    const first = await read('', 3);
    expect(first.numbers).to.have.members([1, 2, 3]);
    // in the midst of what is stored, and then of what came live
    await ingest([entry(4)]);
    expect((await read(first.ids[0] ?? '', 3)).numbers).to.deep.equal([...first.numbers.slice(1), 4]);
    expect((await read(first.ids[2] ?? '', 1)).numbers).to.deep.equal([4]);
    const wrong = await fetch(path.replace('service%3Aweb', '(('), { headers: own() });
    expect(wrong.status).to.equal(400);
  });

  it('as JSON lines of VictoriaLogs, whose values are texts', async () => {
    await ingest([entry(1), entry(2, { service: 'other' })]);
    const client = new AbortController();
    const body = new URLSearchParams({ query: 'service:web | fields n, _stream_id', start_offset: '5m', refresh_interval: '1s' });
    const response = await fetch(`${instance.app}/select/logsql/tail`, { method: 'POST', headers: own(), body, signal: client.signal });
    expect(response.status).to.equal(200);
    let text = '';
    for await (const part of response.body?.pipeThrough(new TextDecoderStream()) ?? []) {
      if (text === '') await ingest([entry(3), entry(4, { service: 'other' })]);
      text += part;
      if (text.split('\n').length > 2) break;
    }
    client.abort();
    const rows = text.split('\n').slice(0, 2).map((line) => JSON.parse(line) as Message); // prettier-ignore
    expect(rows.map(({ n }) => n)).to.deep.equal(['1', '3']);
    expect(rows[0]?.['_stream_id']).to.match(/^[0-9a-f]{48}$/);
    for (const [parameters, words] of [
      [{ query: '* | stats count()' }, 'Live tail cannot run the pipe "stats"'],
      [{ query: '* | sort by (_time)' }, '"sort"'],
      [{ query: '* | fields n | limit 5' }, '"limit"'],
      [{ query: '* | uniq by (n)' }, '"uniq"'],
      [{ query: '* | stream_context before 1' }, '"stream_context"'],
      [{ query: '*', offset: '-1s' }, 'offset cannot be below 0'],
      [{ query: '*', start_offset: 'x' }, 'start_offset'],
      [{ query: '*', refresh_interval: '2000y' }, 'refresh_interval'],
      [{ query: '*', extra_filters: '{"a":1}' }, 'extra filter'],
      [{}, 'query is empty'],
    ] as const) {
      const refused = await fetch(`${instance.app}/select/logsql/tail`, { method: 'POST', headers: own(), body: new URLSearchParams(parameters) }); // prettier-ignore
      expect([refused.status, await refused.text()].join(' '))
        .to.match(/^400 /)
        .and.to.contain(words);
    }
  });

  it('of alerts: fires and resolutions, updates on request, and what was said since a time', async () => {
    const teller = alertTeller(instance);
    const { tell } = teller;
    const now = Math.floor(Date.now() / 1000);
    const fired = alert({
      tenantId: tenant.id,
      id: 900_000 + tenant.id,
      firedAt: now,
      updatedAt: now,
      evidence: JSON.stringify({ opened_at: timeText(now) }),
    });
    const types = (client: TailClient): unknown[] => client.entries.map(({ type }) => type);
    const [short, long] = await Promise.all(['', '?updates=true'].map((query) => TailClient.open(`${url('alerts')}${query}`, tenant.key)));
    if (short === undefined || long === undefined) return;
    open.push(short, long);
    // until the reader is there, which nobody is told
    let version = 1;
    await until(
      'the first',
      async () => {
        await tell(fired, version++);
        return types(short).length + types(long).length;
      },
      (count) => count >= 2,
    );
    await tell({ ...fired, updatedAt: now + 60, fireCount: 2 }, version++);
    await tell({ ...fired, state: 'resolved', updatedAt: now + 120, resolvedAt: now + 120, note: 'over' }, version++);
    for (const client of [short, long])
      await until(
        'the resolution',
        () => Promise.resolve(types(client).at(-1)),
        (type) => type === 'resolved',
      );
    expect(types(short)).not.to.include('updated');
    expect(types(long)).to.include('updated');
    const last = short.entries.at(-1)?.['alert'] as Message;
    expect(last).to.include({ id: fired.id, state: 'resolved', resolution_note: 'over', detector_type: 'log_rate' });
    const later = await TailClient.open(`${url('alerts')}?since=-1h`, tenant.key);
    open.push(later);
    await later.has(1);
    expect(types(later)).to.deep.equal(['resolved']);
    for (const query of ['?updates=maybe', '?since=soon']) {
      const refused = new TailClient(`${url('alerts')}${query}`, tenant.key);
      await until(
        query,
        () => Promise.resolve(refused.refused?.status),
        (status) => status === 400,
      );
    }
    await teller.close();
  });

  it('give a fair sample of much, and tell how many each entry stands for', async () => {
    const [sampled, whole] = [await tail({ query: '*', sample: true }), await tail({ query: '*' })];
    const rounds = 8;
    for (let round = 0; round < rounds; round++) await ingest(Array.from({ length: 1000 }, (_none, n) => entry(round * 1000 + n)));
    await whole.has(rounds * 1000);
    const { factor } = await sampled.control('sample');
    expect(Number(factor)).to.be.above(1);
    expect(sampled.entries.length).to.be.below(rounds * 1000);
    const all = new Set(whole.numbers());
    expect(sampled.numbers().filter((n) => !all.has(n))).to.deep.equal([]);
    expect(sampled.controls.filter(({ type }) => type === 'dropped')).to.deep.equal([]);
  });

  it('are not held up by a client that does not read, which is told how many it did not get', async () => {
    const [fast, slow] = [await tail({ query: '*' }), await tail({ query: '*' })];
    slow.socket.pause();
    // more than the buffers of the kernel take
    const [rounds, each] = [80, 50];
    for (let round = 0; round < rounds; round++) {
      await ingest(Array.from({ length: each }, (_none, index) => entry(round * each + index, { _msg: 'x'.repeat(4000) })));
      await fast.has((round + 1) * each);
    }
    expect(new Set(fast.numbers()).size).to.equal(rounds * each);
    expect(fast.controls.map(({ type }) => type)).not.to.include('dropped');
    slow.socket.resume();
    const dropped = (): number => slow.controls.reduce((sum, { type, count }) => sum + (type === 'dropped' ? Number(count) : 0), 0);
    await until(
      'all to be told',
      () => Promise.resolve(slow.entries.length + dropped()),
      (count) => count >= rounds * each,
    );
    expect(slow.entries.length + dropped()).to.equal(rounds * each);
    expect(dropped()).to.be.greaterThan(0);
    expect(await slow.control('dropped')).to.include.all.keys('count', 'since', 'until', 'reason');
  });

  it('go on where they were when the process that reads the log is killed', async () => {
    const clients = [await tail({ query: 'service:web' }), await tail({ query: '* | fields n' })];
    const { pid: app = 0 } = instance.processes().get('app') ?? {};
    const readers = (): number[] =>
      readFileSync(`/proc/${String(app)}/task/${String(app)}/children`, 'latin1')
        .split(' ')
        .map(Number)
        .filter((pid) => pid > 0 && readFileSync(`/proc/${String(pid)}/cmdline`, 'latin1').includes('live-worker'));
    let sent = 0;
    for (let kills = 0; kills < 2; kills++) {
      const [reader = 0] = await until(
        'a reader',
        () => Promise.resolve(readers()),
        ({ length }) => length > 0,
      );
      for (let at = 0; at < 20; at++) {
        await ingest([entry(sent++), entry(sent++)]);
        if (at === 10) process.kill(reader, 'SIGKILL');
      }
      for (const client of clients) await client.has(sent);
    }
    for (const client of clients)
      expect(client.numbers().sort((a, b) => Number(a) - Number(b))).to.deep.equal(Array.from({ length: sent }, (_none, n) => n));
  });

  it('are read by the example', async () => {
    const example = spawn(process.execPath, ['examples/live/tail.mjs', url().replace(/^http/, 'ws'), tenant.key, 'service:web']);
    let text = '';
    example.stdout.on('data', (data: Buffer) => (text += data.toString()));
    await ingest([entry(1)]);
    await until(
      'the stored one',
      () => Promise.resolve(text),
      (found) => found.includes('message 1'),
    );
    await ingest([entry(2), entry(3, { service: 'other' })]);
    await until(
      'the live one',
      () => Promise.resolve(text),
      (found) => found.includes('message 2'),
    );
    expect(text.match(/message \d/g)).to.deep.equal(['message 1', 'message 2']);
    example.kill();
  });

  it('are closed with a reason when they say nothing, too much, or what is no text', async () => {
    const loud = await TailClient.open(url(), tenant.key);
    for (let n = 0; n < 200; n++) loud.send({ query: 'a' });
    const large = await TailClient.open(url(), tenant.key);
    large.send('x'.repeat(1024 * 1024));
    const silent = await TailClient.open(url(), tenant.key);
    for (const [client, code] of [
      [loud, 1008],
      [large, 1009],
      [silent, 1008],
    ] as const)
      await until(
        String(code),
        () => Promise.resolve(client.closed),
        (closed) => closed?.code === code,
      );
    expect(silent.closed?.reason).to.contain('No query came within');
    const binary = await TailClient.open(url(), tenant.key);
    open.push(binary);
    binary.socket.send(Buffer.from([1, 2, 3]), { binary: true });
    expect((await binary.control('error'))['detail']).to.contain('not JSON');
    expect(binary.socket.readyState).to.equal(WebSocket.OPEN);
  });
});
