import type { AbsoluteRecord } from '../../bus/producer/absolute-record.ts';
import type { KafkaMessage } from '../../bus/connection/kafka.ts';
import { encodeHeaders, faultOf, isTick, MAX_RETENTION, MAX_TENANT, readRecord } from '../../bus/records/record.ts';
import type { SignalRecord } from '../../bus/records/signal-record.ts';
import type { Signal } from '../../bus/records/signal.ts';
import { MAX_MESSAGE_BYTES } from '../../bus/records/topics.ts';
import { tickOf } from '../base/tick.ts';
import type { MergerInput, Merger } from './merger.ts';
import { MAX_PARTIAL_BYTES, placeText, readPlace, type PartialOutput, type PartialInput, type Source } from '../base/partial.ts';
import type { Measure } from '../../counters/measure.ts';
import { measureRecords } from '../../counters/measure-records.ts';
import type { Configurable, Fold, Tick } from '../base/processor.ts';
import type { Position } from '../base/position.ts';
import { withSettings } from '../settings/with-settings.ts';
import { joined, slicesOf } from '../base/slices.ts';
import { isOn } from '../../core/fault-points.ts';
import { ByteReader, ByteWriter, unlessCutOff } from '../../core/snapshot-bytes.ts';
import { Taken } from '../base/taken.ts';

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

/** A processor as it is hosted: its partials are records that say who emitted them at which record. One with settings gets them. */
export const hostedProcessor = <In extends (Position & { readonly kind: string }) | Tick>(
  processor: Fold<unknown, In, AbsoluteRecord | PartialOutput> & Configurable<unknown>,
): Fold<unknown, In> =>
  withPartials<In>(
    processor.configure === undefined ? processor : (withSettings(processor) as Fold<unknown, In, AbsoluteRecord | PartialOutput>),
  );

const withPartials = <In extends Position>(processor: Fold<unknown, In, AbsoluteRecord | PartialOutput>): Fold<unknown, In> => ({
  name: processor.name,
  init: () => processor.init(),
  fold(state, input: In) {
    let number = 0;
    return processor.fold(state, input).map((output: AbsoluteRecord | PartialOutput) => {
      if (!('kind' in output)) return output;
      if ((output.kind as string) !== 'partial')
        throw new Error(`A processor gives partials and records; ${JSON.stringify(output.kind)} is for a merger.`);
      const { partition, offset, appendedAt } = input;
      return partialRecord(processor.name, { partition, offset, appendedAt, number: number++ }, output);
    });
  },
  ...(processor.news === undefined ? {} : { news: (state, partition, next) => processor.news?.(state, partition, next) ?? [] }),
  ...(processor.lacks === undefined ? {} : { lacks: (state, settings) => processor.lacks?.(state, settings) ?? [] }),
  snapshot: (state) => processor.snapshot(state),
  ...(processor.slices === undefined ? {} : { slices: (state) => slicesOf(processor, state) }),
  restore: (bytes) => processor.restore(bytes),
});

/** A merger with its settings, where it has some. */
const ownOf = (merger: Merger): Merger =>
  merger.configure === undefined
    ? merger
    : { ...takesOf(merger), ...(withSettings(merger) as Fold<unknown, MergerInput, AbsoluteRecord | Measure>) };

/** Whose partials it takes. */
const takesOf = ({ of, alsoOf, ofMergers }: Merger): Pick<Merger, 'of' | 'alsoOf' | 'ofMergers'> => ({
  of,
  ...(alsoOf && { alsoOf }),
  ...(ofMergers && { ofMergers }),
});

const timeOf = ({ partition, offset, appendedAt }: Position): Tick => ({ kind: 'tick', partition, offset, appendedAt });

/** The state of a merger, and what it has had of each of its processors. */
type Merging = { readonly taken: ReadonlyMap<string, Taken>; readonly state: unknown };

const TAKES_ONCE = isOn('state-taken');

/** What stands in a snapshot before what was had of the other processors; one without has nothing of them. */
const OTHERS = Buffer.from('\0others\n');

/**
 * A merger as it is hosted: it gets each partial of its processor once, however often that is on the topic, and its measures are rows whose
 * version is the offset of what they were found at.
 */
export const hostedMerger = (merger: Merger): Fold<Merging, MergerInput> => takingOnce(ownOf(merger));

const takingOnce = (merger: Merger): Fold<Merging, MergerInput> => ({
  name: merger.name,
  init: () => ({ taken: takenOf(merger), state: merger.init() }),
  fold({ taken, state }, input) {
    const own = input.kind === 'partial' ? taken.get(input.processor) : undefined;
    const isKnown = input.kind === 'partial' && own?.take(input.source) === false;
    if (isKnown && TAKES_ONCE) return [];
    const isOther = input.kind === 'partial' && own === undefined && merger.ofMergers?.includes(input.processor) !== true;
    // of partials of others it sees that time has passed
    const outputs = merger.fold(state, isOther ? timeOf(input) : input);
    const measures = outputs.filter((output): output is Measure => 'kind' in output);
    const other = measures.find(({ kind }) => (kind as string) !== 'measure');
    if (other !== undefined) throw new Error(`A merger gives measures and records, not ${JSON.stringify(other.kind)}.`);
    const records = outputs.filter((output): output is AbsoluteRecord => !('kind' in output));
    return [...records, ...measureRecords(input.partition, measures, input.offset)];
  },
  ...(merger.news === undefined ? {} : { news: ({ state }, partition, next) => merger.news?.(state, partition, next) ?? [] }),
  ...(merger.lacks === undefined ? {} : { lacks: ({ state }, settings) => merger.lacks?.(state, settings) ?? [] }),
  ...(merger.isBehind === undefined ? {} : { isBehind: ({ state }) => merger.isBehind?.(state) ?? false }),
  snapshot: ({ taken, state }) => Buffer.concat([...takenParts(taken), merger.snapshot(state)]),
  ...(merger.slices === undefined
    ? {}
    : {
        *slices({ taken, state }) {
          return yield* joined([...takenParts(taken), yield* slicesOf(merger, state)]);
        },
      }),
  restore(bytes) {
    return unlessCutOff(() => {
      const { taken, rest } = readTaken(merger, bytes);
      const state = merger.restore(rest);
      return state === null ? null : { taken, state };
    });
  },
});

const takenOf = ({ of, alsoOf = [] }: Merger): Map<string, Taken> => new Map([of, ...alsoOf].map((name) => [name, new Taken()]));

/** What stands before the state of a merger in its snapshot. */
function takenParts(taken: ReadonlyMap<string, Taken>): Buffer[] {
  const [first, ...others] = [...taken.values()].map(takenBytes);
  return [first as Buffer, ...(others.length === 0 ? [] : [OTHERS, ...others])];
}

function takenBytes(taken: Taken): Buffer {
  const to = new ByteWriter();
  taken.write(to);
  return to.finish();
}

/** What a snapshot says was had, and what follows; an older one knows the first processor alone. */
function readTaken(merger: Merger, bytes: Buffer): { readonly taken: Map<string, Taken>; readonly rest: Buffer } {
  const taken = takenOf(merger);
  const [first, ...others] = taken.keys();
  let from = new ByteReader(bytes);
  taken.set(first as string, Taken.read(from));
  let rest = from.rest();
  if (others.length > 0 && rest.subarray(0, OTHERS.length).equals(OTHERS)) {
    from = new ByteReader(rest, OTHERS.length);
    for (const name of others) taken.set(name, Taken.read(from));
    rest = from.rest();
  }
  return { taken, rest };
}
