import { LOGS } from '../../../logsql/sql/logs-table.ts';
import { expect } from 'chai';
import { pino } from 'pino';
import { LogCover, type LogPositions } from '../../../api/query/log-cover.ts';
import { runQuery } from '../../../api/query/run.ts';
import { StreamDirectory } from '../../../api/query/streams.ts';
import { planQuery, type PlanOptions } from '../../../logsql/planner/planner.ts';
import type { VolumeCover } from '../../../logsql/planner/volume.ts';
import type { AbsoluteRecord } from '../../../pipeline/bus/producer/absolute-record.ts';
import type { SignalRecord } from '../../../pipeline/bus/records/signal-record.ts';
import { textOf, type LogEntry } from '../../../pipeline/core/entry.ts';
import type { Input } from '../../../pipeline/processors/base/processor.ts';
import { createVolume } from '../../../pipeline/processors/volume/volume.ts';
import { createLogsSink } from '../../../sinks/logs.ts';
import { volumeSink } from '../../../sinks/volume.ts';
import { TableWriter } from '../../../sinks/writer.ts';
import { extent } from '../../extent.ts';
import { counterRecord } from '../../fakes/counter-record.ts';
import { logRecord, streamsOf } from '../../fakes/log-record.ts';
import { batchOf, entriesValue, type PlainEntry } from '../../fakes/volume-rows.ts';
import { Random } from '../../fuzz/random.ts';
import { EVERYTHING, memoryFor, parse, statementOf } from '../../logsql/support.ts';
import { LogsqlStore } from '../logsql-store.ts';

const MINUTE_MS = 60_000;
const DAY_MS = 86_400_000;
/** Whole days ago, so that nothing expires, and what is told of minutes is there. */
const START_MS = Math.floor(Date.now() / DAY_MS) * DAY_MS - 3 * DAY_MS;
const END_MS = START_MS + 3 * DAY_MS;
const MS = 1_000_000n;
const PARTITIONS = 3;
const RECORDS = 130;
const APPS = ['a', 'b', 'c', 'd', 'e', 'f'];

/** Queries that the volume answers. */
const COUNTED = [
  '* | stats count() n',
  '* | stats by (_time:1m) count() n',
  '* | stats by (_time:10m, level) count() n',
  '* | stats by (_time:1h) count() n, count() if (level:error) e',
  '* | stats by (_time:1d) count() n',
  '* | stats by (_time:1d offset 1h) count() n',
  '* | stats by (_time:week) count() n',
  '* | stats by (level) count() n',
  '* | stats by (_stream) count() n',
  '* | stats by (_stream_id) count() n',
  '* | top 3 by (_stream_id, level)',
  '* | field_values _stream_id',
  '* | stats by (_time:1h, _stream, level) count() n',
  '* | stats rate() r, count_uniq(level) l',
  'level:error | stats count() n',
  '!level:error | stats by (_time:1h) count() n',
  '{app="a"} | stats by (_time:10m) count() n',
  '{app!="a"} level:info | stats by (_stream) count() n',
  '{app=~"a|b"} or level:error | stats count() n',
  '* | uniq by (level) with hits',
  '* | uniq by (_stream) with hits',
  '{app="b"} | top 2 by (level)',
  '* | field_values level',
];
/** Queries that look at more than it knows. */
const READ = [
  'x | stats count() n',
  '* | stats by (_time:30s) count() n',
  '* | stats by (app) count() n',
  '* | stats count(_msg) n',
  '* | stats min(_time) n',
];

type Logged = { readonly input: () => Input; readonly record: SignalRecord | null; readonly offset: number; readonly appendedAt: number };

describe('counting by the volume', function () {
  this.timeout(600_000);
  let own: LogsqlStore;
  let streams: StreamDirectory;
  const counted: number[] = [];
  const log = pino({ level: 'silent' });
  const random = new Random(7);

  const streamId = (app: string): bigint => BigInt(1000 + APPS.indexOf(app));

  function someEntries(appendedAt: number): PlainEntry[] {
    return Array.from({ length: 1 + random.below(8) }, (): PlainEntry => {
      const late =
        random.below(20) === 0 ? random.below(2 * DAY_MS) : random.below(10) === 0 ? random.below(3 * 3_600_000) : random.below(90_000);
      return {
        time: BigInt(Math.max(START_MS, appendedAt - late)) * MS + BigInt(random.below(1000)),
        stream: streamId(random.pick(APPS)),
        level: random.pick(['info', 'error', '']),
        message: random.pick(['x', 'y']),
      };
    });
  }

  /** The records and ticks of a partition. */
  function someLog(partition: number): Logged[] {
    let appendedAt = START_MS;
    return Array.from({ length: RECORDS }, (_none, offset): Logged => {
      appendedAt += random.below(10) === 0 ? random.below(6 * 3_600_000) : random.below(20 * MINUTE_MS);
      appendedAt = Math.min(appendedAt, END_MS);
      const at = appendedAt;
      const more = { partition, offset, appendedAt: at, tenantId: 1 + random.below(2), retentionDays: 0 };
      if (random.below(8) === 0)
        return { input: () => ({ kind: 'tick', partition, offset, appendedAt: at }), record: null, offset, appendedAt: at };
      const entries = someEntries(at);
      const days = new Map<string, Set<number>>();
      for (const { time, stream } of entries) {
        const of = days.get(String(stream)) ?? new Set<number>();
        days.set(String(stream), of.add(Number(time / MS / BigInt(DAY_MS))));
      }
      const named = [...days].map(([id, of]) => [id, `{app="${APPS[Number(id) - 1000] ?? ''}"}`, ...of] as const);
      return {
        input: () => batchOf(entries, more),
        record: logRecord({ ...{ offset, partition, tenantId: more.tenantId, count: entries.length, timestamp: at, encoding: 'columns' }, value: entriesValue(entries), streams: streamsOf(...named.map((one) => [...one] as [string, string, ...number[]])) }), // prettier-ignore
        offset,
        appendedAt: at,
      };
    });
  }

  /** What is counted of a partition: one has many streams, and too much else for a while, one is counted by two, one has a gap. */
  function counters(partition: number, messages: readonly Logged[]): AbsoluteRecord[] {
    const volume = createVolume(partition === 1 ? { maxGroups: 200 } : {});
    const fold = (state: ReturnType<typeof volume.init>, some: readonly Logged[]): AbsoluteRecord[] =>
      some.flatMap(({ input }) => [...volume.fold(state, input())]);
    const state = volume.init();
    const half = Math.floor(messages.length / 2);
    if (partition === 1) state.maxGroups = 5;
    const first = fold(state, messages.slice(0, half / 2));
    state.maxGroups = null;
    first.push(...fold(state, messages.slice(half / 2, half)));
    const other = volume.restore(volume.snapshot(state));
    if (other === null) throw new Error('A snapshot cannot be read.');
    const rest = messages.slice(partition === 2 ? half + 9 : half);
    const again = partition === 0 ? fold(other, rest.slice(0, -5)) : [];
    return [...first, ...fold(state, rest), ...again];
  }

  before(async () => {
    own = await LogsqlStore.start();
    streams = new StreamDirectory(own.store);
    const writers = [createLogsSink(), volumeSink].map(
      (sink) => new TableWriter({ sink, store: own.store, log, mostRefused: 1, metrics: { stored: () => undefined } }),
    );
    const store = async (
      writer: TableWriter | undefined,
      topic: string,
      partition: number,
      records: readonly SignalRecord[],
    ): Promise<void> => {
      const range = { topic, partition, start: records[0]?.offset ?? 0, end: records.at(-1)?.offset ?? 0, records, rows: records.reduce((sum, { count }) => sum + count, 0) }; // prettier-ignore
      expect(await writer?.store(range, false)).to.deep.equal([]);
    };
    for (let partition = 0; partition < PARTITIONS; partition++) {
      const messages = someLog(partition);
      await store(
        writers[0],
        'logs.v1',
        partition,
        messages.flatMap(({ record }) => record ?? []),
      );
      const rows = counters(partition, messages).map(({ value, headers }, offset) =>
        counterRecord([], { value, offset, partition, count: Number(headers['count']), timestamp: START_MS + offset }),
      );
      counted.push(rows.length);
      await store(writers[1], 'counters.v1', partition, rows);
    }
  });
  after(() => own.stop());

  const coverOf = (positions: LogPositions, tenantId = 1): Promise<VolumeCover | null> =>
    new LogCover({
      // a busy machine may take long: what is not known in time is no cover
      ...{ positions: () => Promise.resolve(positions), log, waitMs: 60_000 },
      refused: () => Promise.resolve({ tenants: new Set<number>(), isUnknown: false }),
      rows: (statement) => own.store.rows(statement, { tenantId: 0, timeoutMs: 30_000 }),
    }).of(tenantId);

  type Window = { readonly start: bigint; readonly end: bigint };
  const options = (window: Window, tenantId: number, cover: VolumeCover | null): PlanOptions => ({ table: LOGS, ...window, tenantId, widest: EVERYTHING, memory: memoryFor(), cover }); // prettier-ignore
  const run = async (query: string, window: Window, tenantId: number, cover: VolumeCover | null): Promise<string[]> => {
    const runner = { store: own.store, streams, options: { tenantId, timeoutMs: 30_000 } };
    const rows: readonly LogEntry[] = await runQuery(parse(query), options(window, tenantId, cover), runner, 10_000);
    return rows.map((row) => JSON.stringify([...row].map(([name, value]) => [name, textOf(value)])));
  };
  const ms = (at: number): bigint => BigInt(at) * MS;
  const aWindow = (): Window => {
    const unit = random.pick([1, 1, 1, 60_000, 3_600_000, DAY_MS]);
    const [a, b] = [random.below(END_MS - START_MS), random.below(END_MS - START_MS)]
      .map((at) => Math.floor(at / unit) * unit)
      .sort((x, y) => x - y);
    return { start: ms(START_MS + (a ?? 0)) + BigInt(random.below(2)), end: ms(START_MS + (b ?? 0)) - BigInt(random.below(2)) };
  };
  const ALL: Window = { start: ms(START_MS - DAY_MS), end: ms(END_MS + DAY_MS) };

  it('gives what the entries give, in any window, however far all is counted and stored', async () => {
    const full = (of: (partition: number) => number): number[] => Array.from({ length: PARTITIONS }, (_none, partition) => of(partition));
    const rounds = extent(4, 120);
    let [covers, found] = [0, 0];
    for (let round = 0; round < rounds; round++) {
      const isWhole = round === 0;
      const positions: LogPositions = {
        ends: full(() => RECORDS),
        stored: full(() => (isWhole ? RECORDS : 50 + random.below(RECORDS - 50))),
        counted: full((partition) => (counted[partition] ?? 0) - (isWhole ? 0 : random.below((counted[partition] ?? 0) / 2))),
      };
      const cover = await coverOf(positions, 1);
      const coverOfOther = await coverOf(positions, 2);
      // what was told first of minutes has expired
      if (cover === null) continue;
      covers += 1;
      for (const window of [ALL, aWindow(), aWindow()].filter(({ start, end }) => start < end))
        for (const query of isWhole ? [...COUNTED, ...READ] : [0, 1, 2, 3, 4].map(() => random.pick(COUNTED)))
          for (const tenantId of [1, 2]) {
            const expected = await run(query, window, tenantId, null);
            const what = `${query} ${String(window.start)} ${String(window.end)} of ${String(tenantId)} ${JSON.stringify(positions)}`;
            expect(await run(query, window, tenantId, tenantId === 1 ? cover : coverOfOther), what).to.deep.equal(expected);
            if (expected.length > 0) found += 1;
          }
    }
    expect(covers).to.be.above(rounds / 2);
    expect(found).to.be.above(100);
  });

  it('is asked of the volume for these queries alone', async () => {
    const cover = await coverOf({ ends: [RECORDS, RECORDS, RECORDS], stored: [RECORDS, RECORDS, RECORDS], counted });
    const end = (cover?.unpublished?.end ?? 0) * 1000;
    expect(end).to.be.within(START_MS + 1, END_MS - DAY_MS);
    const isCounted = (query: string, window: Window): boolean => {
      const statement = statementOf(planQuery(parse(query), options(window, 1, cover)), null);
      return statement.strings.join('').includes('FROM volume');
    };
    const [told, unpublished] = [
      { ...ALL, start: ms(end) },
      { ...ALL, start: ms(end - 1) },
    ];
    for (const query of COUNTED) expect([isCounted(query, told), isCounted(query, unpublished)], query).to.deep.equal([true, false]);
    for (const query of READ) expect(isCounted(query, told), query).to.equal(false);
  });

  it('is not asked while nothing is told of a partition that has records', async () => {
    expect(await coverOf({ ends: [RECORDS, RECORDS, RECORDS, 1], stored: [9, 9, 9, 1], counted: [...counted, 0] })).to.equal(null);
    expect(await coverOf({ ends: [RECORDS, RECORDS, RECORDS, 0], stored: [9, 9, 9, 0], counted: [...counted, 0] })).not.to.equal(null);
  });
});
