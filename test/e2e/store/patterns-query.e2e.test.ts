import { expect } from 'chai';
import { createHash } from 'node:crypto';
import { pino } from 'pino';
import { appEndpoint } from '../../../api/http/endpoint.ts';
import type { Scope } from '../../../api/tenants/principal.ts';
import { createQueryRoutes } from '../../../api/search/routes.ts';
import type { AbsoluteRecord } from '../../../pipeline/bus/producer/absolute-record.ts';
import type { KafkaMessage } from '../../../pipeline/bus/connection/kafka.ts';
import type { Range } from '../../../pipeline/bus/consumer/range.ts';
import { readRecord } from '../../../pipeline/bus/records/record.ts';
import type { SignalRecord } from '../../../pipeline/bus/records/signal-record.ts';
import { OVERFLOW_FINGERPRINT } from '../../../pipeline/clusterer/clusterer.ts';
import { patternCountsSignal } from '../../../pipeline/counters/pattern-counts.ts';
import { patternsSignal } from '../../../pipeline/counters/pattern-rows.ts';
import { logsSignal } from '../../../pipeline/logs/logs-signal.ts';
import { createLogsSink } from '../../../sinks/logs.ts';
import { patternCountsSink } from '../../../sinks/pattern-counts.ts';
import { patternsSink } from '../../../sinks/patterns.ts';
import type { Sink } from '../../../sinks/sink.ts';
import { TableWriter } from '../../../sinks/writer.ts';
import { FakeKeyStore } from '../../fakes/key-store.ts';
import { FoldedPatterns } from '../../fakes/folded-patterns.ts';
import { startHost } from '../../fakes/test-host.ts';
import { until } from '../instance.ts';
import { messageOf } from '../../pipeline/processors/patterns/messages.ts';
import { LogsqlStore } from '../logsql-store.ts';
import { runtimeOver } from '../query-setup.ts';

type Pattern = {
  readonly fingerprint: string;
  readonly normalized_message: string;
  readonly example_raw_message?: string;
  readonly first_seen: string;
  readonly last_seen: string;
  readonly count: number;
  readonly streams: readonly string[];
  readonly level: string;
  readonly trend: readonly number[];
  readonly is_new: boolean;
  readonly aliases: readonly string[];
};
type Answer = { readonly status: number; readonly text: string; readonly patterns: readonly Pattern[]; readonly has_more: boolean };

const NOW = Math.floor(Date.now() / 1000) * 1000;
const [MINUTE, DAY] = [60_000, 86_400_000] as const;
const TENANTS = [1, 2] as const;
const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex');
const iso = (ms: number): string => new Date(ms).toISOString().replace('.000', '');

/** A record as its sink gets it. */
function read(signal: typeof patternsSignal, { value, headers, partition }: AbsoluteRecord, offset: number): SignalRecord {
  const message = { key: null, attributes: 0, offset: String(offset), timestamp: String(NOW), value, headers } as unknown as KafkaMessage;
  return readRecord(signal, partition ?? 0, message);
}

const rangeOf = (topic: string, partition: number, records: readonly SignalRecord[]): Range<never> =>
  ({
    ...{ topic, partition, start: records[0]?.offset ?? 0, end: records.at(-1)?.offset ?? 0, records },
    rows: records.reduce((sum, { count }) => sum + count, 0),
  }) as unknown as Range<never>;

describe('GET /patterns', function () {
  this.timeout(600_000);
  const world = new FoldedPatterns();
  let own: LogsqlStore;
  let stop: () => Promise<void>;
  const urls: string[] = [];

  /** Entries of the last days, with kills between them. */
  function run(): void {
    const entry = (at: number, _msg: string, more: object = {}): object => ({ _time: new Date(at).toISOString(), _msg, ...more });
    let at = NOW - 3 * DAY;
    for (let step = 0; at < NOW - 1000; step++, at += step < 40 ? 90 * MINUTE : 41 * MINUTE) {
      const web = { service: 'web', app: `app${String(step % 3)}` };
      world.log(step % 2, [
        entry(at, `user ${String(step)} logged in from 10.0.0.${String(step % 250)}`, { ...web, level: 'info' }),
        entry(at, `user ${String(step)} logged in from 10.0.1.${String(step % 250)}`, { ...web, level: 'info' }),
        ...(step % 5 === 0 ? [entry(at, `failed to charge card: code ${String(step)}`, { service: 'billing', level: 'error' })] : []),
        ...(step % 7 === 0 ? [entry(at, `job ${'vwxyz'[step % 5] ?? ''}job finished in time for the night`, { app: 'cron' })] : []),
      ], { appendedAt: at, tenantId: 1, retentionDays: 30 }); // prettier-ignore
      world.log((step + 1) % 2, [entry(at, messageOf(step % 10), { app: 'other' })], { appendedAt: at, tenantId: 2 });
      if (step % 6 === 2) world.save();
      if (step % 9 === 8) world.kill();
      world.tick(at + 20_000);
    }
    world.log(0, [entry(NOW - 30_000, 'something 1 new', { service: 'web', level: 'warn' })], { appendedAt: NOW - 20_000, tenantId: 1, retentionDays: 30 }); // prettier-ignore
    world.kill();
    world.tick(NOW);
  }

  async function store(sink: Sink<never>, range: Range<never>): Promise<void> {
    const writer = new TableWriter({ sink, store: own.store, log: pino({ level: 'silent' }), mostRefused: 1, metrics: { stored: () => undefined } }); // prettier-ignore
    await writer.store(range, false);
  }

  before(async () => {
    own = await LogsqlStore.start();
    run();
    for (const partition of [0, 1]) {
      const records = world.messages(partition).map((message) => readRecord(logsSignal, partition, message)).filter(({ count }) => count > 0); // prettier-ignore
      await store(createLogsSink() as Sink<never>, rangeOf('logs.v1', partition, records));
    }
    for (const [sink, signal] of [
      [patternCountsSink, patternCountsSignal],
      [patternsSink, patternsSignal],
    ] as const) {
      const records = world.written.filter(({ topic }) => topic === signal.topic.name).map((record, offset) => read(signal, record, offset)); // prettier-ignore
      expect(records.every(({ fault }) => fault === null)).to.equal(true);
      await store(sink as Sink<never>, rangeOf(signal.topic.name, 0, records));
    }
    const keys = new FakeKeyStore({ one: {}, two: { tenantId: 2 }, writer: { scopes: new Set<Scope>(['ingest']) } });
    // the second one without the wall of the engine: what is seen there is what statements alone let through
    const owners = own.withoutRowFilter();
    const hosts = await Promise.all(
      [own.store, owners].map(
        (under) =>
        startHost({ keys, endpoints: createQueryRoutes(runtimeOver(under, { now: () => BigInt(NOW) * 1_000_000n })).map((route) => appEndpoint(route)) }), // prettier-ignore
      ),
    );
    urls.push(...hosts.map(({ url }) => url));
    stop = async () => {
      await Promise.all(hosts.map((host) => host.stop()));
      await owners.close();
    };
  });
  after(async () => {
    await stop();
    await own.stop();
  });

  async function call(
    parameters: Readonly<Record<string, string>>,
    tenant = 1,
    url = urls[0],
    key = ['', 'one', 'two'][tenant],
  ): Promise<Answer> {
    const query = new URLSearchParams(parameters).toString();
    const response = await fetch(`${String(url)}/api/v1/tenants/${String(tenant)}/patterns?${query}`, { headers: { Authorization: `Bearer ${String(key)}` } }); // prettier-ignore
    const text = await response.text();
    const none = { patterns: [], has_more: false };
    return { status: response.status, text, ...(response.status === 200 ? (JSON.parse(text) as Pick<Answer, 'patterns' | 'has_more'>) : none) }; // prettier-ignore
  }

  it('counts as the entries themselves are counted by their column', async () => {
    for (const tenant of TENANTS)
      for (const [since, seconds] of [
        ['-1h', 3600],
        ['-6h', 21_600],
        ['-24h', 86_400],
        ['-2d', 172_800],
        ['-30d', 2_592_000],
      ] as const) {
        // prettier-ignore
        const from = Math.floor((NOW / 1000 - seconds) / 60) * 60;
        const rows = await own.store.ownerRows(
          `SELECT toString(pattern), toString(count()) FROM logs WHERE tenant_id = ${String(tenant)} AND _time >= fromUnixTimestamp64Second(${String(from)}) GROUP BY pattern`,
        );
        const counts = new Map(rows.map(([pattern, count]) => [String(pattern), Number(count)]));
        const { patterns } = await call({ since, limit: '2000' }, tenant);
        for (const { fingerprint, aliases, count, trend } of patterns) {
          const members = [fingerprint, ...aliases].map((one) => BigInt(`0x${one.slice(0, 16)}`).toString());
          const expected = members.reduce((sum, one) => sum + (counts.get(one) ?? 0), 0);
          expect(count, `${since} ${fingerprint}`).to.equal(expected);
          expect(trend.reduce((sum, one) => sum + one, 0)).to.equal(count);
          for (const one of members) counts.delete(one);
        }
        expect([...counts], since).to.deep.equal([]);
      }
  });

  it('shows a pattern with its template, its fingerprint, an example, times, level and streams', async () => {
    const { patterns, has_more: hasMore } = await call({});
    expect(hasMore).to.equal(false);
    const [first] = patterns;
    expect(first).to.include({ normalized_message: 'user <N> logged in from <IP>', level: 'info', is_new: false });
    expect(first?.trend).to.have.length(24);
    expect(first?.example_raw_message).to.match(/^user \d+ logged in from 10\.0\.[01]\.\d+$/);
    expect([...(first?.streams ?? [])].sort()).to.deep.equal([0, 1, 2].map((n) => `{app="app${String(n)}",service="web"}`));
    for (const { fingerprint, normalized_message: template } of patterns) expect(fingerprint).to.equal(sha256(template));
    expect(first?.first_seen).to.equal(iso(NOW - 3 * DAY));
    const fresh = patterns.find(({ normalized_message: template }) => template === 'something <N> new');
    expect(fresh).to.include({ count: 1, is_new: true, first_seen: iso(NOW - 30_000), last_seen: iso(NOW - 30_000), level: 'warn' });
    expect(patterns.some(({ fingerprint }) => fingerprint === OVERFLOW_FINGERPRINT)).to.equal(false);
  });

  it('makes one of templates that differ in a word that is a value, and says of which', async () => {
    const { patterns } = await call({ since: '-7d', search: 'NIGHT' });
    expect(patterns).to.have.length(1);
    expect(patterns[0]?.aliases).to.have.length(4);
  });

  it('leads from a root, or an alias, to the entries of its cluster', async () => {
    const [found] = (await call({ since: '-7d', search: 'NIGHT' })).patterns;
    const members = [found?.fingerprint ?? '', ...(found?.aliases ?? [])];
    const count = async (query: string): Promise<readonly { readonly _msg: string }[]> => {
      const body = JSON.stringify({ query, start: '-7d', limit: 1000 });
      const response = await fetch(`${String(urls[0])}/api/v1/tenants/1/search`, { method: 'POST', headers: { Authorization: 'Bearer one' }, body }); // prettier-ignore
      expect(response.status).to.equal(200);
      return ((await response.json()) as { logs: { _msg: string }[] }).logs;
    };
    for (const fingerprint of members) {
      const entries = await count(`_fingerprint:${fingerprint}`);
      expect(entries).to.have.length(found?.count ?? -1);
      expect(entries.every(({ _msg }) => _msg.startsWith('job '))).to.equal(true);
    }
    const failed = (await call({ service: 'billing' })).patterns[0]?.fingerprint ?? '';
    expect(await count(`_fingerprint:in(${failed.toUpperCase()}, ${members[0] ?? ''}) -_msg:job`)).to.have.length(await count('_msg:charge').then(({ length }) => length)); // prettier-ignore
    expect(await count(`!_fingerprint:${failed} _msg:charge`)).to.deep.equal([]);
    expect(await count(`_fingerprint:${'0'.repeat(64)}`)).to.deep.equal([]);
  });

  it('tells of entries that are errors when their pattern came first, and how often', async () => {
    const search = async (query: string, enrich: string): Promise<readonly Record<string, unknown>[]> => {
      const response = await fetch(`${String(urls[0])}/api/v1/tenants/1/search?enrich=${enrich}`, {
        ...{ method: 'POST', headers: { Authorization: 'Bearer one' } },
        body: JSON.stringify({ query, start: '-7d', limit: 5 }),
      });
      return ((await response.json()) as { logs: Record<string, unknown>[] }).logs;
    };
    const [pattern] = (await call({ since: '-7d', service: 'billing' })).patterns;
    const { fingerprint, first_seen: firstSeen, count } = pattern as Pattern;
    const known = { _fingerprint: fingerprint, _first_seen: firstSeen, _occurrences: count };
    // what is known of a pattern is added where it comes in time
    const enriched = await until('patterns of the entries', () => search('charge', 'true'), (found) => found.every((entry) => '_fingerprint' in entry)); // prettier-ignore
    expect(enriched).to.not.equal([]);
    for (const entry of enriched) expect(entry).to.include({ ...known, level: 'error' });
    for (const query of ['charge', 'charge | limit 3']) expect(await search(query, 'false')).to.not.equal([]);
    for (const entry of await search('charge', 'false')) expect(entry).to.not.have.property('_fingerprint');
    for (const entry of await search('user', 'true')) expect(entry).to.not.have.property('_fingerprint');
    for (const entry of await search('charge | fields _msg', 'true')) expect(Object.keys(entry)).to.deep.equal(['_msg']);
  });

  it('sorts, pages, searches and narrows down to a service', async () => {
    const named = async (parameters: Readonly<Record<string, string>>): Promise<string[]> =>
      (await call({ since: '-7d', ...parameters })).patterns.map(({ normalized_message: template }) => template.split(' ')[0] ?? '');
    expect(await named({})).to.deep.equal(['user', 'failed', 'job', 'something']);
    expect(await named({ order: 'asc' })).to.deep.equal(['something', 'job', 'failed', 'user']);
    expect((await named({ sort: 'first_seen' }))[0]).to.equal('something');
    expect((await named({ sort: 'last_seen' }))[0]).to.equal('something');
    expect(await named({ search: 'CHARGE card' })).to.deep.equal(['failed']);
    expect(await named({ search: '%' })).to.deep.equal([]);
    expect(await named({ service: 'billing' })).to.deep.equal(['failed']);
    expect(await named({ service: 'web' })).to.deep.equal(['user', 'something']);
    const page = await call({ since: '-7d', limit: '1', offset: '1' });
    expect(page.patterns.map(({ level }) => level)).to.deep.equal(['error']);
    expect(page.has_more).to.equal(true);
    expect((await call({ since: '-7d', limit: '2', offset: '2' })).has_more).to.equal(false);
  });

  const get = async (path: string, tenant = 1): Promise<{ readonly status: number; readonly body: Record<string, unknown> }> => {
    const response = await fetch(`${String(urls[0])}/api/v1/tenants/${String(tenant)}/patterns/${path}`, { headers: { Authorization: `Bearer ${['', 'one', 'two'][tenant] ?? ''}` } }); // prettier-ignore
    return { status: response.status, body: (await response.json()) as Record<string, unknown> };
  };

  it('shows one pattern: its history, the values of its placeholders, its examples', async () => {
    const [user] = (await call({ since: '-7d', search: 'user' })).patterns;
    const { status, body } = await get(`${user?.fingerprint ?? ''}?since=-7d`);
    expect(status).to.equal(200);
    expect(body['pattern']).to.include({ fingerprint: user?.fingerprint, count: user?.count });
    const history = body['history'] as { time: string; hits: number }[];
    expect(history.reduce((sum, { hits }) => sum + hits, 0)).to.equal(user?.count);
    const placeholders = body['placeholders'] as { placeholder: string; values: { value: string; hits: number }[] }[];
    expect(placeholders.map(({ placeholder }) => placeholder)).to.deep.equal(['<N>', '<IP>']);
    for (const { values } of placeholders) expect(values).to.have.length(10);
    expect(placeholders[1]?.values.every(({ value }) => /^10\.0\.[01]\.\d+$/.test(value))).to.equal(true);
    expect(body['first_example']).to.match(/^user 0 logged in/);
    const [night] = (await call({ since: '-7d', search: 'NIGHT' })).patterns;
    expect((await get(night?.aliases[0] ?? '')).body['pattern']).to.include({ fingerprint: night?.fingerprint });
    expect((await get(user?.fingerprint ?? '', 2)).status).to.equal(404);
    expect((await get('0'.repeat(64))).status).to.equal(404);
    expect((await get("' OR 1=1 --")).status).to.equal(400);
  });

  it('tells two windows apart: what is new, gone, and changed', async () => {
    const names = (list: unknown): string[] =>
      (list as { normalized_message: string }[]).map(({ normalized_message: template }) => template.split(' ')[0] ?? '').sort();
    const { status, body } = await get('diff?a=-2h..-1h&b=-1h..now');
    expect(status).to.equal(200);
    expect(names(body['new'])).to.include('something');
    const { body: back } = await get('diff?a=-1h..now&b=-2h..-1h');
    expect(names(back['gone'])).to.deep.equal(names(body['new']));
    const { body: days } = await get(`diff?${new URLSearchParams({ a: '-3d..-36h', b: '-36h..now' }).toString()}`);
    const total = (name: 'a' | 'b'): number => ['new', 'gone', 'changed'].flatMap((kind) => days[kind] as { a: number; b: number }[]).reduce((sum, one) => sum + one[name], 0); // prettier-ignore
    expect(total('b')).to.be.above(total('a'));
    for (const query of ['a=1h', 'a=-1h..-2h', 'a=-1h..-1h', 'a=x..y', 'b=now..now..now'])
      expect((await get(`diff?${query}`)).status).to.equal(400);
  });

  it('takes windows of any length', async () => {
    const all = (await call({ since: '-30d' })).patterns.map(({ count }) => count);
    for (const since of ['1900-01-01T00:00:00Z', '0001-01-01T00:00:00Z', '-3000y', '0']) {
      const { status, patterns } = await call({ since });
      if (status !== 400) expect(patterns.map(({ count }) => count), since).to.deep.equal(all); // prettier-ignore
    }
    expect((await call({ since: '1900-01-01T00:00:00Z' })).status).to.equal(200);
    expect((await call({ since: 'now' })).status).to.equal(200);
    const { status, body } = await get(
      `diff?${new URLSearchParams({ a: '1900-01-01T00:00:00Z..-1m', b: '-1m..2261-01-01T00:00:00Z' }).toString()}`,
    );
    expect(status, JSON.stringify(body)).to.equal(200);
  });

  it('refuses what is no parameter, and whoever may not read', async () => {
    for (const parameters of [
      { sort: 'name' },
      { order: 'up' },
      { since: 'yesterday-ish' },
      { limit: '0' },
      { limit: '2001' },
      { offset: '-1' },
      { service: 'x'.repeat(513) },
    ])
      // prettier-ignore
      expect((await call(parameters)).status, JSON.stringify(parameters)).to.equal(400);
    expect((await call({ since: '-1x' })).text).to.include('since \\"-1x\\" is not a valid time');
    expect((await call({}, 1, urls[0], 'writer')).status).to.equal(403);
    expect((await call({}, 2, urls[0], 'one')).status).to.equal(403);
  });

  it('shows nothing of another tenant, whatever the parameters say', async () => {
    const attacks = ["' OR 1=1 --", '{p0:UInt32}', "'); DROP TABLE patterns; --", '\0', '\\', '%', 'é’', '`'];
    for (const url of urls)
      for (const text of attacks)
        for (const parameters of [{ search: text }, { service: text }]) {
          const { status, patterns } = await call({ since: '-30d', ...parameters }, 2, url);
          expect(status, text).to.equal(200);
          expect(patterns, text).to.deep.equal([]);
        }
    for (const url of urls) {
      const templates = (await call({ since: '-30d', limit: '2000' }, 2, url)).patterns.map(({ normalized_message: template }) => template);
      expect(templates).to.have.length(10);
      expect(templates.every((template) => template.includes('took <N>'))).to.equal(true);
    }
  });
});
