import type { AbsoluteRecord } from '../../bus/producer/absolute-record.ts';
import type { ColumnsView } from '../../logs/columns/column-reader.ts';
import type { RecordStreams } from '../../logs/record-streams.ts';
import type { PartialOutput } from './partial.ts';
import type { Position } from './position.ts';
import type { Setting, SettingRules } from '../../core/setting.ts';

/** One record of the log, as processors see it. Its views are valid until `fold` returns. */
export type Batch = Position & {
  readonly kind: 'batch';
  readonly tenantId: number;
  /** Retention class in days; 0 keeps for ever. */
  readonly retentionDays: number;
  /** Billable bytes of the requests whose first record this is; 0 of a replay, whose original counted. */
  readonly bytes: number;
  /** The entries; null where the record has none. */
  readonly columns: ColumnsView | null;
  readonly streams: RecordStreams;
};

/** A record that advances the time, and maybe sets something for a processor from here on. */
export type Tick = Position & { readonly kind: 'tick'; readonly setting?: Setting };

export type Input = Batch | Tick;

/**
 * A fold over a topic, partition by partition (docs/adr/0023-one-reader-for-every-processor.md). No clock, no chance, no other partition:
 * the state is a function of the records before an offset, and the outputs are those of the records, however these are cut into batches.
 */
export interface Fold<State = unknown, In extends Position = Input, Out = AbsoluteRecord> {
  /** Names the topic of its state and the metrics: `volume`. */
  readonly name: string;
  /** The state before the first record of a partition. */
  init(): State;
  /** Takes an input into the state. */
  fold(state: State, input: In): readonly Out[];
  /**
   * What has changed since the last call, in records that stand for themselves; called every half second. What it returns is not part
   * of the state. For processors whose readers want to know soon, and who need only the last version.
   */
  news?(state: State, partition: number, next: number): readonly AbsoluteRecord[];
  snapshot(state: State): Buffer;
  /**
   * The same bytes as of `snapshot`, for states that take long: at each `yield` the event loop may turn. No input is folded until it is done.
   */
  slices?(state: State): Generator<undefined, Buffer>;
  /** The state of a snapshot; null where it cannot be read: then the partition is folded from the beginning. */
  restore(bytes: Buffer): State | null;
  /** True while it has so much left to do of what it took that no more is to be read. */
  isBehind?(state: State): boolean;
  /** Which of these settings are for it, and newer than those that it has. */
  lacks?(state: State, settings: readonly Setting[]): readonly Setting[];
}

/** What makes a processor configurable by operators (`logweir admin processors set`): all of it, or nothing. */
export interface Configurable<State> extends SettingRules {
  /** The names of other processors whose settings it gets as well. Their keys must not be its own. */
  readonly hears?: readonly string[];
  /**
   * Takes a setting into the state: it was checked, but maybe by another release. Each stands for itself: repeated it changes nothing, nor
   * does the order of different ones. It comes again after `restore`, so that snapshots need not have it.
   */
  configure?(state: State, setting: Setting): void;
}

/** A fold over `logs.v1`, whose outputs may be partials for a merger (docs/adr/0024-what-spans-partitions.md). */
export type Processor<State = unknown> = Fold<State, Input, AbsoluteRecord | PartialOutput> & Configurable<State>;
