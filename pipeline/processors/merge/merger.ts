import type { AbsoluteRecord } from '../../bus/producer/absolute-record.ts';
import type { Measure } from '../../counters/measure.ts';
import type { Configurable, Fold, Tick } from '../base/processor.ts';
import type { FindingInput } from './finding.ts';
import type { IncidentInput } from './incidents.ts';
import type { PartialInput } from '../base/partial.ts';
import type { ResolutionInput } from './resolution.ts';
import type { ValuesInput } from './rule-values.ts';

/** What a merger takes: partials of its processors, each once, and time that passes on `partials.v1`, by ticks and partials of others. */
export type MergerInput = PartialInput | Tick;

/**
 * The second stage of what spans partitions: a fold over the partials of a processor, whichever partitions of the log they come from. All those
 * of a tenant come to one owner, in an order that keeps each source's own. Its measures may be published again; the last of each counts.
 */
export interface Merger<State = unknown> extends Fold<State, MergerInput, AbsoluteRecord | Measure>, Configurable<State> {
  /** The name of the processor whose partials it takes. */
  readonly of: string;
  /** The names of others whose partials it takes as well. */
  readonly alsoOf?: readonly string[];
  /** Takes a user's resolution of an alert, maybe more than once; for mergers without it time has passed. */
  resolve?(state: State, input: ResolutionInput): readonly (AbsoluteRecord | Measure)[];
  /** Takes what a detector of one's own has found, maybe more than once; for mergers without it time has passed. */
  hear?(state: State, input: FindingInput): readonly (AbsoluteRecord | Measure)[];
  /** Takes which incident an alert of any merger has joined, maybe more than once; for mergers without it time has passed. */
  join?(state: State, input: IncidentInput): readonly (AbsoluteRecord | Measure)[];
  /** Takes the values of a rule that a detector of one's own watches, maybe more than once; for mergers without it time has passed. */
  watch?(state: State, input: ValuesInput): readonly (AbsoluteRecord | Measure)[];
}
