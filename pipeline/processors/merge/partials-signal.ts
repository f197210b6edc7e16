import type { AbsoluteRecord } from '../../bus/producer/absolute-record.ts';
import type { KafkaMessage } from '../../bus/connection/kafka.ts';
import { encodeHeaders, faultOf, isTick, MAX_RETENTION, MAX_TENANT, readRecord } from '../../bus/records/record.ts';
import type { SignalRecord } from '../../bus/records/signal-record.ts';
import type { Signal } from '../../bus/records/signal.ts';
import { MAX_MESSAGE_BYTES } from '../../bus/records/topics.ts';
import { tickOf } from '../base/tick.ts';
import type { MergerInput } from './merger.ts';
import { MAX_PARTIAL_BYTES, placeText, readPlace, type PartialOutput, type PartialInput, type Source } from '../base/partial.ts';

const DAY_MS = 86_400_000;
const ENCODING = 'partial';
/** The source of a partial that stands for itself. */
const ITSELF = 'self';
/** The encodings that releases before had for other records, and whose partials these are now: nobody takes `incidents`. */
const FORMER = new Map([
  ['finding', 'custom-detectors'],
  ['values', 'rule-alerts'],
  ['resolution', 'resolutions'],
  ['incident', 'incidents'],
]);

/** A record of `partials.v1`, as it is read. */
type PartialRecord = SignalRecord & Pick<PartialInput, 'processor'> & { readonly source: Source | null };

/** Partials, in their tenants' partitions. No table. */
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
  encodings: [ENCODING, ...FORMER.keys()],
  decode(record, header) {
    const former = FORMER.get(record.encoding);
    if (former !== undefined) return { ...record, processor: former, source: null };
    const processor = header('processor');
    const source = readPlace(header('source'));
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
  const place = source === null ? ITSELF : placeText(source);
  return {
    topic: partialsSignal.topic.name,
    partition: null,
    key: String(tenantId),
    value,
    headers: encodeHeaders(partialsSignal, info, { processor, source: place }),
  };
}

/** What mergers see of a record. One that cannot be read counts as a tick: time has passed. */
export function partialInputOf(partition: number, message: KafkaMessage): MergerInput {
  const [offset, appendedAt] = [Number(message.offset), Number(message.timestamp)];
  const record = readRecord(partialsSignal, partition, message);
  if (isTick(record)) return tickOf({ partition, offset, appendedAt }, message);
  const at = { partition, offset, appendedAt };
  if (record.fault !== null) return { kind: 'tick', ...at };
  const { tenantId, retentionDays, value, processor, source } = record as PartialRecord;
  return { kind: 'partial', ...at, tenantId, retentionDays, value, processor, source: source ?? { ...at, number: 0 } };
}

const isCount = (number: number, most: number): boolean => Number.isInteger(number) && number >= 0 && number <= most;
