import type { Fault } from '../bus/dead-letter.ts';
import type { IHeaders } from '../bus/kafka.ts';
import { encodeHeaders, faultOf, type HeaderText, type RecordInfo, type SignalRecord } from '../bus/record.ts';
import { RecentMap } from '../core/generations.ts';
import { parseStream } from '../core/labels.ts';
import { ROW_VERSION } from './row.ts';
import type { StreamDays } from './stream-days.ts';

/** The name of the signal, and of its topic. */
export const LOGS = 'logs';
export const LOGS_TOPIC = 'logs.v1';

/** How the value of a record is written: columns (`columns/layout.ts`), which is what we write; or lines of JSON, from other producers. */
export const COLUMNS = 'columns';
export const NDJSON = 'ndjson';

/** The streams of a record's entries, by id. */
export type RecordStreams = ReadonlyMap<string, StreamDays>;

/** What the headers of a record of `logs.v1` say of it; docs/topics.md is the specification. */
export type LogInfo = RecordInfo & { readonly streams: RecordStreams };

/** A record of `logs.v1`. */
export type LogRecord = SignalRecord & { readonly streams: RecordStreams };

/** The headers of a record of `logs.v1`. */
export const encodeLogHeaders = (info: LogInfo): IHeaders =>
  encodeHeaders({ name: LOGS, version: ROW_VERSION }, info, {
    streams: JSON.stringify(Array.from(info.streams, ([id, { text, days }]) => [id, text, ...days])),
  });

/** Reads what only log records have in their headers. */
export function decodeLog(record: SignalRecord, header: HeaderText): LogRecord | Fault {
  const streams = readStreams(header('streams'));
  return streams === null ? faultOf('headers', 'The header streams is not readable.') : { ...record, streams };
}

const MAX_STREAM_ID = '18446744073709551615';
const MAX_DAY = 9_999_999;

/** Texts of streams that could be read; those of most records are the same ones, and need not be read again. */
const readable = new RecentMap<string, true>(20_000, 4_000_000);

function readStreams(text: string): RecordStreams | null {
  try {
    const list: unknown = JSON.parse(text);
    if (!Array.isArray(list)) return null;
    const streams = new Map<string, StreamDays>();
    for (const item of list as unknown[]) {
      if (!Array.isArray(item)) return null;
      const [id, labels, ...days] = item as unknown[];
      if (typeof id !== 'string' || !isStreamId(id) || typeof labels !== 'string') return null;
      if (days.length === 0 || !days.every(isDay)) return null;
      checkLabels(labels);
      streams.set(id, { text: labels, days });
    }
    return streams;
  } catch {
    return null;
  }
}

const isDay = (day: unknown): day is number => Number.isInteger(day) && Math.abs(day as number) <= MAX_DAY;

/** Digits of a number below 2^64. */
const isStreamId = (id: string): boolean => /^\d{1,20}$/.test(id) && (id.length < MAX_STREAM_ID.length || id <= MAX_STREAM_ID);

/** Throws where a stream's text cannot be read. */
function checkLabels(text: string): void {
  if (readable.get(text, text.length) !== undefined) return;
  parseStream(text);
  readable.set(text, true, text.length);
}
