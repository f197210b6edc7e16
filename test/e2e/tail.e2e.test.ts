import { expect } from 'chai';
import http from 'node:http';
import { findPlan, type Plan } from '../../api/control/plans.ts';
import { queryRate } from '../../api/limits/query-rate.ts';
import type { LogEntry } from '../../pipeline/core/entry.ts';
import { WINDOW } from '../logsql/conformance.ts';
import { nanoseconds, type Plain } from '../logsql/support.ts';
import { until } from './instance.ts';
import { at, startSelect, type SelectHost } from './query-setup.ts';

const START = nanoseconds(WINDOW.start);

/** A tail that is open, and the rows that came so far. */
class Tail {
  readonly rows: Plain[] = [];
  status = 0;
  text = '';
  ended = false;
  readonly #request: http.ClientRequest;
  constructor(url: string, parameters: Readonly<Record<string, string>>, key: string) {
    const body = new URLSearchParams({ refresh_interval: '0.01', ...parameters }).toString();
    const headers = { Authorization: `Bearer ${key}`, 'Content-Type': 'application/x-www-form-urlencoded' };
    this.#request = http.request(`${url}/select/logsql/tail`, { method: 'POST', headers, agent: false }, (response) => {
      this.status = response.statusCode ?? 0;
      response.setEncoding('utf8').on('data', (chunk: string) => this.#take(chunk));
      response.on('close', () => (this.ended = true));
    });
    this.#request.on('error', () => (this.ended = true)).end(body);
  }
  #take(chunk: string): void {
    const lines = (this.text + chunk).split('\n');
    this.text = lines.pop() ?? '';
    if (this.status === 200) this.rows.push(...lines.map((line) => JSON.parse(line) as Plain));
    else this.text = lines.join('\n') + this.text;
  }
  get numbers(): readonly unknown[] {
    return this.rows.map(({ n }) => n);
  }
  async has(count: number): Promise<readonly unknown[]> {
    await until(
      `row ${String(count)}`,
      () => Promise.resolve(this.numbers),
      (rows) => rows.length >= count,
    );
    return this.numbers;
  }
  close(): void {
    this.#request.destroy();
  }
}

describe('The live tail over HTTP', function () {
  this.timeout(600_000);
  let select: SelectHost;
  let tenantId = 10;
  const open: Tail[] = [];
  /** Seconds since the beginning of the window, by the clock of the service and by that of the query rate. */
  let clock = 100;
  let rateClock = 0;
  before(async () => {
    const rate = queryRate({ now: () => rateClock });
    select = await startSelect({}, { now: () => START + BigInt(clock * 1000) * 1_000_000n, rate });
  });
  beforeEach(() => {
    tenantId += 1;
    clock = 100;
    select.keys.keys.set('own', {
      principal: { ...select.keys.find('one')!.principal, tenantId, keyId: String(tenantId) },
      expiresAt: null,
      tenantDisabled: false,
    });
  });
  afterEach(() => {
    for (const tail of open.splice(0)) tail.close();
  });
  after(() => select.stop());

  const tail = (parameters: Readonly<Record<string, string>>, key = 'own'): Tail => {
    const made = new Tail(select.url, parameters, key);
    open.push(made);
    return made;
  };
  const insert = (...entries: readonly LogEntry[]): Promise<void> => select.own.insert(tenantId, entries);
  const entry = (seconds: number, n: number, fields: Plain = {}): LogEntry => at(seconds, { n: String(n), ...fields });
  const begun = (made: Tail): Promise<number> =>
    until(
      'the status',
      () => Promise.resolve(made.status),
      (status) => status !== 0,
    );

  it('gives each entry once, oldest first, also among equal times and when it comes late', async () => {
    await insert(entry(80, 1), entry(91, 2), entry(92, 3), entry(94.9, 4), entry(95.5, 5));
    const made = tail({ query: '*' });
    expect(await made.has(3)).to.deep.equal(['2', '3', '4']);
    expect(made.rows[0]).to.include({ _time: '2026-11-18T10:01:31Z', _stream: '{app="a"}', _msg: 'm', n: '2' });
    expect(made.rows[0]?.['_stream_id']).to.match(/^[0-9a-f]{48}$/);
    clock = 100.5;
    expect(await made.has(4)).to.deep.equal(['2', '3', '4', '5']);
    // the same times again, in the same stream and in others; and one from before the tail began
    await insert(entry(95.5, 6), entry(95.5, 7), entry(93, 8), entry(92, 9, { _stream: '{app="z"}' }), entry(89.9, 10));
    expect(await made.has(8)).to.deep.equal(['2', '3', '4', '5', '9', '8', '6', '7']);
    await insert(...Array.from({ length: 50 }, (_none, index) => entry(96, 100 + index)));
    clock = 101;
    expect((await made.has(58)).slice(8)).to.deep.equal(Array.from({ length: 50 }, (_none, index) => String(100 + index)));
    // what comes later than the delay and the overlap is not looked for
    clock = 120;
    await insert(entry(115, 200));
    await made.has(59);
    await insert(entry(109, 201), entry(110.1, 202));
    expect((await made.has(60)).slice(58)).to.deep.equal(['200', '202']);
  });

  it('begins where start_offset says, and is as far behind as offset says', async () => {
    await insert(entry(10, 1), entry(50, 2), entry(69, 3), entry(71, 4), entry(99.5, 5));
    expect(await tail({ query: '*', start_offset: '30s', offset: '30' }).has(2)).to.deep.equal(['2', '3']);
    expect(await tail({ query: '*', start_offset: '1h', offset: '0s' }).has(5)).to.deep.equal(['1', '2', '3', '4', '5']);
    expect(await tail({ query: '*', start_offset: '1h', start: '2026-11-18T10:00:40Z', end: '2026-11-18T10:01:10Z' }).has(2)).to.deep.equal(
      ['2', '3'],
    );
  });

  it('answers before there is anything to show, and gives HEAD its headers', async () => {
    const made = tail({ query: 'nothing' });
    expect(await begun(made)).to.equal(200);
    expect(made.rows).to.deep.equal([]);
    const head = await fetch(`${select.url}/select/logsql/tail?query=*&api_key=own`, { method: 'HEAD' });
    expect([head.status, head.headers.get('content-type'), await head.text()]).to.deep.equal([
      200,
      'application/x-ndjson; charset=utf-8',
      '',
    ]);
  });

  it('runs pipes that pass rows on one by one', async () => {
    await insert(entry(91, 1, { level: 'info', tags: '["x","y"]' }), entry(92, 2, { level: 'error' }), entry(93, 3, { level: 'error' }));
    const expected: readonly (readonly [string, readonly Plain[]])[] = [
      ['level:error | fields n', [{ n: '2' }, { n: '3' }]],
      ['* | filter n:>2 | fields _time, n', [{ _time: '2026-11-18T10:01:33Z', n: '3' }]],
      [
        'n:1 | unroll (tags) | fields n, tags',
        [
          { n: '1', tags: 'x' },
          { n: '1', tags: 'y' },
        ],
      ],
      ['* | unroll (tags) | filter n:in(level:error | fields n) | fields n', [{ n: '2' }, { n: '3' }]],
      ['n:in(level:info | fields n) | rename n as m | fields m', [{ m: '1' }]],
      ['_time:4s | format "<level>!" as n | fields n', [{ n: 'info!' }, { n: 'error!' }, { n: 'error!' }]],
      ['options(ignore_global_time_filter=true) * | fields n', [{ n: '1' }, { n: '2' }, { n: '3' }]],
    ];
    for (const [query, rows] of expected) {
      const made = tail({ query, start_offset: '8s' });
      await until(
        query,
        () => Promise.resolve(made.rows),
        ({ length }) => length >= rows.length,
      );
      expect(made.rows, query).to.deep.equal(rows);
      made.close();
    }
    const extra = tail({ query: '*', extra_filters: 'level:error', start_offset: '8s' });
    expect(await extra.has(2)).to.deep.equal(['2', '3']);
  });

  it('counts what is relative in the query from each look on', async () => {
    const made = tail({ query: '_time:6s', offset: '0' });
    await begun(made);
    clock = 200;
    await insert(entry(199, 1));
    expect(await made.has(1)).to.deep.equal(['1']);
  });

  it('says at once what cannot be tailed', async () => {
    const bad: readonly (readonly [Readonly<Record<string, string>>, string])[] = [
      [{ query: '* | stats count()' }, 'Live tail cannot run the pipe "stats"'],
      [{ query: '* | sort by (_time)' }, '"sort"'],
      [{ query: '* | fields n | limit 5' }, '"limit"'],
      [{ query: '* | uniq by (n)' }, '"uniq"'],
      [{ query: '* | top 3 by (n)' }, '"top"'],
      [{ query: '* | stream_context before 1' }, '"stream_context"'],
      [{ query: 'a AND (' }, 'offset'],
      [{}, 'query is empty'],
      [{ query: '*', offset: '-1s' }, 'offset cannot be below 0'],
      [{ query: '*', start_offset: 'x' }, 'start_offset'],
      [{ query: '*', refresh_interval: '2000y' }, 'refresh_interval'],
    ];
    for (const [parameters, words] of bad) {
      const { status, text } = await select.call('tail', parameters, { key: 'own', method: 'POST' });
      expect(status, `${JSON.stringify(parameters)} ${text}`).to.equal(400);
      expect(text).to.contain(words);
    }
    expect((await select.call('tail', { query: '*' }, { key: 'unknown' })).status).to.equal(403);
  });

  it('gives a long history in pages, as fast as it is read', async () => {
    const count = 25_000;
    await insert(
      ...Array.from({ length: count }, (_none, index) => entry(10 + Math.floor(index / 12_000), index, { text: 'x'.repeat(200) })),
    );
    const made = tail({ query: '*', start_offset: '1h' });
    const numbers = await made.has(count);
    expect(numbers).to.deep.equal(Array.from({ length: count }, (_none, index) => String(index)));
    await insert(entry(94, 1_000_000));
    clock = 101;
    expect((await made.has(count + 1)).slice(count)).to.deep.equal(['1000000']);
  });

  it('shows no other tenant', async () => {
    await select.own.insert(tenantId + 5000, [at(92, { secret: 'other' })]);
    await insert(entry(93, 1));
    const made = tail({ query: '*', AccountID: String(tenantId + 5000), tenant_id: String(tenantId + 5000) });
    expect(await made.has(1)).to.deep.equal(['1']);
  });

  it('is counted: so many at once as the plan allows, until their clients go', async () => {
    const principal = { ...select.keys.find('own')!.principal, plan: { ...(findPlan('trial_expired') as Plan), retentionDays: 0 } };
    select.keys.keys.set('expired', { principal, expiresAt: null, tenantDisabled: false });
    const [first, second] = [tail({ query: '*' }, 'expired'), tail({ query: '*' }, 'expired')];
    await begun(first);
    await begun(second);
    const third = await select.call('tail', { query: '*' }, { key: 'expired' });
    expect([third.status, third.text]).to.deep.equal([
      403,
      'The plan trial_expired allows 2 live tails at once; close one, or add a payment method.\n',
    ]);
    first.close();
    await until(
      'a free place',
      () => begun(tail({ query: '*' }, 'expired')),
      (status) => status === 200,
    );
  });

  it('waits where the queries of the key are used up, and loses nothing', async () => {
    const plan = { ...(findPlan('trial') as Plan), queriesPerMinute: 60, retentionDays: 0 };
    const principal = { ...select.keys.find('own')!.principal, plan };
    select.keys.keys.set('slow', { principal, expiresAt: null, tenantDisabled: false });
    const made = tail({ query: '*' }, 'slow');
    await begun(made);
    await until(
      'an empty bucket',
      () => select.call('query', { query: 'nothing' }, { key: 'slow' }),
      ({ status }) => status === 429,
    );
    await insert(entry(96, 1));
    clock = 110;
    rateClock += 120_000_000;
    expect(await made.has(1)).to.deep.equal(['1']);
  });

  it('ends when its key is not let in any more, and with the process', async () => {
    const made = tail({ query: '*' });
    await begun(made);
    select.keys.keys.delete('own');
    await until(
      'the end',
      () => Promise.resolve(made.ended),
      (ended) => ended,
    );
    const other = tail({ query: '*' }, 'one');
    await begun(other);
    await select.tails.stop();
    await until(
      'the end',
      () => Promise.resolve(other.ended),
      (ended) => ended,
    );
    expect((await select.call('tail', { query: '*' })).status).to.equal(503);
  });
});
