import { readResolution, type Resolution } from '../../alerts/resolution.ts';
import type { AbsoluteRecord } from '../../bus/producer/absolute-record.ts';
import type { KafkaMessage } from '../../bus/connection/kafka.ts';
import { encodeHeaders, faultOf, isTick, MAX_RETENTION, MAX_TENANT, readRecord } from '../../bus/records/record.ts';
import type { SignalRecord } from '../../bus/records/signal-record.ts';
import type { Signal } from '../../bus/records/signal.ts';
import { MAX_MESSAGE_BYTES } from '../../bus/records/topics.ts';
import type { Position, Tick } from '../base/processor.ts';
import { tickOf } from '../base/tick.ts';
import { findingValue, readFinding, type FindingInput, type StreamFinding } from './finding.ts';
import { joinedText, readJoined, type IncidentInput, type Joined } from './incidents.ts';
import type { ResolutionInput } from './resolution.ts';
import { readValues, valuesText, type RuleValues, type ValuesInput } from './rule-values.ts';
import { MAX_PARTIAL_BYTES, type PartialOutput, type PartialInput, type Source } from '../base/partial.ts';

const DAY_MS = 86_400_000;
const ENCODING = 'partial';
const RESOLUTION = 'resolution';
const FINDING = 'finding';
const VALUES = 'values';
const INCIDENT = 'incident';
/** Of records that are not partials: each stands for itself. */
const OTHERS: readonly string[] = [RESOLUTION, FINDING, VALUES, INCIDENT];

/** A record of `partials.v1`, as it is read. */
type PartialRecord = SignalRecord & Pick<PartialInput, 'processor' | 'source'>;

const NO_SOURCE: Source = { partition: 0, offset: 0, number: 0, appendedAt: 0 };

/** Partials, in their tenants' partitions; resolutions and incidents of alerts; values for detectors of others, and findings. No table. */
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
  encodings: [ENCODING, ...OTHERS],
  decode(record, header) {
    if (OTHERS.includes(record.encoding)) return { ...record, processor: '', source: NO_SOURCE };
    const source = readSource(header('source'));
    const processor = header('processor');
    if (source === null || processor === '') return faultOf('headers', 'The header source or processor is not one of a partial.');
    return { ...record, processor, source };
  },
  check: () => null,
  rowEnds: () => null,
};

/**
 * The record of a partial. Its key is the tenant, and Kafka's usual partitioner chooses the partition by it: one for each tenant, as long as the
 * topic has as many partitions as it was made with.
 */
export function partialRecord(processor: string, source: Source, { tenantId, retentionDays, value }: PartialOutput): AbsoluteRecord {
  // what a reader would refuse would be lost there, so it throws here
  if (!isCount(tenantId, MAX_TENANT) || tenantId === 0) throw new Error(`A partial has no tenant ${JSON.stringify(tenantId)}.`);
  if (!isCount(retentionDays, MAX_RETENTION)) throw new Error(`A partial has no retention class ${JSON.stringify(retentionDays)}.`);
  if (!Buffer.isBuffer(value)) throw new Error('A partial must have a Buffer as its value.');
  if (value.length > MAX_PARTIAL_BYTES)
    throw new Error(`A partial has ${String(value.length)} bytes; at most ${String(MAX_PARTIAL_BYTES)} are taken.`);
  const info = { tenantId, retentionDays, count: 1, bytes: 0, encoding: ENCODING };
  const { partition, offset, number, appendedAt } = source;
  return {
    topic: partialsSignal.topic.name,
    partition: null,
    key: String(tenantId),
    value,
    headers: encodeHeaders(partialsSignal, info, { processor, source: [partition, offset, number, appendedAt].join(':') }),
  };
}

type Encoding = typeof RESOLUTION | typeof FINDING | typeof VALUES | typeof INCIDENT;

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

/** The record of what a detector of one's own has found. */
export const findingRecord = (tenantId: number, retentionDays: number, found: StreamFinding): AbsoluteRecord =>
  otherRecord(FINDING, tenantId, retentionDays, findingValue(found));

/** The record of a rule's values for a detector of one's own. */
export const valuesRecord = (tenantId: number, retentionDays: number, values: RuleValues): AbsoluteRecord =>
  otherRecord(VALUES, tenantId, retentionDays, valuesText(values));

/** The record that announces an alert's incident. */
export const incidentRecord = (tenantId: number, retentionDays: number, joined: Joined): AbsoluteRecord =>
  otherRecord(INCIDENT, tenantId, retentionDays, joinedText(joined));

/** What is read on `partials.v1`. */
export type HostedInput = PartialInput | ResolutionInput | FindingInput | ValuesInput | IncidentInput | Tick;

/** What mergers see of a record. One that is not a partial, or cannot be read, counts as a tick: time has passed. */
export function partialInputOf(partition: number, message: KafkaMessage): HostedInput {
  const [offset, appendedAt] = [Number(message.offset), Number(message.timestamp)];
  const record = readRecord(partialsSignal, partition, message);
  if (isTick(record)) return tickOf({ partition, offset, appendedAt }, message);
  const at = { partition, offset, appendedAt };
  if (record.fault !== null) return { kind: 'tick', ...at };
  const { tenantId, retentionDays, value, processor, source, encoding } = record as PartialRecord;
  if (!OTHERS.includes(encoding)) return { kind: 'partial', ...at, tenantId, retentionDays, value, processor, source };
  return otherInputOf(record as PartialRecord, at) ?? { kind: 'tick', ...at };
}

/** What is not a partial; null where it cannot be read. */
function otherInputOf({ encoding, value, tenantId, retentionDays }: PartialRecord, at: Position): HostedInput | null {
  if (encoding === RESOLUTION) {
    const resolution = readResolution(value, tenantId);
    return resolution && { kind: 'resolution', ...at, ...resolution };
  }
  if (encoding === FINDING) {
    const found = readFinding(value);
    return found && { kind: 'finding', ...at, tenantId, ...found };
  }
  if (encoding === INCIDENT) {
    const joined = readJoined(value);
    return joined && { kind: 'incident', ...at, tenantId, ...joined };
  }
  const values = readValues(value);
  return values && { kind: 'values', ...at, tenantId, retentionDays, ...values };
}

const isCount = (number: number, most: number): boolean => Number.isInteger(number) && number >= 0 && number <= most;

function readSource(text: string): Source | null {
  if (!/^\d{1,9}(:\d{1,15}){3}$/.test(text)) return null;
  const [partition, offset, number, appendedAt] = text.split(':').map(Number) as [number, number, number, number];
  return { partition, offset, number, appendedAt };
}
