import { readResolution, type Resolution } from '../../alerting/book/resolution.ts';
import type { AbsoluteRecord } from '../../bus/producer/absolute-record.ts';
import type { KafkaMessage } from '../../bus/connection/kafka.ts';
import { encodeHeaders, faultOf, isTick, MAX_RETENTION, MAX_TENANT, readRecord } from '../../bus/records/record.ts';
import type { SignalRecord } from '../../bus/records/signal-record.ts';
import type { Signal } from '../../bus/records/signal.ts';
import { MAX_MESSAGE_BYTES } from '../../bus/records/topics.ts';
import type { Tick } from '../base/processor.ts';
import type { Position } from '../base/position.ts';
import { tickOf } from '../base/tick.ts';
import { joinedText, readJoined, type IncidentInput, type Joined } from '../../alerting/book/incidents.ts';
import type { ResolutionInput } from '../../alerting/exchange/resolution.ts';
import { MAX_PARTIAL_BYTES, type PartialOutput, type PartialInput, type Source } from '../base/partial.ts';

const DAY_MS = 86_400_000;
const ENCODING = 'partial';
const RESOLUTION = 'resolution';
const INCIDENT = 'incident';
/** The source of a partial that stands for itself. */
const ITSELF = 'self';
/** Of records that are not partials: each stands for itself. */
const OTHERS: readonly string[] = [RESOLUTION, INCIDENT];
/** The encodings that releases before had for partials of mergers, and whose they were. */
const FORMER = new Map([
  ['finding', 'custom-detectors'],
  ['values', 'rule-alerts'],
]);

/** A record of `partials.v1`, as it is read. */
type PartialRecord = SignalRecord & Pick<PartialInput, 'processor'> & { readonly source: Source | null };

/** Partials, in their tenants' partitions; resolutions and incidents of alerts. No table. */
export const partialsSignal: Signal<PartialRecord> = {
  name: 'partials',
  topic: {
    name: 'partials.v1',
    partitions: 'configured',
    cleanup: 'delete',
    retentionMs: 7 * DAY_MS,
    maxMessageBytes: MAX_MESSAGE_BYTES,
    timestamps: 'append',
  },
  version: 1,
  encodings: [ENCODING, ...FORMER.keys(), ...OTHERS],
  decode(record, header) {
    if (OTHERS.includes(record.encoding)) return { ...record, processor: '', source: null };
    const former = FORMER.get(record.encoding);
    if (former !== undefined) return { ...record, processor: former, source: null };
    const processor = header('processor');
    const source = readSource(header('source'));
    if ((source === null && header('source') !== ITSELF) || processor === '')
      return faultOf('headers', 'The header source or processor is not one of a partial.');
    return { ...record, processor, source };
  },
  check: () => null,
  rowEnds: () => null,
};

/**
 * The record of a partial; one of a merger stands for itself and has no source. Its key is the tenant, and Kafka's usual partitioner chooses
 * the partition by it: one for each tenant, as long as the topic has as many partitions as it was made with.
 */
export function partialRecord(
  processor: string,
  source: Source | null,
  { tenantId, retentionDays, value }: Omit<PartialOutput, 'kind'> & Partial<PartialOutput>,
): AbsoluteRecord {
  // what a reader would refuse would be lost there, so it throws here
  if (!isCount(tenantId, MAX_TENANT) || tenantId === 0) throw new Error(`A partial has no tenant ${JSON.stringify(tenantId)}.`);
  if (!isCount(retentionDays, MAX_RETENTION)) throw new Error(`A partial has no retention class ${JSON.stringify(retentionDays)}.`);
  if (!Buffer.isBuffer(value)) throw new Error('A partial must have a Buffer as its value.');
  if (value.length > MAX_PARTIAL_BYTES)
    throw new Error(`A partial has ${String(value.length)} bytes; at most ${String(MAX_PARTIAL_BYTES)} are taken.`);
  const info = { tenantId, retentionDays, count: 1, bytes: 0, encoding: ENCODING };
  const place = source === null ? ITSELF : [source.partition, source.offset, source.number, source.appendedAt].join(':');
  return {
    topic: partialsSignal.topic.name,
    partition: null,
    key: String(tenantId),
    value,
    headers: encodeHeaders(partialsSignal, info, { processor, source: place }),
  };
}

type Encoding = typeof RESOLUTION | typeof INCIDENT;

/** A record that is not a partial, among those of its tenant. */
const otherRecord = (encoding: Encoding, tenantId: number, retentionDays: number, value: Buffer): AbsoluteRecord => ({
  topic: partialsSignal.topic.name,
  partition: null,
  key: String(tenantId),
  value,
  headers: encodeHeaders(partialsSignal, { tenantId, retentionDays, count: 1, bytes: 0, encoding }),
});

/** The record of a resolution. */
export const resolutionRecord = ({ alert, note }: Resolution): AbsoluteRecord =>
  otherRecord(RESOLUTION, alert.tenantId, alert.retentionDays, Buffer.from(JSON.stringify({ alert, note })));

/** The record that announces an alert's incident. */
export const incidentRecord = (tenantId: number, retentionDays: number, joined: Joined): AbsoluteRecord =>
  otherRecord(INCIDENT, tenantId, retentionDays, joinedText(joined));

/** What is read on `partials.v1`. */
export type HostedInput = PartialInput | ResolutionInput | IncidentInput | Tick;

/** What mergers see of a record. One that is not a partial, or cannot be read, counts as a tick: time has passed. */
export function partialInputOf(partition: number, message: KafkaMessage): HostedInput {
  const [offset, appendedAt] = [Number(message.offset), Number(message.timestamp)];
  const record = readRecord(partialsSignal, partition, message);
  if (isTick(record)) return tickOf({ partition, offset, appendedAt }, message);
  const at = { partition, offset, appendedAt };
  if (record.fault !== null) return { kind: 'tick', ...at };
  const { tenantId, retentionDays, value, processor, source, encoding } = record as PartialRecord;
  if (!OTHERS.includes(encoding))
    return { kind: 'partial', ...at, tenantId, retentionDays, value, processor, source: source ?? { ...at, number: 0 } };
  return otherInputOf(record as PartialRecord, at) ?? { kind: 'tick', ...at };
}

/** What is not a partial; null where it cannot be read. */
function otherInputOf({ encoding, value, tenantId }: PartialRecord, at: Position): HostedInput | null {
  if (encoding === RESOLUTION) {
    const resolution = readResolution(value, tenantId);
    return resolution && { kind: 'resolution', ...at, ...resolution };
  }
  const joined = readJoined(value);
  return joined && { kind: 'incident', ...at, tenantId, ...joined };
}

const isCount = (number: number, most: number): boolean => Number.isInteger(number) && number >= 0 && number <= most;

function readSource(text: string): Source | null {
  if (!/^\d{1,9}(:\d{1,15}){3}$/.test(text)) return null;
  const [partition, offset, number, appendedAt] = text.split(':').map(Number) as [number, number, number, number];
  return { partition, offset, number, appendedAt };
}
