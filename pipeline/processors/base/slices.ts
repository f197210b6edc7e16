import type { Fold } from './processor.ts';
import type { Position } from './position.ts';

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

/** Copied in one slice. */
const COPIED_BYTES = 4 * 1024 * 1024;

/** What `Buffer.concat` gives, in slices: to copy a large snapshot takes long, too. */
export function* joined(parts: readonly Buffer[]): Generator<undefined, Buffer> {
  const all = Buffer.allocUnsafe(parts.reduce((sum, { length }) => sum + length, 0));
  let to = 0;
  for (const part of parts)
    for (let at = 0; at < part.length; at += COPIED_BYTES) {
      to += part.copy(all, to, at, at + COPIED_BYTES);
      if (at + COPIED_BYTES < part.length) yield;
    }
  return all;
}
