/**
 * The row: how one entry stands in the value of a Kafka record, shaped like the table so that ClickHouse reads it as it lies.
 * One JSON object a line: `_time` (nanoseconds, quoted), `_stream_id` (quoted), `level`, `service`, `trace_id`, `span_id`,
 * `severity`, `_msg`, `fields` (strings) and `numbers` (JSON numbers and booleans). docs/topics.md is its specification.
 */
import type { LogEntry } from '../core/entry.ts';
import { Literal } from '../core/entry.ts';
import { formatTime } from '../core/time.ts';
import { readJson } from '../core/read-json.ts';

/** Version of the row's layout, in each record's header `sv`. */
export const ROW_VERSION = 2;

/** How every row begins. */
export const ROW_START = '{"_time":"';

/** The columns of a row as ClickHouse's `input()` declares them. */
export const ROW_STRUCTURE =
  '_time Int64, _stream_id UInt64, level LowCardinality(String), service LowCardinality(String), trace_id String, span_id String, severity UInt8, _msg String, fields Map(LowCardinality(String), String), numbers Map(LowCardinality(String), String)';

type ParsedRow = {
  readonly _time: string;
  readonly _stream_id: string;
  readonly level?: string;
  readonly service?: string;
  readonly trace_id?: string;
  readonly span_id?: string;
  readonly _msg: string;
  readonly fields?: Readonly<Record<string, string>>;
};

const NUMBERS = /,"numbers":(\{[^]*\})\}$/;

/** Reads a row back as a LogEntry. `streamText` gives the label set of a stream id, from the record's header. */
export function readRow(line: string, streamText: (id: string) => string): LogEntry {
  const row = readJson(line) as ParsedRow;
  const entry: LogEntry = new Map([
    ['_time', formatTime(BigInt(row._time))],
    ['_stream', streamText(row._stream_id)],
    ['_msg', row._msg],
  ]);
  for (const name of ['level', 'service', 'trace_id', 'span_id'] as const) {
    const value = row[name];
    if (value !== undefined) entry.set(name, value);
  }
  for (const [name, value] of Object.entries(row.fields ?? {})) entry.set(name, value);
  for (const [name, literal] of readLiterals(line)) entry.set(name, new Literal(literal));
  return entry;
}

/** The names and source strings of the numbers and booleans, which JSON.parse would round. They stand last in the row. */
export function* readLiterals(line: string): Generator<[string, string]> {
  const numbers = NUMBERS.exec(line)?.[1];
  if (numbers === undefined) return;
  const member = /("(?:[^"\\]|\\.)*"):([^,}]+)/gy;
  member.lastIndex = 1;
  for (let match = member.exec(numbers); match !== null; match = member.exec(numbers)) {
    yield [JSON.parse(match[1] ?? '""') as string, (match[2] ?? '').trim()];
    if (numbers[member.lastIndex] === ',') member.lastIndex += 1;
  }
}
