import type { LogBatch } from '../bus/log-reader.ts';

/**
 * A fold over `logs.v1`, partition by partition. The state is a pure function of the partition's records before the offset `next`:
 * no clock, no chance, no other partition. So any snapshot is a right one, and whoever reads on from it comes to the same state.
 */
export interface Processor<State extends { readonly next: number }> {
  /** Names the consumer group and the service: `usage`. */
  readonly name: string;
  empty(): State;
  /** The state after a batch; the state before is used up. Records before `next` are in it already. */
  fold(state: State, batch: LogBatch): State;
  /** A partition's record on the compacted topic. */
  encode(partition: number, state: State): { readonly key: string; readonly value: string };
  /** Reads a record of the topic; null for what is no snapshot. */
  decode(key: string, value: string | null): { readonly partition: number; readonly state: State } | null;
}
