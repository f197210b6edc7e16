/** Relative error of a quantile. */
const ALPHA = 0.01;
const GAMMA = (1 + ALPHA) / (1 - ALPHA);
const LOG_GAMMA = Math.log(GAMMA);
/** Bins of a sign: the largest is 7e8 times the smallest that is distinguished. */
const MOST_BINS = 1024;
/** What is nearer to 0 counts as 0. */
const LEAST = 1e-12;
/** More bins than a sketch has, by index. */
const MOST_INDEX = 100_000;

/** A sketch as JSON has it: zeros, then index and count of each bin of the positive numbers, and of the negative ones by their size. */
export type SketchJson = readonly [number, readonly number[], readonly number[]];

/** Counts by the logarithm of a size; the lowest bins become one where there are too many, in whichever order they came. */
class Bins {
  readonly #counts = new Map<number, number>();
  #highest = -Infinity;
  #lowest = Infinity;
  total = 0;

  add(index: number, count: number): void {
    if (index > this.#highest) {
      this.#highest = index;
      this.#collapse();
    }
    const at = Math.max(index, this.#highest - MOST_BINS + 1);
    if (at < this.#lowest) this.#lowest = at;
    this.#counts.set(at, (this.#counts.get(at) ?? 0) + count);
    this.total += count;
  }

  #collapse(): void {
    const floor = this.#highest - MOST_BINS + 1;
    if (this.#lowest >= floor) return;
    let below = 0;
    for (const [index, count] of this.#counts)
      if (index < floor) {
        below += count;
        this.#counts.delete(index);
      }
    this.#counts.set(floor, (this.#counts.get(floor) ?? 0) + below);
    this.#lowest = floor;
  }

  get size(): number {
    return this.#counts.size;
  }

  /** Index and count, by index. */
  get sorted(): [number, number][] {
    return [...this.#counts].sort(([a], [b]) => a - b);
  }

  /** The index of the number of this rank, from 0 on, from the lowest bin on. */
  at(rank: number): number {
    let left = rank;
    for (const [index, count] of this.sorted) {
      if (left < count) return index;
      left -= count;
    }
    return this.#highest;
  }
}

const indexOf = (size: number): number => Math.ceil(Math.log(size) / LOG_GAMMA);
const sizeOf = (index: number): number => (2 * GAMMA ** index) / (GAMMA + 1);

/**
 * Quantiles of any number of finite numbers in bounded space, within 1 % of the number that has the rank: DDSketch (Masson, Rim and Lee, "DDSketch: a
 * fast and fully-mergeable quantile sketch with relative-error guarantees", VLDB 2019) with at most 1,024 bins for each sign. Where numbers of one
 * sign span more than a factor of 7e8, those next to 0 are reported too large. The sketch of a union is the union of the sketches.
 */
export class DDSketch {
  static readonly error = ALPHA;
  readonly #positive = new Bins();
  readonly #negative = new Bins();
  #zeros = 0;

  get count(): number {
    return this.#zeros + this.#positive.total + this.#negative.total;
  }

  /** Bins of both signs. */
  get bins(): number {
    return this.#positive.size + this.#negative.size;
  }

  add(value: number): void {
    const size = Math.abs(value);
    if (size < LEAST) this.#zeros += 1;
    else (value > 0 ? this.#positive : this.#negative).add(indexOf(size), 1);
  }

  /** The number at place ⌊phi·n⌋ in their order, from 0 on, the last one at most; null of none. */
  quantile(phi: number): number | null {
    const { count } = this;
    if (count === 0) return null;
    const rank = Math.min(count - 1, Math.floor(phi * count));
    const below = this.#negative.total;
    if (rank < below) return -sizeOf(this.#negative.at(below - 1 - rank));
    return rank < below + this.#zeros ? 0 : sizeOf(this.#positive.at(rank - below - this.#zeros));
  }

  toJSON(): SketchJson {
    return [this.#zeros, this.#positive.sorted.flat(), this.#negative.sorted.flat()];
  }

  /** Adds what the sketch of this JSON was given. Throws where it is none. */
  merge([zeros, positive, negative]: SketchJson): void {
    this.#zeros += countOf(zeros);
    for (const [bins, list] of [
      [this.#positive, positive],
      [this.#negative, negative],
    ] as const)
      // prettier-ignore
      for (let at = 0; at < list.length; at += 2) {
        const index = list[at] as number;
        if (!Number.isInteger(index) || Math.abs(index) > MOST_INDEX) throw new Error('This is not a sketch.');
        bins.add(index, countOf(list[at + 1]));
      }
  }
}

function countOf(count: unknown): number {
  if (!Number.isSafeInteger(count) || (count as number) < 0) throw new Error('This is not a sketch.');
  return count as number;
}
