import type { ByteReader, ByteWriter } from '../core/snapshot-bytes.ts';

/** Bins of deviations, each 1.4 times as far as the one before: from half a standard deviation to some 400. */
const BINS = 20;
const STEP = 1.4;
const FIRST = 0.5;
const LOG_STEP = Math.log(STEP);
/** Ten days of minutes; by then what was is halved, so that a series may change its ways. */
const MOST = 14_400;
/** The share of deviations that a threshold is told by. */
const SHARE = 0.003;

/** How far a series usually is from what is expected of it, on one side and at one scale: a histogram of positive deviations. */
export class Residuals {
  readonly #bins = new Uint16Array(BINS);
  #count = 0;

  /** How many deviations were learned, the negative ones too. */
  get count(): number {
    return this.#count;
  }

  add(deviation: number): void {
    this.#count += 1;
    if (deviation > 0) {
      const bin = Math.min(BINS - 1, Math.max(0, Math.floor(Math.log(deviation / FIRST) / LOG_STEP)));
      this.#bins[bin] = (this.#bins[bin] as number) + 1;
    }
    if (this.#count <= MOST) return;
    this.#count = Math.floor(this.#count / 2);
    this.#bins.forEach((count, bin) => (this.#bins[bin] = count >> 1));
  }

  /** The deviation that is passed by 0.3 % of all; of few, by none. */
  quantile(): number {
    let left = Math.max(0.5, SHARE * this.#count);
    for (let bin = BINS - 1; bin >= 0; bin--) {
      const count = this.#bins[bin] as number;
      if (count >= left) return FIRST * STEP ** (bin + 1 - left / count);
      left -= count;
    }
    return 0;
  }

  write(to: ByteWriter): void {
    to.count(this.#count);
    to.counts(this.#bins);
  }

  /** What `write` wrote; throws CutOff where it is anything else. */
  static read(from: ByteReader): Residuals {
    const read = new Residuals();
    read.#count = from.count(MOST);
    for (let bin = 0; bin < BINS; bin++) read.#bins[bin] = from.count(MOST);
    return read;
  }
}
