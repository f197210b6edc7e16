import type { IHeaders, KafkaMessage } from 'kafkajs';
import { ROW_VERSION } from '../entry/row.ts';

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
  /** Append time, milliseconds. */ readonly timestamp: number;
  readonly value: Buffer;
};

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

/** Reads a record; a string says why it cannot be read. */
export function decodeRecord(partition: number, message: KafkaMessage): LogRecord | string {
  const header = (name: string): string => {
    const value = message.headers?.[name];
    return value === undefined ? '' : value.toString();
  };
  if (message.value === null) return 'the record has no value';
  if (header('encoding') !== ENCODING) return `encoding ${JSON.stringify(header('encoding'))} is not known`;
  if (header('sv') !== String(ROW_VERSION)) return `schema version ${JSON.stringify(header('sv'))} is not known`;
  const [tenantId = -1, retentionDays = -1, count = -1, bytes = -1] = ['tenant', 'retention', 'count', 'bytes'].map((name) =>
    readCount(header(name)),
  );
  if (tenantId < 1 || retentionDays < 0 || count < 0 || bytes < 0) return 'tenant, retention, count or bytes is no number';
  let streams: ReadonlyMap<string, string>;
  try {
    streams = new Map(JSON.parse(header('streams')) as [string, string][]);
  } catch {
    return 'the header streams is not readable';
  }
  const days = header('days')
    .split(',')
    .filter((day) => day !== '')
    .map(Number);
  return {
    tenantId,
    retentionDays,
    count,
    bytes,
    days,
    streams,
    partition,
    offset: Number(message.offset),
    timestamp: Number(message.timestamp),
    value: message.value,
  };
}

/** What stands in a range for a record that cannot be read: its offset is consumed, and nothing is stored. */
export const withoutRows = (partition: number, offset: number): LogRecord => ({
  partition,
  offset,
  timestamp: 0,
  tenantId: 0,
  retentionDays: 0,
  count: 0,
  bytes: 0,
  days: [],
  streams: new Map(),
  value: Buffer.alloc(0),
});

/** What a record counts for the volume of its tenant; nothing where it is none of ours. */
export type Billed = { readonly tenantId: number; readonly bytes: number; /** Append time, milliseconds. */ readonly timestamp: number };

/** Reads of a record what it counts, and nothing else; null where it counts nothing. */
export function decodeBilled({ headers, timestamp }: Pick<KafkaMessage, 'headers' | 'timestamp'>): Billed | null {
  const [tenantId, bytes] = [headers?.['tenant'], headers?.['bytes']].map((value) => readCount(value?.toString() ?? ''));
  return tenantId === undefined || bytes === undefined || tenantId < 1 || bytes < 1
    ? null
    : { tenantId, bytes, timestamp: Number(timestamp) };
}

function readCount(text: string): number {
  return /^\d{1,15}$/.test(text) ? Number(text) : -1;
}
