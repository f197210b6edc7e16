import type { AbsoluteRecord } from '../../bus/producer/absolute-record.ts';
import type { Measure } from '../../counters/measure.ts';
import type { Configurable, Fold, Tick } from '../base/processor.ts';
import type { PartialInput } from '../base/partial.ts';

/** What a merger takes: partials of its processors, each once, and time that passes on `partials.v1`, by ticks and partials of others. */
export type MergerInput = PartialInput | Tick;

/**
 * Who merges what spans partitions: a fold over the partials of a processor, whichever partitions of the log they come from. All those
 * of a tenant come to one owner, in an order that keeps each source's own. Its measures may be published again; the last of each counts.
 */
export interface Merger<State = unknown> extends Fold<State, MergerInput, AbsoluteRecord | Measure>, Configurable<State> {
  /** The name of the processor whose partials it takes. */
  readonly of: string;
  /** The names of others whose partials it takes as well. */
  readonly alsoOf?: readonly string[];
  /** The names of mergers whose partials it takes. These stand for themselves: they may come more than once. */
  readonly ofMergers?: readonly string[];
}
