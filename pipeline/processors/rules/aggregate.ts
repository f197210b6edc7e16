import { ExactSum } from '../../../logsql/stats/exact-sum.ts';
import { parseNumber } from '../../../logsql/values/numbers.ts';
import type { Measure } from '../../../logsql/base/types.ts';
import { DDSketch, type SketchJson } from './ddsketch.ts';
import { HyperLogLog } from '../base/hyperloglog.ts';

/** Beyond it the sum of all that may come in a window may not be finite; nothing that is measured is so large. */
const MOST = 1e280;
/** What a bin of a sketch takes as JSON, at most, about: its index and its count. */
const BIN_BYTES = 16;
/** What is kept of different values takes as JSON, at most, about. */
const DIFFERENT_BYTES = 5500;

/** What is kept of the values of a group and window: parts of it add up to the whole, in whichever order. */
interface Kept {
  add(texts: readonly string[]): void;
  merge(json: unknown): void;
  /** Null where no value came. */
  value(): number | null;
  /** What a sketch takes as JSON, at most, about. */
  readonly bytes?: number;
  toJSON(): unknown;
}

/** The strings that are numbers, sizes (bytes) or durations (nanoseconds). */
function* numbersIn(texts: readonly string[]): Generator<number> {
  for (const text of texts) {
    const value = text === '' ? null : parseNumber(text);
    if (value !== null && Math.abs(value) <= MOST) yield value;
  }
}

class Count implements Kept {
  #entries = 0;
  /** Of `count(a, b)` only entries in which one of them is there. */
  add(texts: readonly string[]): void {
    if (texts.length === 0 || texts.some((text) => text !== '')) this.#entries += 1;
  }
  merge(json: unknown): void {
    this.#entries += numberOf(json);
  }
  value(): number {
    return this.#entries;
  }
  toJSON(): number {
    return this.#entries;
  }
}

class Sum implements Kept {
  readonly #isMean: boolean;
  readonly #sum = new ExactSum();
  #size = 0;
  constructor(isMean: boolean) {
    this.#isMean = isMean;
  }
  add(texts: readonly string[]): void {
    for (const value of numbersIn(texts)) {
      this.#sum.add(value);
      this.#size += 1;
    }
  }
  merge(json: unknown): void {
    const [size, ...parts] = json as number[];
    for (const part of parts) this.#sum.add(numberOf(part));
    this.#size += numberOf(size);
  }
  value(): number | null {
    return this.#size === 0 ? null : this.#isMean ? this.#sum.value / this.#size : this.#sum.value;
  }
  toJSON(): number[] {
    return [this.#size, ...this.#sum.parts];
  }
}

class Extreme implements Kept {
  readonly #sign: number;
  #best: number | null = null;
  constructor(sign: 1 | -1) {
    this.#sign = sign;
  }
  add(texts: readonly string[]): void {
    for (const value of numbersIn(texts)) this.#offer(value);
  }
  merge(json: unknown): void {
    if (json !== null) this.#offer(numberOf(json));
  }
  value(): number | null {
    return this.#best;
  }
  toJSON(): number | null {
    return this.#best;
  }
  #offer(value: number): void {
    if (this.#best === null || this.#sign * value > this.#sign * this.#best) this.#best = value;
  }
}

class Quantile implements Kept {
  readonly #sketch = new DDSketch();
  readonly #phi: number;
  constructor(phi: number) {
    this.#phi = phi;
  }
  add(texts: readonly string[]): void {
    for (const value of numbersIn(texts)) this.#sketch.add(value);
  }
  merge(json: unknown): void {
    this.#sketch.merge(json as SketchJson);
  }
  value(): number | null {
    return this.#sketch.quantile(this.#phi);
  }
  get bytes(): number {
    return BIN_BYTES * this.#sketch.bins;
  }
  toJSON(): SketchJson {
    return this.#sketch.toJSON();
  }
}

class Different implements Kept {
  readonly #sketch = HyperLogLog.of([]);
  add(texts: readonly string[]): void {
    if (texts.some((text) => text !== '')) this.#sketch.add(texts.length === 1 ? (texts[0] as string) : JSON.stringify(texts));
  }
  merge(json: unknown): void {
    const sketch = HyperLogLog.fromBytes(Buffer.from(String(json), 'base64'));
    if (sketch === null) throw new Error('This is not a sketch.');
    this.#sketch.merge(sketch);
  }
  value(): number {
    return Math.round(this.#sketch.count());
  }
  get bytes(): number {
    return DIFFERENT_BYTES;
  }
  toJSON(): string {
    return this.#sketch.toBytes().toString('base64');
  }
}

function numberOf(json: unknown): number {
  if (typeof json !== 'number') throw new Error('This is not a number.');
  return json;
}

const KEPT: Readonly<Record<Measure['kind'], (measure: Measure) => Kept>> = {
  count: () => new Count(),
  rate: () => new Count(),
  sum: () => new Sum(false),
  avg: () => new Sum(true),
  min: () => new Extreme(-1),
  max: () => new Extreme(1),
  count_uniq: () => new Different(),
  quantile: ({ phi = 0.5 }) => new Quantile(phi),
};

/** What one aggregate takes, about: kibibytes. One of many values may take more (`Aggregate.bytes`). */
export const weightOf = ({ kind }: Measure): number => (kind === 'quantile' || kind === 'count_uniq' ? 4 : 1);

/** Whether an aggregate takes more the more values come. */
export const takesMore = ({ kind }: Measure): boolean => kind === 'quantile';

/** True of what only grows while more entries come, so that it may be compared before a window is over. */
export const onlyGrows = ({ kind }: Measure): boolean => kind === 'count' || kind === 'rate' || kind === 'max' || kind === 'count_uniq';

/** The value of a window in which nothing came; null for none. */
export const valueOfNothing = ({ kind }: Measure): number | null =>
  kind === 'count' || kind === 'rate' || kind === 'count_uniq' ? 0 : null;

/** An aggregate as JSON has it: the entries that came, and what is kept of their values. */
export type AggregateJson = readonly [number, unknown];

/** The value of a measure over the entries of a group and window, in parts or as a whole. */
export class Aggregate {
  readonly #measure: Measure;
  readonly #kept: Kept;
  /** Entries that matched the filter, also those that did not match the condition of `if (…)`. */
  entries = 0;

  constructor(measure: Measure) {
    this.#measure = measure;
    this.#kept = KEPT[measure.kind](measure);
  }

  /** What its sketch takes as JSON, at most, about; 0 where it has none. */
  get bytes(): number {
    return this.#kept.bytes ?? 0;
  }

  /** Takes the values of the measure's fields in an entry. */
  add(texts: readonly string[]): void {
    this.#kept.add(texts);
  }

  /** Adds what is JSON of another. Throws where it is of none. */
  merge([entries, kept]: AggregateJson): void {
    this.entries += numberOf(entries);
    this.#kept.merge(kept);
  }

  /** `minutes`: those of the window. */
  value(minutes: number): number | null {
    const value = this.#kept.value();
    return value !== null && this.#measure.kind === 'rate' ? value / (60 * minutes) : value;
  }

  toJSON(): AggregateJson {
    return [this.entries, this.#kept.toJSON()];
  }

  static from(measure: Measure, json: AggregateJson): Aggregate {
    const read = new Aggregate(measure);
    read.merge(json);
    return read;
  }
}
