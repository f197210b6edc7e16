import type { ByteReader, ByteWriter } from '../../core/snapshot-bytes.ts';
import { SpanRing } from './span-ring.ts';

/** Steps whose median is what was usual just now, and those at least of which something must have come. */
const USUAL = 60;
const LEAST = 42;
/** The longest window, in steps. */
const LONGEST = 24;
const DAY = 1440;
const WEEK = 10_080;
/** Spans of which what is older is kept. Minutes. */
const DAY_SPAN = 5;
const WEEK_SPAN = 60;
/** The number of spans before and behind the same time that count as that time. */
const NEAR = 1;
/** Spans of what was usual a period ago that must be known. */
const LEAST_SPANS = 8;

/** What a window is expected to be. */
export type Expected = {
  /** The middle, and where it ends. */
  readonly mean: number;
  readonly low: number;
  readonly high: number;
};

/** What is expected of a window: as just now; and as a period ago, there as it was then, and moved by how much more or less there is today. */
export type Expectations = {
  readonly recent: Expected;
  /** The median deviation of single steps just now, as a standard deviation. */
  readonly spread: number;
  readonly periods: readonly (null | { readonly then: Expected; readonly moved: Expected })[];
};

/** The middle of numbers, which are put in order; NaN of none. */
function median(numbers: Float64Array): number {
  const { length } = numbers;
  if (length === 0) return NaN;
  numbers.sort();
  const half = length >> 1;
  const upper = numbers[half] as number;
  return length % 2 === 1 ? upper : ((numbers[half - 1] as number) + upper) / 2;
}

/** A day or a week of a series, in spans of `span` minutes. */
type Period = { readonly minutes: number; readonly span: number; ring: SpanRing };

/** What came of a series of values: its last steps one by one, a day by spans of five minutes, a week by hours, or by steps where those are longer. */
export class Past {
  readonly #step: number;
  #recent = new SpanRing(USUAL + LONGEST + 1);
  readonly #periods: readonly Period[];

  /** `step`: minutes from one value to the next. */
  constructor(step: number) {
    this.#step = step;
    const period = (minutes: number, least: number): Period => {
      const span = Math.max(step, least);
      return { minutes, span, ring: new SpanRing(Math.ceil((minutes + (USUAL + LONGEST) * step) / span) + NEAR + 1) };
    };
    this.#periods = [period(DAY, DAY_SPAN), period(WEEK, WEEK_SPAN)];
  }

  put(slot: number, value: number): void {
    this.#recent.put(slot, value);
    for (const { span, ring } of this.#periods) ring.put(Math.floor((slot * this.#step) / span), value);
  }

  /** The mean of the `scale` steps that end with a slot. */
  mean(slot: number, scale: number): number {
    return this.#recent.mean(slot - scale + 1, slot + 1);
  }

  /** Null as long as too little is known. */
  expect(slot: number, scale: number): Expectations | null {
    const begin = slot - scale + 1;
    const usual = this.#recent.values(begin - USUAL, begin);
    if (usual.length < LEAST) return null;
    const mean = median(usual);
    const spread = 1.4826 * median(usual.map((value) => Math.abs(value - mean)));
    return {
      recent: { mean, low: mean, high: mean },
      spread,
      periods: this.#periods.map((period) => this.#ago(period, begin, slot, mean)),
    };
  }

  #ago({ minutes, span, ring }: Period, begin: number, slot: number, usual: number): Expectations['periods'][number] {
    const from = Math.floor((begin * this.#step - minutes) / span);
    const to = Math.max(from + 1, Math.ceil(((slot + 1) * this.#step - minutes) / span));
    let [low, high] = [Infinity, -Infinity];
    for (let near = -NEAR; near <= NEAR; near++) {
      const value = ring.mean(from + near, to + near);
      if (Number.isNaN(value)) return null;
      [low, high] = [Math.min(low, value), Math.max(high, value)];
    }
    const before = ring.values(Math.floor(((begin - USUAL) * this.#step - minutes) / span), from);
    if (before.length < Math.min(LEAST_SPANS, (USUAL * this.#step) / span / 2)) return null;
    const offset = usual - median(before);
    const mean = ring.mean(from, to);
    const moved = { mean: mean + offset, low: low + Math.min(0, offset), high: high + Math.max(0, offset) };
    return { then: { mean, low, high }, moved };
  }

  write(to: ByteWriter): void {
    for (const ring of [this.#recent, ...this.#periods.map((period) => period.ring)]) ring.write(to);
  }

  /** What `write` wrote of a past of such steps; throws CutOff where there is less. */
  static read(from: ByteReader, step: number): Past {
    const read = new Past(step);
    read.#recent = SpanRing.read(from, read.#recent.spans);
    for (const period of read.#periods) period.ring = SpanRing.read(from, period.ring.spans);
    return read;
  }
}
