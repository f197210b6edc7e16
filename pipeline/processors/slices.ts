import type { Fold, Position } from './processor.ts';

/** A snapshot in slices: all of it at once where the processor has none. */
export function* slicesOf<State>(
  processor: Pick<Fold<State, Position, unknown>, 'slices' | 'snapshot'>,
  state: State,
): Generator<undefined, Buffer> {
  return processor.slices === undefined ? processor.snapshot(state) : yield* processor.slices(state);
}

/** What slices give in the end, at once. */
export function whole<Result>(slices: Generator<unknown, Result>): Result {
  for (;;) {
    const { done, value } = slices.next();
    if (done === true) return value;
  }
}
