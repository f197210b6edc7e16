import { MessagePatterns } from '../../clusterer/message-patterns.ts';
import { Shapes } from '../../clusterer/shapes.ts';
import { NEWLINE } from '../../wire/bytes.ts';
import { Literal } from '../../core/entry.ts';
import { MAX_TIME, MIN_TIME } from '../../core/time.ts';
import { readLiterals } from '../row.ts';
import type { StringColumn } from '../../rows/string-column.ts';
import type { LogColumns } from './log-columns.ts';
import { halvesOf } from '../../rows/halves.ts';
import type { Words } from './view-rows.ts';
import { readJson } from '../../core/read-json.ts';

const MAX_ID = 18_446_744_073_709_551_615n;
const MAX_SEVERITY = 6;
const STRINGS = ['level', 'service', 'trace_id', 'span_id'] as const;

/** A row of the encoding `ndjson`, checked. */
export type PlainRow = {
  readonly time: bigint;
  readonly streamId: bigint;
  readonly severity: number;
  readonly message: string;
  readonly level: string;
  readonly service: string;
  readonly trace_id: string;
  readonly span_id: string;
  readonly fields: readonly (readonly [string, string | Literal])[];
};

/** The rows of a value with the encoding `ndjson`: each checked, or what is wrong with it as a string. */
export function* plainRows(value: Buffer): Generator<PlainRow | string> {
  for (let at = 0; at < value.length;) {
    const end = value.indexOf(NEWLINE, at);
    yield end < 0 ? 'is cut off: no line feed ends it' : readPlainRow(value.toString('utf8', at, end));
    at = end < 0 ? value.length : end + 1;
  }
}

/** Reads a line; returns what is wrong with it as a string. */
export function readPlainRow(line: string): PlainRow | string {
  let row: Record<string, unknown>;
  try {
    const parsed: unknown = readJson(line);
    if (typeof parsed !== 'object' || parsed === null || Array.isArray(parsed)) return 'is not a JSON object';
    row = parsed as Record<string, unknown>;
  } catch {
    return 'is not JSON';
  }
  const time = integer(row['_time'], MIN_TIME, MAX_TIME);
  if (time === null) return 'has no _time in nanoseconds, as a string, within the years 1900 to 2262';
  const streamId = integer(row['_stream_id'] ?? '0', 0n, MAX_ID);
  if (streamId === null) return 'has a _stream_id that is not an unsigned 64-bit integer, as a string';
  const { severity = 0, _msg: message = '' } = row;
  if (typeof severity !== 'number' || !(Number.isInteger(severity) && severity >= 0 && severity <= MAX_SEVERITY))
    return `has a severity that is not 0 to ${String(MAX_SEVERITY)}`;
  if (typeof message !== 'string') return 'has a _msg that is not a string';
  const fields = readFields(row, line);
  if (typeof fields === 'string') return fields;
  const [level, service, trace, span] = STRINGS.map((name) => row[name] ?? '');
  if (![level, service, trace, span].every((value) => typeof value === 'string'))
    return `has a value among ${STRINGS.join(', ')} that is not a string`;
  const strings = { level, service, trace_id: trace, span_id: span } as Record<(typeof STRINGS)[number], string>;
  return { time, streamId, severity, message, fields, ...strings };
}

function integer(value: unknown, least: bigint, most: bigint): bigint | null {
  if (typeof value !== 'string' || !/^-?\d{1,20}$/.test(value)) return null;
  const number = BigInt(value);
  return number >= least && number <= most ? number : null;
}

/** Of equal names the last one counts, as in a request's body; `numbers` stand behind `fields`. */
function readFields(row: Record<string, unknown>, line: string): PlainRow['fields'] | string {
  const { fields = {}, numbers } = row;
  if (typeof fields !== 'object' || fields === null || Array.isArray(fields)) return 'has fields that are not an object';
  const pairs = new Map<string, string | Literal>();
  for (const [name, value] of Object.entries(fields)) {
    if (typeof value !== 'string') return `has a value in fields that is not a string: ${JSON.stringify(name)}`;
    pairs.set(name, value);
  }
  if (numbers === undefined) return [...pairs];
  const literals = new Map(readLiterals(line));
  const values = typeof numbers === 'object' && numbers !== null ? Object.entries(numbers) : [['', numbers] as const];
  if (literals.size !== values.length || !values.every(([name, value]) => isLiteral(value, literals.get(name))))
    return 'has numbers that are not an object of numbers and booleans at its end';
  for (const [name, text] of literals) pairs.set(name, new Literal(text));
  return [...pairs];
}

/** Whether this string of the row is a number or boolean, and has this value. */
function isLiteral(value: unknown, text = ''): boolean {
  return typeof value === 'number' ? text !== '' && Number(text) === value : typeof value === 'boolean' && text === String(value);
}

/** Few records are lines, so few layouts are remembered of them. */
const [PLAIN_SHAPES, PLAIN_WORDS] = [1024, 32_768] as const;
let patterns: MessagePatterns | null = null;

/** Adds a checked row. Its pattern is worked out here, which gives the same wherever it is read. */
export function addPlainRow(columns: LogColumns, row: PlainRow, { names, levels, services }: Words): void {
  const time = halvesOf(row.time);
  columns.openRow(time.low, time.high, halvesOf(row.streamId), row.severity);
  const level = Buffer.from(row.level);
  columns.level.push(row.level === '' ? levels.none : levels.of(level, 0, level.length, () => row.level));
  const service = Buffer.from(row.service);
  columns.service.push(row.service === '' ? services.none : services.of(service, 0, service.length, () => row.service));
  put(columns.traceId, row.trace_id);
  put(columns.spanId, row.span_id);
  put(columns.message, row.message);
  columns.readPattern((patterns ??= new MessagePatterns(new Shapes(PLAIN_SHAPES, PLAIN_WORDS))));
  columns.names.reserve(row.fields.length);
  columns.jsonNames.reserve(row.fields.length);
  for (const [key, value] of row.fields) {
    const name = names.of(key);
    columns.names.push(name);
    put(columns.values, value instanceof Literal ? value.text : value);
    if (value instanceof Literal) columns.jsonNames.push(name);
  }
  columns.closeRow();
}

function put(column: StringColumn, text: string): void {
  const bytes = Buffer.from(text);
  column.raw(bytes, 0, bytes.length);
}
