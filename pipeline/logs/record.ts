import type { Fault } from '../bus/records/dead-letter.ts';
import { faultOf } from '../bus/records/record.ts';
import type { HeaderText, SignalRecord } from '../bus/records/signal-record.ts';
import { COLUMNS } from '../rows/native.ts';
import { MAX_DAY, RecordStreams } from './record-streams.ts';
import { StreamList } from './stream-list.ts';

/** The name of the signal, and of its topic. */
export const LOGS = 'logs';
export const LOGS_TOPIC = 'logs.v1';

/** How the value of a record of other producers may be written: lines of JSON. What we write are columns (`columns/log-layout.ts`). */
export const NDJSON = 'ndjson';

/** A record of `logs.v1`; docs/topics.md is the specification of its headers. */
export type LogRecord = SignalRecord & { readonly streams: RecordStreams };

/** Reads what only log records have in their headers. */
export function decodeLog(record: SignalRecord, header: HeaderText): LogRecord | Fault {
  const streams = record.encoding === COLUMNS ? readColumns(record) : readJson(header('streams'));
  return streams === null ? faultOf('headers', 'The header streams is not readable.') : { ...record, streams };
}

/** The header of a record with the encoding `columns`: what `StreamList.encode` makes, nothing where there are no entries. */
function readColumns({ original, count }: SignalRecord): RecordStreams | null {
  const header = original.headers?.['streams'] ?? '';
  if (Array.isArray(header) || (header.length === 0 && count > 0)) return null;
  return RecordStreams.read(typeof header === 'string' ? Buffer.from(header) : header);
}

const MAX_STREAM_ID = '18446744073709551615';

/** The header of a record with the encoding `ndjson`: `[[id, label set, day, …], …]`. */
function readJson(text: string): RecordStreams | null {
  let list: unknown;
  try {
    list = JSON.parse(text);
  } catch {
    return null;
  }
  if (!Array.isArray(list)) return null;
  const streams = new StreamList();
  for (const item of list as unknown[]) {
    if (!Array.isArray(item)) return null;
    const [id, labels, ...days] = item as unknown[];
    if (typeof id !== 'string' || !isStreamId(id) || typeof labels !== 'string') return null;
    if (days.length === 0 || !days.every(isDay)) return null;
    idWords[0] = BigInt(id);
    streams.addText(idHalves[1] as number, idHalves[0] as number, Buffer.from(labels), days);
  }
  return RecordStreams.read(streams.encode());
}

/** An id, and its halves. */
const idWords = new BigUint64Array(1);
const idHalves = new Int32Array(idWords.buffer);

const isDay = (day: unknown): day is number => Number.isInteger(day) && Math.abs(day as number) <= MAX_DAY;

/** Digits of a number below 2^64. */
const isStreamId = (id: string): boolean => /^\d{1,20}$/.test(id) && (id.length < MAX_STREAM_ID.length || id <= MAX_STREAM_ID);
