import type { AbsoluteRecord } from '../../bus/producer/absolute-record.ts';
import type { Measure } from '../../counters/measure.ts';
import { measureRecords } from '../../counters/measure-records.ts';
import type { Fold, Processor, Tick } from '../base/processor.ts';
import type { Position } from '../base/position.ts';
import { withSettings } from '../settings/with-settings.ts';
import { joined, slicesOf } from '../base/slices.ts';
import { isOn } from '../../core/fault-points.ts';
import { ByteReader, ByteWriter, CutOff } from '../../core/snapshot-bytes.ts';
import type { Merger, MergerInput } from './merger.ts';
import { partialRecord } from './partials-signal.ts';
import type { PartialOutput } from '../base/partial.ts';
import { Taken } from '../base/taken.ts';

/** A processor as it is hosted: its partials are records that say who emitted them at which record. One with settings gets them. */
export const hostedProcessor = (processor: Processor): Fold =>
  staged(processor.configure === undefined ? processor : withSettings(processor));

/** The same of a processor of another topic's records. */
export const staged = <In extends Position>(processor: Fold<unknown, In, AbsoluteRecord | PartialOutput>): Fold<unknown, In> => ({
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
export const hostedMerger = (merger: Merger): Fold<Merging, MergerInput> => mergedStage(ownOf(merger));

const mergedStage = (merger: Merger): Fold<Merging, MergerInput> => ({
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
    try {
      const { taken, rest } = readTaken(merger, bytes);
      const state = merger.restore(rest);
      return state === null ? null : { taken, state };
    } catch (error) {
      if (error instanceof CutOff) return null;
      throw error;
    }
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
