import { expect } from 'chai';
import { mkdtempSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { startClickHouse } from '../../../../compose/embedded/clickhouse.ts';
import type { LogEntry } from '../../../../pipeline/core/entry.ts';
import { sql } from '../../../../pipeline/core/sql.ts';
import { Store } from '../../../../pipeline/store/client.ts';
import { migrate } from '../../../../pipeline/store/migrations.ts';
import { MAX_PROMOTED_BYTES } from '../../../../logsql/sql/promoted.ts';
import { ALWAYS, Comparison, MANY, type DataSet } from '../../../equal/compare.ts';
import { checkEqual } from '../../../equal/equal.ts';
import { extent } from '../../../extent.ts';
import { layBeforeShortPromoted, promotedBytes, untilMutated } from '../../before-short-promoted.ts';
import { LogsqlStore } from '../../logsql-store.ts';
import { at } from '../../query-setup.ts';

const [MOST, LONGEST] = [MAX_PROMOTED_BYTES, 100_000];
/** By how long it is in bytes; the letters of most are the same for as long as they go. */
const VALUES: readonly string[] = [
  '',
  'h',
  'web-1',
  '10.0.0.1',
  '503',
  'a'.repeat(MOST - 1),
  'a'.repeat(MOST),
  'a'.repeat(MOST + 1),
  `${'a'.repeat(MOST)}b`,
  'é'.repeat(MOST / 2),
  `a${'é'.repeat(MOST / 2)}`,
  `${'é'.repeat(MOST / 2)}a`,
  `web-1 ${'a'.repeat(293)}`,
  `${'a'.repeat(293)} web-1`,
  `${'0'.repeat(300)}503`,
  '503 '.repeat(LONGEST / 4),
  `web-1 ${'Ab '.repeat(LONGEST / 3)}`,
  '~'.repeat(MOST),
  '~'.repeat(MOST + 1),
  '~'.repeat(LONGEST),
];
/** An entry for each value of `host`, with another one as `status`, over some hours. */
const ENTRIES: readonly LogEntry[] = [...VALUES, ...VALUES].map((host, index) => {
  const fields = { host, status: VALUES[(index * 7) % VALUES.length] ?? '', app: index < 4 ? host : '' };
  const present = Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== ''));
  return at(index * 1200, { n: String(index), ...present });
});

const quoted = (text: string): string => JSON.stringify(text);
const NEEDLES = VALUES.filter(({ length }) => length < 1000);
const FILTERS: readonly string[] = [
  ...NEEDLES.flatMap((text) => [
    `=${quoted(text)}`,
    `!=${quoted(text)}`,
    quoted(text),
    `=${quoted(text)}*`,
    `${quoted(text)}*`,
    `i(${quoted(text)})`,
  ]),
  ...NEEDLES.flatMap((text) => [`>${quoted(text)}`, `<=${quoted(text)}`, `string_range(${quoted(text)}, b)`]),
  ...['*', '""', '!*', '""*', 'in()', 'in("")', `in(${NEEDLES.map(quoted).join(', ')})`, `in("", h, ${quoted('a'.repeat(MOST + 1))})`],
  ...['~"web-\\\\d"', '!~"web"', '~"^a+$"', '~"^a{257}$"', '~"(?i)AB $"', '~"^$"', '~"~$"', '~"^[^~]*$"', '~"503$"'],
  ...[
    'web',
    '"web-1"',
    'i(WEB)',
    'i(we*)',
    'ab',
    'Ab',
    'seq(web, Ab)',
    'contains_all(web, "1")',
    'contains_any(h, Ab)',
    'contains_any("")',
  ],
  ...['>=503', '<504', 'range[500, 510)', '=503', 'ipv4_range("10.0.0.0/8")', 'eq_field(status)', 'le_field(status)', 'lt_field(host)'],
  ...['len_range(0, 0)', 'len_range(1, 1)', 'len_range(128, 129)', 'len_range(255, 257)', 'len_range(256, inf)', 'len_range(100000, inf)'],
  'value_type(string)',
].map((filter) => `host:${filter}`);
/** Of the filters those that are searches, too: they have quicker forms for numbers. */
const SEARCHES = FILTERS.filter((filter, index) => index % 9 === 0 || /^host:(?:[<>=]+|range.*)[0-9]{3}/.test(filter));
const WITH_QUERIES: readonly string[] = [
  'in(* | uniq by (host))',
  'in(status:503 | fields status)',
  'in(host:~"a$" | stats by (host) count() | fields host)',
  'in(host:=web-1 or host:"~" | uniq by (app))',
].map((filter) => `host:${filter}`);
const PIPES: readonly string[] = [
  ...['fields host', 'fields n, host, status', 'stats by (host) count()', 'stats by (host, app) count() n, count_uniq(status) u'],
  ...['stats by (status) max(host), min(host), sum_len(host)', 'stats by (_time:1h) count_uniq(host) h, count() if (host:~"~$") t'],
  ...[
    'uniq by (host)',
    'uniq by (host, status) with hits',
    'top 30 by (host)',
    'top 30 by (app, host)',
    'field_values host',
    'field_names',
  ],
  ...['facets 30', 'facets 30 max_value_len 300', 'facets 30 max_value_len 200000', 'sort by (host, n)', 'sort by (host desc, n) limit 7'],
  ...['copy host as x | stats by (x) count()', 'len(host) as l | stats by (l) count()', 'format "<host>-<app>" as x | uniq by (x)'],
  ...['replace ("a", "b") at host | uniq by (host)', 'extract "web-<x> " from host | stats by (x) count()', 'first 3 by (host, n)'],
  ...['filter host:~"a" | stats count()', 'stats row_max(n, host), uniq_values(host), values(app)', 'math len(host) as l | top 30 by (l)'],
];
const QUERIES: readonly string[] = [
  ...PIPES.flatMap((pipe) => [`* | ${pipe}`, `host:web | ${pipe}`]),
  ...['=web-1', '""', '*', 'web', '~"a"', '>=503', `=${quoted('a'.repeat(MOST + 1))}`].flatMap((filter) => [
    ...[
      `host:${filter} | stats by (app) count() c`,
      `!host:${filter} | stats by (_time:1d, level) count() c`,
      `host:${filter} | uniq by (host)`,
    ],
  ]),
];

/** Of what was applied, what brought promoted fields up; later migrations are of other tables. */
const upToShortPromoted = (applied: readonly number[]): number[] => applied.filter((number) => number <= 15);

describe('promoted fields of any length', function () {
  this.timeout(900_000);
  let own: LogsqlStore;
  let comparison: Comparison;
  let set: DataSet;
  beforeEach(async () => {
    own = await LogsqlStore.start();
    comparison = new Comparison(own);
    // of other parts ClickHouse does not tell the sizes of columns
    await own.store.command('ALTER TABLE logs MODIFY SETTING min_bytes_for_wide_part = 0');
  });
  afterEach(() => own.stop());

  /** What differs between memory and ClickHouse. */
  async function differences(): Promise<string[]> {
    const found: string[] = [];
    for (let from = 0; from < FILTERS.length; from += 20) {
      const some = (await comparison.filters(set, FILTERS.slice(from, from + 20), true)).differences;
      found.push(...some.map(({ query }) => query.slice(0, 200)));
    }
    for (const query of [...SEARCHES, ...WITH_QUERIES, ...QUERIES]) {
      const difference = await comparison.query(set, query, { window: ALWAYS, limit: MANY, isOrdered: false });
      if (difference !== null) found.push(`${query.slice(0, 200)}\n ${String(difference.memory).slice(0, 300)}\n ${String(difference.clickHouse).slice(0, 300)}`); // prettier-ignore
    }
    return found;
  }

  it('give in ClickHouse what they give in memory', async () => {
    set = await comparison.load(ENTRIES);
    expect(await differences()).to.deep.equal([]);
    const { column, counts } = await promotedBytes(own.store, 'host');
    expect(column).to.be.within(1, 10_000);
    expect(counts).to.be.within(1, 20_000);
  });

  it('do so over a table of before, while its parts are as they were and once they are not, and other tenants read no long ones', async () => {
    await layBeforeShortPromoted(own.store);
    set = await comparison.load(ENTRIES);
    const before = await promotedBytes(own.store, 'host');
    expect(before.column).to.be.above(3 * LONGEST);
    expect(before.counts).to.be.above(3 * LONGEST);

    await own.store.command('SYSTEM STOP MERGES logs');
    expect(upToShortPromoted(await migrate(own.store))).to.deep.equal([14, 15]);
    expect((await promotedBytes(own.store, 'host')).column).to.equal(before.column);
    expect(await differences()).to.deep.equal([]);

    await own.store.command('SYSTEM START MERGES logs');
    await untilMutated(own.store);
    const { column, counts } = await promotedBytes(own.store, 'host');
    expect(column).to.be.within(1, 10_000);
    expect(counts).to.be.within(1, 20_000);
    expect(await differences()).to.deep.equal([]);

    await own.store.command('OPTIMIZE TABLE logs FINAL');
    expect((await promotedBytes(own.store, 'host')).column).to.be.below(10_000);
    expect(await differences()).to.deep.equal([]);
  });

  it('do so in random queries over random entries, new ones and those of a table of before', async () => {
    for (const [seed, how] of [
      [1, {}],
      [
        2,
        {
          prepared: ({ store }: LogsqlStore) => layBeforeShortPromoted(store),
          loaded: async ({ store }: LogsqlStore) => {
            await store.command('SYSTEM STOP MERGES logs');
            await migrate(store);
          },
        },
      ],
    ] as const) {
      const { counterexamples } = await checkEqual({ pairs: extent(30, 10_000), seed, wholeOneIn: 3, kind: 'long', progress: () => undefined, ...how }); // prettier-ignore
      expect(counterexamples, counterexamples.join('\n')).to.deep.equal([]);
    }
  });
});

describe('a table of before, whose ClickHouse is killed while it is brought up', function () {
  this.timeout(600_000);
  const folder = mkdtempSync(path.join(os.tmpdir(), 'logweir-promoted-'));
  after(() => rmSync(folder, { recursive: true, force: true }));

  it('loses nothing, and is as a new one in the end', async () => {
    const long = 'x'.repeat(LONGEST);
    const row = `map('host', if(number % 100 = 0, concat('${long}', toString(number)), concat('web-', toString(number % 10))))`;
    const counted = sql`SELECT count(), uniqExact(if(length(f_host) > 256, l_host, f_host)), countIf(f_host = 'web-1'), sum(length(l_host)) FROM logs`;
    const found = async (store: Store): Promise<unknown> => store.rows(counted, { tenantId: 1, timeoutMs: 60_000 });
    const expected = [['2000', '30', '200', String(20 * LONGEST + 19 * 3 + 1 + 10)]];

    let engine = await startClickHouse({ dataDir: folder });
    let store = new Store(engine);
    await migrate(store);
    await layBeforeShortPromoted(store);
    await store.command(`INSERT INTO logs (tenant_id, _time, arrived, fields) SELECT 1, '2026-11-18 10:00:00', now(), ${row} FROM numbers(2000)`); // prettier-ignore
    await store.command('SYSTEM STOP MERGES logs');
    const command = store.command.bind(store);
    store.command = (text, settings) => (text.includes('MATERIALIZE PROJECTION hours') ? Promise.reject(new Error('killed')) : command(text, settings)); // prettier-ignore
    expect(await migrate(store).catch(String)).to.equal('Error: killed');
    store.command = command;

    for (const applied of [[15], []]) {
      expect(await found(store)).to.deep.equal(expected);
      await store.close();
      engine.kill();
      await engine.exited;
      engine = await startClickHouse({ dataDir: folder });
      store = new Store(engine);
      await command.call(store, 'SELECT 1').catch(() => undefined);
      await store.command('SYSTEM STOP MERGES logs');
      expect(upToShortPromoted(await migrate(store))).to.deep.equal(applied);
    }
    await store.command('SYSTEM START MERGES logs');
    await untilMutated(store);
    expect(await found(store)).to.deep.equal(expected);
    expect((await promotedBytes(store, 'host')).column).to.be.below(20_000);
    await store.close();
    await engine.stop();
  });
});
