import { ByteReader, ByteWriter, unlessDamaged } from '../../core/snapshot-bytes.ts';
import type { Found } from '../departures.ts';
import type { Finding, Side } from '../detector.ts';
import { Episodes } from '../episode.ts';
import { inMinutes } from '../steps.ts';
import { Past, type Expectations, type Expected } from './past.ts';
import { Peaks } from './peaks.ts';

export const VALUE = 'value';
/** Lengths of windows, in steps. */
const SCALES = [1, 6, 24] as const;
/** A window fires beyond `OWN` times the deviation of 99.9 % of its own, and `SPREADS` times the spread of single steps. */
const OWN = 1.1;
const SPREADS = 2;
/** The number of windows that are looked at before one fires. */
const LEARNING = 100;
/** A period is relied on alone where its mean error is this part of that of the last hour, by a mean over `MEMORY` windows. */
const BETTER = 0.6;
const MEMORY = 1000;
/** Calm is below this part of what fires. */
const CALM = 0.7;
const VERSION = 1;

/** How far windows of a length deviated, by what they were compared with. */
class Errors {
  readonly all: Peaks;
  readonly periods: readonly Peaks[];
  /** Of just now, and of each period: mean error and windows, as far as they count. */
  readonly means: number[];
  readonly counts: number[];

  constructor(all = new Peaks(), periods: readonly Peaks[] = [new Peaks(), new Peaks()], means = [0, 0, 0], counts = [0, 0, 0]) {
    [this.all, this.periods, this.means, this.counts] = [all, periods, means, counts];
  }

  learn(which: number, error: number): void {
    const count = Math.min(MEMORY, (this.counts[which] ?? 0) + 1);
    const mean = this.means[which] ?? 0;
    this.counts[which] = count;
    this.means[which] = Math.fround(mean + (error - mean) / count);
  }

  /** True where what was there a period ago predicts better than what was there just now. */
  isBetter(period: number): boolean {
    const [recent = 0, own = 0] = [this.means[0], this.means[period + 1]];
    return own < BETTER * recent;
  }
}

/** Above 0: beyond the upper end; below 0: beyond the lower one. */
const away = (value: number, { low, high }: Expected): number => (value > high ? value - high : value < low ? value - low : 0);

/** The one that is nearer, where both are on the same side; else nothing. */
const nearer = (one: number, other: number): number =>
  Math.sign(one) !== Math.sign(other) ? 0 : Math.abs(other) < Math.abs(one) ? other : one;

/** What was found of a window, and how far it is: from 1 on it fires. */
type Judged = { readonly found: Found; readonly side: Side; readonly heat: number };

/**
 * The values of something by steps of time, such as a quantile of durations by the minute: fires where they leave their own past. No clock, no
 * chance, no IO; at most 4 KiB as a snapshot. Values come in the order of time; what comes late is passed over.
 */
export class ValueSeries {
  /** Minutes from one value to the next. */
  readonly step: number;
  #past: Past;
  #errors: readonly Errors[] = SCALES.map(() => new Errors());
  #episodes = new Episodes();
  #newest = -1;

  constructor(step: number) {
    this.step = step;
    this.#past = new Past(step);
  }

  /** Adds the value of the step that begins with a minute (since 1970); returns findings. `factor`: the sensitivity, above one for less. */
  add(minute: number, value: number, factor = 1): Finding | null {
    const slot = Math.floor(minute / this.step);
    if (slot <= this.#newest || !Number.isFinite(Math.fround(value))) return null;
    this.#newest = slot;
    this.#past.put(slot, value);
    let hottest: Judged | null = null;
    SCALES.forEach((scale, index) => {
      const judged = this.#judge(slot, scale, this.#errors[index] as Errors);
      if (judged !== null && judged.heat > (hottest?.heat ?? 0)) hottest = judged;
    });
    const finding = this.#publish(slot, hottest, factor);
    return finding === null ? null : inMinutes(finding, this.step);
  }

  /** Nothing came that has a value in the step that begins with a minute: it is calm, and nothing is learned. */
  pass(minute: number): Finding | null {
    const slot = Math.floor(minute / this.step);
    if (slot <= this.#newest) return null;
    this.#newest = slot;
    const { finding } = this.#episodes.look(slot, true);
    return finding === null ? null : inMinutes(finding, this.step);
  }

  snapshot(): Buffer {
    const to = new ByteWriter();
    for (const number of [VERSION, this.step, this.#newest + 1]) to.count(number);
    this.#past.write(to);
    const bytes = Buffer.alloc(4);
    for (const { all, periods, means, counts } of this.#errors) {
      for (const peaks of [all, ...periods]) peaks.write(to);
      for (const mean of means) {
        bytes.writeFloatLE(mean);
        to.word(bytes.readUInt32LE());
      }
      for (const count of counts) to.count(count);
    }
    this.#episodes.write(to);
    return to.finish();
  }

  /** The series of a snapshot; null for any other bytes. */
  static restore(snapshot: Buffer): ValueSeries | null {
    return unlessDamaged(() => {
      return ValueSeries.#read(new ByteReader(snapshot));
    });
  }

  static #read(from: ByteReader): ValueSeries | null {
    if (from.count() !== VERSION) return null;
    const step = from.count(MOST_STEP);
    if (step === 0) return null;
    const read = new ValueSeries(step);
    read.#newest = from.count() - 1;
    read.#past = Past.read(from, step);
    const bytes = Buffer.alloc(4);
    const float = (): number => {
      bytes.writeUInt32LE(from.word());
      return bytes.readFloatLE();
    };
    read.#errors = SCALES.map(() => {
      const [all, ...periods] = [Peaks.read(from), Peaks.read(from), Peaks.read(from)] as const;
      const means = [float(), float(), float()];
      return new Errors(all, periods, means, [from.count(MEMORY), from.count(MEMORY), from.count(MEMORY)]);
    });
    read.#episodes = Episodes.read(from);
    return from.isAtEnd ? read : null;
  }

  /** Compares the window that ends with a slot, and learns how far it deviates. Null as long as too little is known. */
  #judge(slot: number, scale: number, errors: Errors): Judged | null {
    const value = this.#past.mean(slot, scale);
    const expectations = this.#past.expect(slot, scale);
    if (expectations === null) return null;
    const judged = this.#compare(value, scale, expectations, errors);
    return judged;
  }

  #compare(value: number, scale: number, { recent, spread, periods }: Expectations, errors: Errors): Judged | null {
    const { all } = errors;
    const local = value - recent.mean;
    // what equals yesterday, or just now, is usual
    const moved = periods[0]?.moved;
    const apart = moved === undefined ? local : nearer(local, away(value, moved));
    const most = Math.max(SPREADS * spread, OWN * all.high);
    let best: Judged | null = all.total > LEARNING ? judgedOf({ value, scale, apart, most, mean: recent.mean, spread }) : null;
    periods.forEach((period, index) => {
      if (period === null) return;
      const own = errors.periods[index] as Peaks;
      const error = away(value, period.then);
      const enough = Math.max(OWN * own.high, errors.means[0] ?? 0);
      if (own.total > LEARNING && errors.isBetter(index)) {
        const judged = judgedOf({ value, scale, apart: error, most: enough, mean: period.then.mean, spread: errors.means[index + 1] ?? 0 });
        if (judged !== null && judged.heat > (best?.heat ?? 0)) best = judged;
      }
      own.push(Math.abs(error));
      errors.learn(index + 1, Math.abs(error));
    });
    all.push(Math.abs(apart));
    errors.learn(0, Math.abs(local));
    return best;
  }

  #publish(slot: number, hottest: Judged | null, factor: number): Finding | null {
    const heat = (hottest?.heat ?? 0) / factor;
    if (hottest !== null && heat > 1) {
      const finding = this.#episodes.fire(VALUE, hottest.side, slot, hottest.found, null);
      if (finding !== null) return finding;
    }
    return this.#episodes.look(slot, heat < CALM).finding;
  }
}

/** A week. Minutes. */
const MOST_STEP = 10_080;

type Measured = {
  readonly value: number;
  readonly scale: number;
  readonly apart: number;
  readonly most: number;
  readonly mean: number;
  readonly spread: number;
};

/** How hot a window is that is `apart` from what is usual, where `most` is not unusual; null where it does not deviate at all. */
function judgedOf({ value, scale, apart, most, mean, spread }: Measured): Judged | null {
  if (apart === 0) return null;
  const heat = most === 0 ? Infinity : Math.abs(apart) / most;
  const z = spread === 0 ? Math.sign(apart) * 100 : Math.max(-100, Math.min(100, apart / spread));
  return { side: apart > 0 ? 'up' : 'down', heat, found: { scale, z, value, mean, bound: mean + Math.sign(apart) * most } };
}
