import { LOGS } from '../../../logsql/sql/logs-table.ts';
import { expect } from 'chai';
import { runQuery } from '../../../api/query/run.ts';
import { StreamDirectory } from '../../../api/query/streams.ts';
import type { LogEntry } from '../../../pipeline/core/entry.ts';
import { MAX_TIME, MIN_TIME } from '../../../pipeline/core/time.ts';
import { EVERYTHING, entryOf, nanoseconds, parse, plainOf } from '../../logsql/support.ts';
import { LogsqlStore } from '../logsql-store.ts';

const DAYS = 20;
/** Streams of each day, which are some blocks of the table. */
const STREAMS = 20_000;
/** A day begins and ends within a block of this many rows. */
const BLOCK = 8192;
const DAY = 86_400_000_000_000n;
const FIRST = nanoseconds('2026-10-01T00:00:00Z');
const ALWAYS = { start: MIN_TIME, end: MAX_TIME };

describe('look-ups of streams', function () {
  this.timeout(600_000);
  let own: LogsqlStore;
  before(async () => {
    own = await LogsqlStore.start();
    await own.store.command(
      `INSERT INTO streams SELECT 1, toDate('2026-10-01') + number % ${String(DAYS)}, cityHash64(intDiv(number, ${String(DAYS)})), concat('{n="', toString(intDiv(number, ${String(DAYS)})), '"}'), map(), 0 FROM numbers(${String(DAYS * STREAMS)})`,
    );
    await own.store.command('OPTIMIZE TABLE streams FINAL');
  });
  after(() => own.stop());

  const ids = async (): Promise<string[]> =>
    (await own.store.ownerRows('SELECT toString(cityHash64(number)) FROM numbers(200)')).map(([id]) => String(id));
  /** The texts of these streams within the window, where no more than so many rows of the table may be read. */
  const found = async (window: { readonly start: bigint; readonly end: bigint }, rows: number): Promise<(string | undefined)[]> => {
    const settings = { max_rows_to_read: String(rows + 2 * BLOCK + 1000), read_overflow_mode: 'throw' };
    const all = await ids();
    const names = await new StreamDirectory(own.store).resolve(all, window, { tenantId: 1, timeoutMs: 10_000, settings });
    return all.map((id) => names.get(id));
  };
  const expected = Array.from({ length: 200 }, (_, n) => `{n="${String(n)}"}`);

  it('read the days of the window, and no others', async () => {
    const noon = FIRST + 5n * DAY + DAY / 2n;
    for (const [window, days] of [
      [{ start: noon, end: noon }, 1],
      [{ start: FIRST + 5n * DAY, end: FIRST + 6n * DAY - 1n }, 1],
      [{ start: noon, end: noon + DAY / 2n }, 2],
      [{ start: noon - DAY, end: noon + DAY }, 3],
    ] as const)
      expect(await found(window, days * STREAMS)).to.deep.equal(expected);
  });

  it('read all days where a query has no bounds', async () => {
    expect(await found(ALWAYS, DAYS * STREAMS)).to.deep.equal(expected);
    const refused = await found(ALWAYS, 3 * STREAMS).catch((error: unknown) => error);
    expect(refused).to.be.an('error');
  });

  it('leave out what has no entries within the window', async () => {
    const before = await found({ start: FIRST - 3n * DAY, end: FIRST - 1n }, 0);
    expect(before.every((text) => text === undefined)).to.equal(true);
    expect(await found({ start: FIRST - 1n, end: FIRST }, STREAMS)).to.deep.equal(expected);
  });
});

describe('streams of any day', function () {
  this.timeout(600_000);
  let own: LogsqlStore;
  before(async () => {
    own = await LogsqlStore.start();
  });
  after(() => own.stop());

  const TIMES = [
    '1901-02-03T04:05:06Z',
    '1969-12-31T23:59:59.999999999Z',
    '1970-01-01T00:00:00Z',
    '2026-11-18T00:00:00Z',
    '2026-11-18T23:59:59.999999999Z',
    '2149-06-06T23:59:59.999999999Z',
    '2149-06-07T00:00:00Z',
    '2261-12-31T23:59:59Z',
  ];

  it('have their labels, and are selected by them', async () => {
    const entries = TIMES.map((time, n) => entryOf({ _time: time, _stream: `{n="${String(n)}"}`, _msg: 'm' }));
    await own.insert(2, entries);
    const options = { tenantId: 2, timeoutMs: 10_000 };
    const run = async (query: string, start: bigint, end: bigint): Promise<LogEntry[]> => {
      const plan = { table: LOGS, tenantId: 2, start, end, widest: ALWAYS, memory: EVERYTHING.memory };
      return runQuery(parse(query), plan, { store: own.store, streams: new StreamDirectory(own.store), options }, 100);
    };
    const labels = (rows: readonly LogEntry[]): unknown[] => rows.map((row) => plainOf(row)['_stream']).sort();
    const all = TIMES.map((_, n) => `{n="${String(n)}"}`);
    for (const query of ['*', '{n=~".*[0-9]"}', '* | sort by (_time) | limit 100', '* | stats by (_stream) count() n']) {
      expect(labels(await run(query, ALWAYS.start, ALWAYS.end)), query).to.deep.equal(all);
      for (const [n, time] of TIMES.entries())
        expect(labels(await run(query, nanoseconds(time), nanoseconds(time))), `${query} at ${time}`).to.deep.equal([all[n]]);
    }
  });
});
