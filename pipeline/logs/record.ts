import type { IHeaders, KafkaMessage } from '../bus/kafka.ts';
import { parseStream } from '../core/labels.ts';
import { ROW_VERSION } from './row.ts';
import { ARRIVED, REPLAYED_FROM, type Fault, type Original, type Reason } from '../bus/dead-letter.ts';

/** What a record of `logs.v1` says of its rows in its headers; docs/topics.md is the specification. */
export type RecordInfo = {
  readonly tenantId: number;
  /** Retention class in days; 0 keeps for ever. */
  readonly retentionDays: number;
  /** Rows in the value; 0 where a request has none and only its bytes count. */
  readonly count: number;
  /** Billable bytes of the requests whose first record this is. */
  readonly bytes: number;
  /** Days since the epoch of which the record has entries. */
  readonly days: readonly number[];
  /** The streams of its entries: id to label set. */
  readonly streams: ReadonlyMap<string, string>;
};

/** A record as a sink sees it. `offset` fits a number: 2^53 records are out of reach. */
export type LogRecord = RecordInfo & {
  readonly partition: number;
  readonly offset: number;
  /** Append time, milliseconds; that of the original, where this is a replay. */
  readonly timestamp: number;
  readonly value: Buffer;
  /** The offset in this partition that the rows of a replayed record belong to; null for all others. */
  readonly replayOf: number | null;
  /** Why it cannot be read; it has no rows then. */
  readonly fault: Fault | null;
  readonly original: Original;
};

/** The offset under which a record's rows are stored: a replay's are those of the record that it repeats. */
export const positionOf = ({ offset, replayOf }: Pick<LogRecord, 'offset' | 'replayOf'>): number => replayOf ?? offset;

/** When a record was appended itself, milliseconds; 0 for none. */
export const appendedAt = (record: LogRecord | undefined): number => Number(record?.original.timestamp ?? 0);

const ENCODING = 'ndjson';

/** The headers of a record. */
export function encodeHeaders(info: RecordInfo): IHeaders {
  return {
    tenant: String(info.tenantId),
    retention: String(info.retentionDays),
    count: String(info.count),
    bytes: String(info.bytes),
    sv: String(ROW_VERSION),
    encoding: ENCODING,
    days: info.days.join(','),
    streams: JSON.stringify([...info.streams]),
  };
}

/** The bounds of what ClickHouse holds of a record. */
const MAX_TENANT = 4_294_967_295;
const MAX_RETENTION = 65_535;
const MAX_STREAM_ID = 18_446_744_073_709_551_615n;

/** Reads the headers of a record; a fault says why it cannot be read. */
export function decodeRecord(partition: number, message: KafkaMessage): LogRecord | Fault {
  const header = (name: string): string => message.headers?.[name]?.toString() ?? '';
  if (message.value === null) return fault('foreign', 'The record has no value.');
  if (header('encoding') !== ENCODING) return fault('foreign', `The encoding ${JSON.stringify(header('encoding'))} is not known.`);
  if (header('sv') !== String(ROW_VERSION)) return fault('version', `Schema version ${JSON.stringify(header('sv'))} is not known.`);
  const [tenantId = -1, retentionDays = -1, count = -1, bytes = -1] = ['tenant', 'retention', 'count', 'bytes'].map((name) =>
    readCount(header(name)),
  );
  if (tenantId < 1 || tenantId > MAX_TENANT) return fault('headers', 'The header tenant is no tenant id.');
  if (retentionDays < 0 || retentionDays > MAX_RETENTION) return fault('headers', 'The header retention is no number of days.');
  if (count < 0 || bytes < 0) return fault('headers', 'The header count or bytes is no number.');
  const days = readDays(header('days'));
  if (days === null) return fault('headers', 'The header days is not readable.');
  const streams = readStreams(header('streams'));
  if (streams === null) return fault('headers', 'The header streams is not readable.');
  const offset = Number(message.offset);
  const replay = readReplay(partition, offset, header(REPLAYED_FROM), header(ARRIVED));
  if (replay === null) return fault('headers', `The record cannot be a replay of ${JSON.stringify(header(REPLAYED_FROM))}.`);
  const { value, timestamp } = message;
  const info = { tenantId, retentionDays, count, bytes, days, streams };
  return {
    ...info,
    partition,
    offset,
    timestamp: replay.arrived ?? Number(timestamp),
    value,
    replayOf: replay.of,
    fault: null,
    original: message,
  };
}

const fault = (reason: Reason, detail: string): Fault => ({ reason, detail });

/** What stands in a range for a record that cannot be read: its offset is consumed, and nothing is stored. */
export const unreadable = (partition: number, message: KafkaMessage, cause: Fault): LogRecord => ({
  partition,
  offset: Number(message.offset),
  timestamp: Number(message.timestamp),
  tenantId: 0,
  retentionDays: 0,
  count: 0,
  bytes: 0,
  days: [],
  streams: new Map(),
  value: Buffer.alloc(0),
  replayOf: readReplay(partition, Number(message.offset), message.headers?.[REPLAYED_FROM]?.toString() ?? '', '0')?.of ?? null,
  fault: cause,
  original: message,
});

function readDays(text: string): number[] | null {
  const days = text === '' ? [] : text.split(',');
  return days.every((day) => /^-?\d{1,7}$/.test(day)) ? days.map(Number) : null;
}

function readStreams(text: string): ReadonlyMap<string, string> | null {
  try {
    const list: unknown = JSON.parse(text);
    if (!Array.isArray(list)) return null;
    const streams = new Map<string, string>();
    for (const pair of list as unknown[]) {
      if (!Array.isArray(pair) || pair.length !== 2) return null;
      const [id, labels] = pair as [unknown, unknown];
      if (typeof id !== 'string' || !/^\d{1,20}$/.test(id) || BigInt(id) > MAX_STREAM_ID || typeof labels !== 'string') return null;
      parseStream(labels);
      streams.set(id, labels);
    }
    return streams;
  } catch {
    return null;
  }
}

/** Null where the headers are no replay of an earlier record of this partition. */
function readReplay(
  partition: number,
  offset: number,
  from: string,
  arrived: string,
): { of: number | null; arrived: number | null } | null {
  if (from === '') return { of: null, arrived: null };
  const [, at = '', of = ''] = /^(\d{1,9}):(\d{1,15})$/.exec(from) ?? [];
  if (of === '' || Number(at) !== partition || Number(of) >= offset || readCount(arrived) < 0) return null;
  return { of: Number(of), arrived: Number(arrived) };
}

/** What a record counts for the volume of its tenant; nothing where it is none of ours. */
export type Billed = { readonly tenantId: number; readonly bytes: number; /** Append time, milliseconds. */ readonly timestamp: number };

/** Reads of a record what it counts, and nothing else; null where it counts nothing. A replay counts nothing: its original did. */
export function decodeBilled({ headers, timestamp }: Pick<KafkaMessage, 'headers' | 'timestamp'>): Billed | null {
  if (headers?.[REPLAYED_FROM] !== undefined) return null;
  const [tenantId, bytes] = [headers?.['tenant'], headers?.['bytes']].map((value) => readCount(value?.toString() ?? ''));
  return tenantId === undefined || bytes === undefined || tenantId < 1 || bytes < 1
    ? null
    : { tenantId, bytes, timestamp: Number(timestamp) };
}

function readCount(text: string): number {
  return /^\d{1,15}$/.test(text) ? Number(text) : -1;
}
