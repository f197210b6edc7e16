import { expect } from 'chai';
import fc from 'fast-check';
import type { AuditedLog, AuditedPosition } from '../../pipeline/bus/measured/audited-log.ts';
import { TICK } from '../../pipeline/bus/records/record.ts';
import type { LogRecord } from '../../pipeline/logs/record.ts';
import { logsSignal } from '../../pipeline/logs/logs-signal.ts';
import type { AuditReport } from '../../pipeline/core/audit-report.ts';
import { audit, type ExpiredRecords } from '../../sinks/audit/audit.ts';
import { logRecord, streamOf } from '../fakes/log-record.ts';
import { recordKey, type StoredPositions } from '../../sinks/audit/stored.ts';

const NOW = Date.parse('2026-11-21T12:30:00Z');
const HOUR = 3_600_000;
const DAY = 86_400_000;

type Row = { readonly partition: number; readonly offset: number; readonly index: number; readonly timestamp: number };

type More = {
  readonly timestamp?: number;
  readonly retentionDays?: number;
  /** Of the entries. */
  readonly times?: readonly number[];
  readonly replayOf?: number;
  /** Append time of the record that this one replays. */
  readonly arrived?: number;
  readonly fault?: LogRecord['fault'];
};

/** A record of so many entries. */
function record(partition: number, offset: number, count: number, more: More = {}): LogRecord {
  const { timestamp = NOW - HOUR, retentionDays = 0, times = Array.from({ length: count }, () => NOW - HOUR) } = more;
  const value = Buffer.from(times.map((at) => `{"_time":"${String(at)}000000","_msg":"x"}\n`).join(''));
  return logRecord({
    partition,
    offset,
    count,
    timestamp: more.arrived ?? timestamp,
    retentionDays,
    streams: streamOf('5', '{}', ...new Set(times.map((at) => Math.floor(at / DAY)))),
    value,
    replayOf: more.replayOf ?? null,
    fault: more.fault ?? null,
    original: { key: null, value, headers: {}, timestamp: String(timestamp) },
  });
}

/** Every entry of records stored once. */
const rowsOf = (records: readonly LogRecord[]): Row[] =>
  records.flatMap(({ partition, offset, replayOf, count, timestamp }) =>
    Array.from({ length: count }, (_, index) => ({ partition, offset: replayOf ?? offset, index, timestamp })),
  );

/** A log that holds these records from `low` on. Its batches are small, so that slices end anywhere. */
class FakeLog implements AuditedLog {
  readonly records: readonly LogRecord[];
  readonly #committed: number | undefined;
  readonly #low: number;
  constructor(records: readonly LogRecord[], { committed, low = 0 }: { committed?: number; low?: number } = {}) {
    this.records = records.filter(({ offset }) => offset >= low);
    this.#committed = committed;
    this.#low = low;
  }
  positions(from: number | null, to: number | null): Promise<AuditedPosition[]> {
    const partitions = [...new Set(this.records.map(({ partition }) => partition))].sort((a, b) => a - b);
    return Promise.resolve(
      partitions.map((partition) => {
        const own = this.records.filter((one) => one.partition === partition);
        const end = (own.at(-1)?.offset ?? -1) + 1;
        const at = (time: number): number => own.find(({ timestamp }) => timestamp >= time)?.offset ?? end;
        return {
          partition,
          low: this.#low,
          end,
          committed: this.#committed ?? end,
          from: from === null ? this.#low : at(from),
          to: to === null ? end : at(to),
        };
      }),
    );
  }
  async read(
    spans: ReadonlyMap<number, { readonly from: number; readonly to: number }>,
    take: (partition: number, records: readonly LogRecord[]) => Promise<void>,
  ): Promise<void> {
    for (const one of this.records) {
      const span = spans.get(one.partition);
      if (span !== undefined && one.offset >= span.from && one.offset < span.to) await take(one.partition, [one]);
    }
  }
}

class FakeStored implements StoredPositions {
  readonly #rows: readonly Row[];
  constructor(rows: readonly Row[]) {
    this.#rows = rows;
  }
  between(partition: number, first: number, last: number): ReturnType<StoredPositions['between']> {
    const all = new Map(this.#of(partition).map((row) => [recordKey(row), row]));
    return Promise.resolve(
      [...all.values()]
        .filter(({ offset }) => offset >= first && offset <= last)
        .sort((a, b) => a.offset - b.offset)
        .map(({ offset, timestamp }) => {
          const own = this.#of(partition).filter((row) => row.offset === offset && row.timestamp === timestamp);
          const indexes = own.map(({ index }) => index);
          return {
            offset,
            timestamp,
            rows: own.length,
            distinct: new Set(indexes).size,
            last: Math.max(...indexes),
          };
        }),
    );
  }
  copies(partition: number, offsets: readonly number[]): ReturnType<StoredPositions['copies']> {
    const copies = new Map<string, Map<number, number>>();
    for (const { offset, timestamp, index } of this.#of(partition)) {
      if (!offsets.includes(offset)) continue;
      const key = recordKey({ offset, timestamp });
      const known = copies.get(key) ?? new Map<number, number>();
      copies.set(key, known.set(index, (known.get(index) ?? 0) + 1));
    }
    return Promise.resolve(copies);
  }
  firstBefore(partition: number, before: number, from: number): Promise<number | null> {
    const found = this.#of(partition).filter(({ offset, timestamp }) => offset < before && timestamp >= from);
    return Promise.resolve(found.length === 0 ? null : Math.min(...found.map(({ offset }) => offset)));
  }
  highest(partition: number): Promise<number> {
    return Promise.resolve(Math.max(-1, ...this.#of(partition).map(({ offset }) => offset)));
  }
  #of(partition: number): readonly Row[] {
    return this.#rows.filter((row) => row.partition === partition);
  }
}

const run = (
  log: FakeLog,
  rows: readonly Row[],
  more: { from?: number; to?: number; letters?: Readonly<Record<number, number>>; expired?: readonly ExpiredRecords[] } = {},
): Promise<AuditReport> =>
  audit({
    log,
    signal: logsSignal,
    stored: new FakeStored(rows),
    from: more.from ?? null,
    to: more.to ?? null,
    deadLetters: () => Promise.resolve({ last: (_partition, offset) => more.letters?.[offset] ?? null, expired: more.expired ?? [] }),
    now: () => NOW,
  });

describe('audit', () => {
  const clean = [record(0, 0, 3), record(0, 1, 0), record(0, 2, 2), record(1, 0, 4), record(1, 1, 1)];

  it('finds nothing where every entry is stored once', async () => {
    const report = await run(new FakeLog(clean), rowsOf(clean));
    expect(report).to.include({ records: 5, entries: 10, lost: 0, doubled: 0, stray: 0, aged_out: 0, dead_lettered: 0 });
    expect(report.findings).to.deep.equal([]);
    expect(report.partitions).to.deep.equal([
      { partition: 0, first: 0, next: 3, pending_records: 0, removed_records: 0 },
      { partition: 1, first: 0, next: 2, pending_records: 0, removed_records: 0 },
    ]);
  });

  it('names partition, hour, offsets and entries of what is lost, doubled or stray', async () => {
    const early = [5, 6, 7, 9].map((offset) => record(1, offset, 2, { timestamp: NOW - 3 * HOUR }));
    const records = [record(0, 4, 3), ...early];
    const rows = rowsOf(records).filter(({ partition, offset }) => partition === 0 || offset === 7);
    const again = rows.filter(({ partition, index }) => partition === 0 && index === 2);
    const report = await run(new FakeLog(records), [
      ...rows,
      ...again,
      ...again,
      { partition: 0, offset: 4, index: 9, timestamp: NOW - HOUR },
      { partition: 0, offset: 77, index: 0, timestamp: NOW },
    ]);
    expect(report.findings).to.deep.equal([
      { kind: 'doubled', partition: 0, hour: '2026-11-21T11:00Z', entries: 2, records: 1, offsets: ['4'] },
      { kind: 'stray', partition: 0, hour: '2026-11-21T11:00Z', entries: 1, records: 1, offsets: ['4'] },
      { kind: 'stray', partition: 0, hour: '2026-11-21T12:00Z', entries: 1, records: 1, offsets: ['77'] },
      { kind: 'lost', partition: 1, hour: '2026-11-21T09:00Z', entries: 6, records: 3, offsets: ['5-6', '9'] },
    ]);
  });

  it('names what has expired unread: as it was found, and what nobody has found yet', async () => {
    const expired = [
      { partition: 0, first: 3, last: 9, at: NOW - HOUR },
      { partition: 1, first: 5, last: 5, at: NOW - 3 * HOUR },
    ];
    const found = { kind: 'expired', partition: 0, hour: '2026-11-21T11:00Z', entries: 0, records: 7, offsets: ['3-9'] };
    const earlier = { kind: 'expired', partition: 1, hour: '2026-11-21T09:00Z', entries: 0, records: 1, offsets: ['5'] };
    expect((await run(new FakeLog(clean), rowsOf(clean), { expired })).findings).to.deep.equal([found, earlier]);
    expect((await run(new FakeLog(clean), rowsOf(clean), { expired, from: NOW - 2 * HOUR })).findings).to.deep.equal([found]);
    // the log begins behind what is committed
    const late = [record(0, 7, 1), record(0, 8, 1)];
    const ahead = { kind: 'expired', partition: 0, hour: '2026-11-21T12:00Z', entries: 0, records: 3, offsets: ['4-6'] };
    expect((await run(new FakeLog(late, { committed: 4, low: 7 }), [])).findings).to.deep.equal([ahead]);
  });

  it('counts no ticks, and finds rows that stand where one does', async () => {
    const tick = (offset: number): LogRecord => logRecord({ ...record(0, offset, 0), encoding: TICK, tenantId: 0 });
    const records = [tick(0), record(0, 1, 3), tick(2), tick(3)];
    const whole = rowsOf(records);
    const { records: counted, entries, findings, partitions } = await run(new FakeLog(records), whole);
    expect([counted, entries, findings]).to.deep.equal([1, 3, []]);
    expect(partitions).to.deep.equal([{ partition: 0, first: 0, next: 4, pending_records: 0, removed_records: 0 }]);
    const stray = await run(new FakeLog(records), [...whole, { partition: 0, offset: 3, index: 0, timestamp: NOW - HOUR }]);
    expect(stray.findings).to.have.length(1);
    expect(stray.findings[0]).to.include({ kind: 'stray', entries: 1 });
  });

  it('takes for lost neither what is not committed, nor dead letters, nor what retention took', async () => {
    const old = NOW - 14 * DAY;
    const records = [
      record(0, 0, 2),
      record(0, 1, 3, { retentionDays: 14, times: [old - 1000, NOW, old - HOUR] }),
      record(0, 2, 2, { retentionDays: 14, times: [old + HOUR, old + HOUR] }),
      record(0, 3, 4),
      record(0, 4, 5),
    ];
    const kept = rowsOf([record(0, 0, 2)]).concat({ partition: 0, offset: 1, index: 1, timestamp: NOW - HOUR });
    const report = await run(new FakeLog(records, { committed: 4 }), kept, { letters: { 3: NOW } });
    expect(report).to.include({ records: 4, entries: 11, lost: 2, aged_out: 2, dead_lettered: 4, doubled: 0 });
    expect(report.findings.map(({ offsets }) => offsets)).to.deep.equal([['2']]);
    expect(report.partitions[0]).to.include({ next: 4, pending_records: 1 });
  });

  const fault = { reason: 'headers', detail: 'The header count is no number.' } as const;

  it('asks of a record that cannot be read only that it lies in the dead letters', async () => {
    const records = [record(0, 0, 0, { fault }), record(0, 1, 0, { fault })];
    const report = await run(new FakeLog(records), [], { letters: { 0: NOW } });
    expect(report.findings).to.deep.equal([
      { kind: 'lost', partition: 0, hour: '2026-11-21T11:00Z', entries: 1, records: 1, offsets: ['1'] },
    ]);
  });

  it('finds the entries of a replay at the position of the original', async () => {
    const arrived = NOW - 2 * HOUR;
    const earlier = { timestamp: arrived };
    const records = [
      record(0, 0, 0, { ...earlier, fault }),
      record(0, 1, 3, earlier),
      record(0, 2, 2, earlier),
      record(0, 3, 1, earlier),
      record(0, 4, 2, { arrived, replayOf: 0 }),
      record(0, 5, 3, { arrived, replayOf: 1 }),
      record(0, 6, 3, { arrived, replayOf: 1 }),
      record(0, 7, 2, { arrived, replayOf: 2 }),
      record(0, 8, 0, { arrived, replayOf: 3, fault }),
    ];
    const letters = { 0: NOW - 90 * 60_000, 1: NOW - 90 * 60_000, 2: NOW - 90 * 60_000, 3: NOW };
    const brought = rowsOf([record(0, 4, 2, { arrived, replayOf: 0 }), record(0, 5, 3, { arrived, replayOf: 1 })]);
    const report = await run(new FakeLog(records), brought, { letters });
    expect(report).to.include({ lost: 2, doubled: 0, stray: 0, dead_lettered: 3 });
    expect(report.findings).to.deep.equal([
      { kind: 'lost', partition: 0, hour: '2026-11-21T11:00Z', entries: 2, records: 1, offsets: ['7'] },
    ]);
    const twice = await run(new FakeLog(records), [...brought, ...brought.slice(0, 1)], { letters });
    expect(twice.findings.map(({ kind, offsets, entries }) => [kind, offsets, entries])).to.deep.equal([
      ['doubled', ['0'], 1],
      ['lost', ['7'], 2],
    ]);
  });

  it('tells the rows of a record that the log has lost from those of the one that got its offset', async () => {
    const lost = record(0, 1, 2, { timestamp: NOW - 2 * HOUR });
    const records = [record(0, 0, 2), record(0, 1, 3)];
    const report = await run(new FakeLog(records), rowsOf([...records, lost]));
    expect(report).to.include({ lost: 0, doubled: 0, stray: 2 });
    expect(report.findings).to.deep.equal([
      { kind: 'stray', partition: 0, hour: '2026-11-21T10:00Z', entries: 2, records: 1, offsets: ['1'] },
    ]);
    expect(await run(new FakeLog(records), rowsOf([record(0, 0, 2), lost]))).to.include({ lost: 3, doubled: 0, stray: 2 });
  });

  it('looks for doubled entries also where Kafka has the records no more, as far back as it is asked', async () => {
    const records = [0, 1, 2, 3].map((offset) => record(0, offset, 2, { timestamp: NOW - (5 - offset) * HOUR }));
    const rows = rowsOf(records).filter(({ offset, index }) => offset !== 2 || index === 0);
    const log = new FakeLog(records, { low: 3 });
    const twice = [...rows, ...rows.filter(({ offset }) => offset < 2)];
    expect((await run(log, twice)).findings).to.deep.equal([]);
    const report = await run(log, twice, { from: NOW - 4 * HOUR });
    expect(report.findings.map(({ kind, offsets, entries }) => [kind, offsets, entries])).to.deep.equal([['doubled', ['1'], 2]]);
    expect(report.partitions[0]).to.include({ first: 3, removed_records: 2 });
  });

  it('finds exactly what was taken away and put twice, by partition and hour', () =>
    fc.assert(
      fc.asyncProperty(
        fc.array(fc.tuple(fc.nat(2), fc.nat(5), fc.nat(4)), { maxLength: 60 }),
        fc.array(fc.nat(), { maxLength: 8 }),
        fc.array(fc.nat(), { maxLength: 8 }),
        async (shapes, drop, twice) => {
          const next = [0, 0, 0];
          const times = [0, 0, 0];
          const records = shapes.map(([partition, count, later]) => {
            times[partition] = (times[partition] ?? 0) + later * 15 * 60_000;
            const offset = next[partition] ?? 0;
            next[partition] = offset + 1;
            return record(partition, offset, count, { timestamp: NOW - 100 * HOUR + (times[partition] ?? 0) });
          });
          const rows = rowsOf(records);
          const pick = (list: readonly number[]): Set<number> => new Set(rows.length === 0 ? [] : list.map((at) => at % rows.length));
          const [dropped, doubled] = [pick(drop), pick(twice)];
          const table = rows.flatMap((row, at) => (dropped.has(at) ? [] : doubled.has(at) ? [row, row] : [row]));
          const expected = new Map<string, number>();
          rows.forEach((row, at) => {
            const kind = dropped.has(at) ? 'lost' : doubled.has(at) ? 'doubled' : null;
            const hour = new Date(Math.floor(row.timestamp / HOUR) * HOUR).toISOString().slice(0, 13);
            const key = `${String(kind)} ${String(row.partition)} ${hour}:00Z`;
            if (kind !== null) expected.set(key, (expected.get(key) ?? 0) + 1);
          });
          const { findings, entries } = await run(new FakeLog(records), table);
          expect(entries).to.equal(rows.length);
          expect(
            Object.fromEntries(findings.map(({ kind, partition, hour, entries: size }) => [`${kind} ${String(partition)} ${hour}`, size])),
          ).to.deep.equal(Object.fromEntries(expected));
        },
      ),
    ));
});
