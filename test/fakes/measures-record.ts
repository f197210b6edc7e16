import type { AbsoluteRecord } from '../../pipeline/bus/producer/absolute-record.ts';
import type { Range } from '../../pipeline/bus/consumer/range.ts';
import type { SignalRecord } from '../../pipeline/bus/records/signal-record.ts';
import { measureLayout } from '../../pipeline/counters/measure-layout.ts';
import { measureRow, type Measure } from '../../pipeline/counters/measure.ts';

export const NOW = Date.now();
/** When the present hour begins, seconds. */
export const HOUR = Math.floor(NOW / 3_600_000) * 3600;

export const measure = (more: Partial<Measure> = {}): Measure => ({
  ...{ kind: 'measure', tenantId: 1, retentionDays: 14, name: 'distinct_users', labels: { service: 'web', zone: 'é' } },
  ...{ span: 3600, time: HOUR, value: 12.5 },
  ...more,
});

/** A record of `measures.v1`, whose rows have its offset as their version. */
export const measuresRecord = (measures: readonly Measure[], offset: number, more: Partial<SignalRecord> = {}): SignalRecord => ({
  ...{ partition: 3, offset, timestamp: NOW, tenantId: 0, retentionDays: 0, count: measures.length, bytes: 0, encoding: 'columns' },
  value: measures.length === 0 ? Buffer.alloc(0) : measureLayout.encode(measures.map((one) => measureRow(one, offset))),
  ...{ replayOf: null, fault: null, original: { key: null, value: null, headers: {}, timestamp: '0' } },
  ...more,
});

/** A range of records. */
export const measuresRange = (...records: readonly SignalRecord[]): Range => ({
  ...{ topic: 'measures.v1', partition: records[0]?.partition ?? 3, start: records[0]?.offset ?? 0, end: records.at(-1)?.offset ?? 0 },
  ...{ records, rows: records.reduce((sum, { count }) => sum + count, 0) },
});

/** The last word on each measure, by tenant, name, labels, span and time as JSON; records of other topics are passed over. */
export function latestOf(records: Iterable<Pick<AbsoluteRecord, 'topic' | 'value' | 'headers'>>): Map<string, number> {
  const words = new Map<string, { readonly version: number; readonly value: number }>();
  for (const { topic, value, headers } of records) {
    if (topic !== 'measures.v1') continue;
    const rows = measureLayout.read(value, Number(headers['count']));
    if (typeof rows === 'string') throw new Error(rows);
    for (const { tenantId, name, labels, span, time, version, value: number } of rows) {
      const key = JSON.stringify([tenantId, name, labels, span, time]);
      if (version >= (words.get(key)?.version ?? 0)) words.set(key, { version, value: number });
    }
  }
  return new Map([...words].map(([key, { value }]) => [key, value]));
}
