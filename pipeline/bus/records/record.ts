import type { IHeaders, KafkaMessage } from 'kafkajs';
import { ARRIVED, REPLAYED_FROM, type Fault, type Reason } from './dead-letter.ts';
import type { Signal } from './signal.ts';
import type { HeaderText, RecordInfo, SignalRecord } from './signal-record.ts';

/** The encoding of a tick, on the topic of any signal: a record that states only that time has passed. It has no tenant and no value. */
export const TICK = 'tick';

/** True for a tick that can be read: it has no rows, counts nothing, and nothing of its signal. */
export const isTick = ({ encoding }: Pick<SignalRecord, 'encoding'>): boolean => encoding === TICK;

/** The offset under which a record's rows are stored: a replay's are those of the record that it repeats. */
export const positionOf = ({ offset, replayOf }: Pick<SignalRecord, 'offset' | 'replayOf'>): number => replayOf ?? offset;

/** When a record was appended itself, milliseconds; 0 for none. */
export const appendedAt = (record: SignalRecord | undefined): number => Number(record?.original.timestamp ?? 0);

/** The headers of a record: those that all signals share, then the signal's own. */
export const encodeHeaders = (signal: Pick<Signal, 'name' | 'version'>, info: RecordInfo, own: IHeaders = {}): IHeaders => ({
  ...sharedHeaders(signal, info),
  ...own,
});

/** The headers that all signals share. */
export function sharedHeaders(signal: Pick<Signal, 'name' | 'version'>, info: RecordInfo): Record<string, string> {
  return {
    signal: signal.name,
    tenant: String(info.tenantId),
    retention: String(info.retentionDays),
    count: String(info.count),
    bytes: String(info.bytes),
    sv: String(signal.version),
    encoding: info.encoding,
  };
}

/** A tick for a signal's topic (docs/topics.md), with more headers maybe. Its producer sets no time: the broker stamps it. */
export const encodeTick = (
  signal: Pick<Signal, 'name' | 'version'>,
  own: IHeaders = {},
): { readonly value: Buffer; readonly headers: IHeaders } => ({
  value: Buffer.alloc(0),
  headers: encodeHeaders(signal, { tenantId: 0, retentionDays: 0, count: 0, bytes: 0, encoding: TICK }, own),
});

/** The bounds of what ClickHouse holds of a record. */
export const MAX_TENANT = 4_294_967_295;
export const MAX_RETENTION = 65_535;

/**
 * Reads the headers of a record. One that cannot be read has a fault, no rows and nothing of its signal: its offset is consumed, and nothing is
 * stored. A tick has no fault, and neither rows nor anything of its signal.
 */
export function readRecord<Own extends SignalRecord>(signal: Signal<Own>, partition: number, message: KafkaMessage): Own | SignalRecord {
  const found = decodeRecord(signal, partition, message);
  return 'reason' in found ? unreadable(partition, message, found) : found;
}

/** The same, and the value must be what the headers state. */
export function readChecked(signal: Signal, partition: number, message: KafkaMessage): SignalRecord {
  const found = decodeRecord(signal, partition, message);
  const fault = 'reason' in found ? found : isTick(found) ? null : signal.check(found);
  return fault === null ? (found as SignalRecord) : unreadable(partition, message, fault);
}

function decodeRecord<Own extends SignalRecord>(signal: Signal<Own>, partition: number, message: KafkaMessage): Own | SignalRecord | Fault {
  const header: HeaderText = (name) => message.headers?.[name]?.toString() ?? '';
  const { value } = message;
  if (value === null) return faultOf('foreign', 'The record has no value.');
  const encoding = header('encoding');
  if (encoding !== TICK && !signal.encodings.includes(encoding))
    return faultOf('foreign', `The encoding ${JSON.stringify(encoding)} is not known.`);
  if (header('signal') !== signal.name)
    return faultOf('foreign', `The signal ${JSON.stringify(header('signal'))} is not that of the topic, ${signal.name}.`);
  if (header('sv') !== String(signal.version)) return faultOf('version', `Schema version ${JSON.stringify(header('sv'))} is not known.`);
  const [tenantId = -1, retentionDays = -1, count = -1, bytes = -1] = ['tenant', 'retention', 'count', 'bytes'].map((name) =>
    readCount(header(name)),
  );
  const isNobodys = encoding === TICK || signal.hasNoTenant === true;
  const [leastTenant, mostTenant, mostRetention] = isNobodys ? [0, 0, 0] : [1, MAX_TENANT, MAX_RETENTION];
  if (tenantId < leastTenant || tenantId > mostTenant) return faultOf('headers', 'The header tenant is not a valid tenant id.');
  if (retentionDays < 0 || retentionDays > mostRetention) return faultOf('headers', 'The header retention is not a valid number of days.');
  if (count < 0 || bytes < 0) return faultOf('headers', 'The header count or bytes is not a valid number.');
  const offset = Number(message.offset);
  const replay = readReplay(partition, offset, header);
  if (replay === null) return faultOf('headers', `The record cannot be a replay of ${JSON.stringify(header(REPLAYED_FROM))}.`);
  const common: SignalRecord = {
    ...{ tenantId, retentionDays, count, bytes, encoding, partition, offset, value },
    timestamp: replay.arrived ?? Number(message.timestamp),
    replayOf: replay.of,
    fault: null,
    original: message,
  };
  if (encoding === TICK) return tickFault(common) ?? common;
  return signal.decode(common, header);
}

/** What a record of the encoding `tick` has that a tick has not; null for nothing. */
function tickFault({ tenantId, retentionDays, count, bytes, value }: SignalRecord): Fault | null {
  if (tenantId + retentionDays + count + bytes > 0) return faultOf('headers', 'A tick has no tenant, retention, rows or bytes.');
  return value.length === 0 ? null : faultOf('rows', 'A tick has no value.');
}

/** What is wrong with a record. */
export const faultOf = (reason: Reason, detail: string): Fault => ({ reason, detail });

function unreadable(partition: number, message: KafkaMessage, fault: Fault): SignalRecord {
  const offset = Number(message.offset);
  const from = message.headers?.[REPLAYED_FROM]?.toString() ?? '';
  return {
    partition,
    offset,
    timestamp: Number(message.timestamp),
    tenantId: 0,
    retentionDays: 0,
    count: 0,
    bytes: 0,
    encoding: '',
    value: Buffer.alloc(0),
    replayOf: readReplay(partition, offset, (name) => (name === REPLAYED_FROM ? from : '0'))?.of ?? null,
    fault,
    original: message,
  };
}

/** Null where the headers are not those of a replay of an earlier record of this partition. */
function readReplay(partition: number, offset: number, header: HeaderText): { of: number | null; arrived: number | null } | null {
  const [from, arrived] = [header(REPLAYED_FROM), header(ARRIVED)];
  if (from === '') return { of: null, arrived: null };
  const [, at = '', of = ''] = /^(\d{1,9}):(\d{1,15})$/.exec(from) ?? [];
  if (of === '' || Number(at) !== partition || Number(of) >= offset || readCount(arrived) < 0) return null;
  return { of: Number(of), arrived: Number(arrived) };
}

/** What a record counts for the volume of its tenant; nothing where this service did not write it. */
export type Billed = { readonly tenantId: number; readonly bytes: number; /** Append time, milliseconds. */ readonly timestamp: number };

/** Reads of a record of any signal what it counts, and nothing else; null where it counts nothing. A replay counts nothing: its original did. */
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
