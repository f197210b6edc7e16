/** Which samples of a series lie in the window of each step. */
/** The windows of all steps: each begins behind a time and ends with one. */
export type WindowTimes = {
  readonly steps: number;
  /** The end of a step's window, and its own time: milliseconds. */
  readonly ends: Float64Array;
  readonly times: Float64Array;
  /** Milliseconds of a window. */
  readonly length: number;
};

/** From `from[step]` up to before `to[step]`. */
export type Cut = {
  readonly from: Int32Array;
  readonly to: Int32Array;
  /** Several series have it: what follows from their times alone is worked out once. */
  readonly isShared: boolean;
};

/** Cuts at times; ends of windows only grow. */
export function cutOf(times: Float64Array, { steps, ends, length }: WindowTimes): Cut {
  const from = new Int32Array(steps);
  const to = new Int32Array(steps);
  const count = times.length;
  let first = 0;
  let last = 0;
  let next = count > 0 ? (times[0] as number) : Infinity;
  let oldest = next;
  for (let step = 0; step < steps; step += 1) {
    const end = ends[step] as number;
    while (last < count && next <= end) {
      last += 1;
      next = last < count ? (times[last] as number) : Infinity;
    }
    while (first < last && oldest <= end - length) {
      first += 1;
      oldest = first < count ? (times[first] as number) : Infinity;
    }
    from[step] = first;
    to[step] = last;
  }
  return { from, to, isShared: false };
}

/** What is kept of cuts, bytes, with what functions work out of them; and after so many series of which no two had the same times nothing more is. */
const KEPT_BYTES = 6 * 1024 * 1024;
/** What a function may work out of a cut for each step. */
const DERIVED_BYTES = 16;
const TRIED = 256;

type Known = Cut & { readonly times: Float64Array };

/** Cuts of several series by the same windows. Series that are scraped together have the same times, and one cut. */
export class Cuts {
  readonly #shape: WindowTimes;
  /** By the first time. */
  readonly #known = new Map<number, Known>();
  #bytes = 0;
  #missed = 0;
  #hasHit = false;

  constructor(shape: WindowTimes) {
    this.#shape = shape;
  }

  of(times: Float64Array): Cut {
    const first = times[0] ?? NaN;
    const known = this.#known.get(first);
    if (known !== undefined && isSame(known.times, times)) {
      this.#hasHit = true;
      return known;
    }
    const cut = cutOf(times, this.#shape);
    this.#missed += 1;
    if (this.#hasHit || this.#missed <= TRIED) this.#keep(first, { ...cut, isShared: true, times: times.slice() });
    return cut;
  }

  #keep(first: number, known: Known): void {
    this.#forget(first);
    this.#known.set(first, known);
    this.#bytes += sizeOf(known);
    for (const oldest of this.#known.keys()) {
      if (this.#bytes <= KEPT_BYTES) break;
      this.#forget(oldest);
    }
  }

  #forget(first: number): void {
    const known = this.#known.get(first);
    if (known === undefined) return;
    this.#known.delete(first);
    this.#bytes -= sizeOf(known);
  }
}

const sizeOf = ({ times, from, to }: Known): number => times.byteLength + from.byteLength + to.byteLength + DERIVED_BYTES * from.length;

const isSame = (a: Float64Array, b: Float64Array): boolean => a.length === b.length && bytesOf(a).equals(bytesOf(b));
const bytesOf = ({ buffer, byteOffset, byteLength }: Float64Array): Buffer => Buffer.from(buffer, byteOffset, byteLength);
