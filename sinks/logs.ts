import type { Range } from '../pipeline/bus/range-consumer.ts';
import { positionOf, type LogRecord } from '../pipeline/bus/record.ts';
import { LOGS_TOPIC } from '../pipeline/bus/topics.ts';
import { RecentMap } from '../pipeline/core/generations.ts';
import { parseStream } from '../pipeline/core/labels.ts';
import { ROW_STRUCTURE } from '../pipeline/entry/row.ts';
import type { Store } from '../pipeline/store/client.ts';
import { MAX_PARTITIONS, type Sink } from './sink.ts';

/** Streams (by tenant, day and id) that this process has written lately, in each of two generations; writing one again does no harm. */
const MAX_KNOWN_STREAMS = 250_000;
const STREAMS_DEADLINE_MS = 60_000;

/** Entries into `logs`, and the streams they belong to into `streams`, before them. */
export function createLogsSink(): Sink {
  const known = new RecentMap<string, true>(MAX_KNOWN_STREAMS);
  return {
    name: 'logs',
    topic: LOGS_TOPIC,
    table: 'logs',

    async prepare(range: Range, store: Store): Promise<void> {
      const fresh = newStreams(range.records, known);
      if (fresh.size === 0) return;
      const body = Buffer.from([...fresh.values()].join('\n') + '\n');
      const queryId = `streams-${range.topic}-${String(range.partition)}-${String(range.start)}-${String(Date.now())}`;
      await store.insert('INSERT INTO streams FORMAT JSONEachRow', [body], {
        queryId,
        settings: { async_insert: 0, max_partitions_per_insert_block: MAX_PARTITIONS },
        signal: AbortSignal.timeout(STREAMS_DEADLINE_MS),
      });
      for (const key of fresh.keys()) known.set(key, true);
    },

    insert: (range, table = 'logs') => ({ text: insertText(range, table), body: range.records.map(({ value }) => value) }),
  };
}

/** The rows of `streams` that may not be there yet, by their key. */
function newStreams(records: readonly LogRecord[], known: RecentMap<string, true>): Map<string, string> {
  const fresh = new Map<string, string>();
  for (const { tenantId, retentionDays, days, streams } of records) {
    for (const [id, text] of streams) {
      for (const day of days) {
        const key = `${String(tenantId)}/${String(retentionDays)}/${String(day)}/${id}`;
        if (known.get(key) !== undefined || fresh.has(key)) continue;
        const labels = Object.fromEntries(parseStream(text));
        fresh.set(
          key,
          JSON.stringify({ tenant_id: tenantId, day: streamDay(day), stream_id: id, _stream: text, labels, retention_days: retentionDays }),
        );
      }
    }
  }
  return fresh;
}

/** Days as ClickHouse's Date holds them: 0 to 65535, which is 1970 to 2149; earlier and later ones share the ends. */
const streamDay = (day: number): number => Math.min(65_535, Math.max(0, day));

/**
 * The statement for a range. What is the same for a whole record (tenant, class, append time, offset) is looked up by the row's
 * number, so that no row is touched here: k is the number of the record's first row. More rows than the records say fail the statement.
 */
function insertText(range: Range, table: string): string {
  const starts: number[] = [];
  let row = 0;
  for (const { count } of range.records) {
    starts.push(row);
    row += count;
  }
  const list = (values: readonly number[]): string => `[${values.join(',')}]::Array(UInt64)`;
  const perRecord = (of: (record: LogRecord) => number): string => {
    const values = range.records.map(of);
    const first = values[0] ?? 0;
    return values.every((value) => value === first)
      ? `toUInt64(${String(first)})`
      : `transform(k, ${list(starts)}, ${list(values)}, toUInt64(0))`;
  };
  const columns: readonly (readonly [string, string])[] = [
    ['tenant_id', perRecord(({ tenantId }) => tenantId)],
    ['_time', "fromUnixTimestamp64Nano(_time, 'UTC')"],
    ['arrived', `fromUnixTimestamp64Milli(toInt64(${perRecord(({ timestamp }) => timestamp)}) AS ms, 'UTC')`],
    ['kafka_part', String(range.partition)],
    ['kafka_off', `${perRecord(positionOf)} AS off`],
    ['kafka_idx', `n - k + throwIf(n >= ${String(row)}, 'A record has more rows than it says.')`],
    ['retention_days', perRecord(({ retentionDays }) => retentionDays)],
    ['stream_id', '_stream_id'],
    ...['severity', 'level', 'service', 'trace_id', 'span_id', '_msg'].map((name) => [name, name] as const),
    ['fields', 'mapConcat(fields, numbers)'],
    ['json_keys', 'mapKeys(numbers)'],
  ];
  return `INSERT INTO ${table} (${columns.map(([name]) => name).join(', ')})
SELECT ${columns.map(([, expression]) => expression).join(', ')}
FROM (SELECT *, rowNumberInAllBlocks() AS n, roundDown(n, ${list(starts)}) AS k FROM input('${ROW_STRUCTURE}'))${missingOnly(range)}
FORMAT JSONEachRow`;
}

/** Of a record that is replayed, and of a doubtful range, a part may be stored already; only the rest is inserted. */
function missingOnly({ partition, start, end, records, doubtful = null }: Range): string {
  const replayed = records.flatMap(({ replayOf }) => (replayOf === null ? [] : [String(replayOf)]));
  const looked = [
    ...(doubtful === null ? [] : [`kafka_off BETWEEN ${String(start)} AND ${String(end)}`]),
    ...(replayed.length > 0 ? [`kafka_off IN (${replayed.join(',')})`] : []),
  ];
  return looked.length === 0
    ? ''
    : `
WHERE (off, ms, toUInt32(n - k)) NOT IN (SELECT kafka_off, toUnixTimestamp64Milli(arrived), kafka_idx FROM logs WHERE kafka_part = ${String(partition)} AND (${looked.join(' OR ')}))`;
}
