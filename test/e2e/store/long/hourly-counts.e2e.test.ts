import { LOGS } from '../../../../logsql/sql/logs-table.ts';
import { expect } from 'chai';
import fc from 'fast-check';
import { runQuery } from '../../../../api/query/run.ts';
import { StreamDirectory } from '../../../../api/query/streams.ts';
import { evaluate } from '../../../../logsql/evaluation/pipeline.ts';
import { planQuery, type PlanOptions } from '../../../../logsql/planner/planner.ts';
import { sql } from '../../../../pipeline/core/sql.ts';
import { textOf, type LogEntry } from '../../../../pipeline/core/entry.ts';
import { momentText } from '../../../../logsql/values/times.ts';
import { MAX_TIME, MIN_TIME, parseTime } from '../../../../pipeline/core/time.ts';
import { extent } from '../../../extent.ts';
import { EVERYTHING, entryOf, memoryFor, nanoseconds, parse, statementOf } from '../../../logsql/support.ts';
import { LogsqlStore } from '../../logsql-store.ts';

const HOUR = 3_600_000_000_000n;
const BASE = nanoseconds('2026-11-18T10:00:00Z');

/** Queries that the counts answer. */
const COUNTED = [
  '* | stats by (_stream) count() n',
  '* | stats by (app) count() n, count() if (level:error) e, count(service) s, count_uniq(host) h',
  '* | stats by (_time:1h, level) count() n',
  '* | stats by (_time:1d offset 3h) count() n',
  '* | stats by (_time:week) count() n',
  '* | stats by (_time:month, app) rate() r',
  '* | uniq by (host) with hits',
  '* | top 3 by (app, level)',
  '* | field_values env',
  'level:error | stats count() n',
  '{app="a"} level:in(error, info) | stats by (host) count() n',
  '{app!="a"} !app:b | stats by (level) count() n',
  'host:h* or env:=prod | uniq by (app)',
  'app:* | filter level:="" | stats by (_stream, service) count() n',
];
/** Queries that look at more than the counts know. */
const READ = [
  '* | stats count() n',
  'x | stats by (app) count() n',
  '* | stats by (_time:30m) count() n',
  '* | stats by (_time:1h offset 1m) count() n',
  '* | stats by (status) count() n',
  '* | stats by (app) sum(n) n',
  '{app="a"} | stats count() if (status:=200) n | fields m',
  '* | stats by (app) count() if (_time:>2026-11-18T11:00:00Z) n',
  '* | uniq by (_time, app)',
  'status:200 | stats by (app) count() n',
];

describe('the hourly counts', function () {
  this.timeout(600_000);
  let own: LogsqlStore;
  let streams: StreamDirectory;
  let entries: LogEntry[] = [];
  const tenantId = 41;
  before(async () => {
    own = await LogsqlStore.start();
    streams = new StreamDirectory(own.store);
  });
  after(() => own.stop());

  const some = fc.record({
    // mostly around the hours of a day, and at the ends of time
    at: fc.oneof(
      { weight: 12, arbitrary: fc.bigInt(-6n * HOUR, 6n * HOUR).map((shift) => BASE + shift) },
      { weight: 4, arbitrary: fc.integer({ min: -4, max: 4 }).map((hours) => BASE + BigInt(hours) * HOUR) },
      { weight: 1, arbitrary: fc.bigInt(-90n * 24n * HOUR, 0n) },
      { weight: 1, arbitrary: fc.constantFrom(MIN_TIME, MAX_TIME, -1n, 0n, nanoseconds('2200-02-03T04:05:06Z')) },
    ),
    app: fc.constantFrom('a', 'b', ''),
    // a label of the stream that the entry's own field disagrees with
    label: fc.constantFrom('a', 'b'),
    host: fc.constantFrom('h1', 'h2', 'H 3', ''),
    env: fc.constantFrom('prod', ''),
    level: fc.constantFrom('error', 'info', ''),
    service: fc.constantFrom('s', ''),
    status: fc.constantFrom('200', 500, '500 x'),
    _msg: fc.constantFrom('x', 'y'),
  });
  const make = (seed: number, size: number): LogEntry[] =>
    fc
      .sample(some, { numRuns: size, seed })
      .sort((a, b) => (a.at < b.at ? -1 : 1))
      .map(({ at, label, ...fields }) => {
        const present = Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== ''));
        return entryOf({ _time: momentText(at), _stream: `{app="${label}"}`, ...present });
      });
  const timeOf = (entry: LogEntry): bigint => parseTime(textOf(entry.get('_time'))) ?? 0n;

  type Window = { readonly start: bigint; readonly end: bigint };
  const options = ({ start, end }: Window): PlanOptions => ({ table: LOGS, tenantId, start, end, widest: EVERYTHING, memory: memoryFor() });
  const windows: readonly Window[] = [
    { start: MIN_TIME, end: MAX_TIME },
    { start: BASE - 3n * HOUR, end: BASE + 3n * HOUR - 1n },
    { start: BASE - 3n * HOUR, end: BASE + 3n * HOUR },
    ...fc
      .sample(fc.tuple(fc.bigInt(0n, 7n * HOUR), fc.bigInt(0n, 7n * HOUR)), { numRuns: extent(1, 5), seed: 3 })
      .map(([before, after]) => ({ start: BASE - before, end: BASE + after })),
  ];
  const sorted = (rows: readonly LogEntry[]): string[] =>
    rows.map((row) => JSON.stringify([...row].map(([name, value]) => [name, textOf(value)]).filter(([, value]) => value !== ''))).sort();

  async function agree(): Promise<void> {
    for (const window of windows) {
      const inside = entries.filter((entry) => timeOf(entry) >= window.start && timeOf(entry) <= window.end);
      const newestFirst = inside.sort((a, b) => Number(timeOf(b) - timeOf(a)));
      for (const query of [...COUNTED, ...READ]) {
        const expected = await evaluate(parse(query), newestFirst, { ...EVERYTHING, ...window });
        const runner = { store: own.store, streams, options: { tenantId, timeoutMs: 30_000 } };
        const rows = await runQuery(parse(query), options(window), runner, 10_000);
        expect(sorted(rows), `${query} ${String(window.start)} ${String(window.end)}`).to.deep.equal(sorted(expected));
      }
    }
  }
  const plan = async (query: string): Promise<string> => {
    const statement = statementOf(planQuery(parse(query), options({ start: BASE - 5n * HOUR - 1n, end: BASE + 5n * HOUR })), null);
    const rows = await own.store.rows(sql`EXPLAIN ${statement}`, { tenantId, timeoutMs: 30_000 });
    return rows.map(([line]) => String(line)).join('\n');
  };

  it('give what the entries give, in any window', async () => {
    entries = make(1, 600);
    await own.insert(tenantId, entries);
    await own.insert(tenantId + 1, make(9, 50));
    await agree();
  });

  it('are what ClickHouse reads, for these queries alone', async () => {
    for (const query of COUNTED) expect(await plan(query), query).to.include('ReadFromMergeTree (hours)');
    for (const query of READ) expect(await plan(query), query).to.not.include('ReadFromMergeTree (hours)');
  });

  it('may be missing in parts from before them', async () => {
    await own.store.command('ALTER TABLE logs CLEAR PROJECTION hours', { mutations_sync: '2' });
    const more = make(2, 200);
    await own.insert(tenantId, more);
    entries = [...entries, ...more];
    await agree();
    await own.store.command('OPTIMIZE TABLE logs FINAL');
    await agree();
  });

  it('follow deletes', async () => {
    await own.store.command('ALTER TABLE logs MATERIALIZE PROJECTION hours', { mutations_sync: '2' });
    await own.store.command(`DELETE FROM logs WHERE tenant_id = ${String(tenantId)} AND level = 'error'`, {
      lightweight_deletes_sync: '2',
    });
    entries = entries.filter((entry) => textOf(entry.get('level')) !== 'error');
    await agree();
  });
});
