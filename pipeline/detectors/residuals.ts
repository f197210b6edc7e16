import type { ByteReader, ByteWriter } from '../core/snapshot-bytes.ts';
import { Slab } from './slab.ts';

/** Bins of deviations, each 1.4 times as far as the one before: from half a standard deviation to some 400. */
export const BINS = 20;
const STEP = 1.4;
const FIRST = 0.5;
const LOG_STEP = Math.log(STEP);
/** Ten days of minutes; by then what was is halved, so that a series may change its ways. */
const MOST = 14_400;
/** The share of deviations that sets a threshold. */
const SHARE = 0.003;

/** How far a series usually is from what is expected of it, on one side and at one scale: a histogram of positive deviations. */
export class Residuals {
  readonly #slab: Slab;
  readonly #from: number;
  #count = 0;

  /** `slab`: where its bins lie, from a place on. */
  constructor(slab = new Slab(BINS), from = 0) {
    this.#slab = slab;
    this.#from = from;
  }

  /** How many deviations were learned, the negative ones too. */
  get count(): number {
    return this.#count;
  }

  add(deviation: number): void {
    this.#count += 1;
    if (deviation > 0) {
      const bin = Math.min(BINS - 1, Math.max(0, Math.floor(Math.log(deviation / FIRST) / LOG_STEP)));
      this.#slab.set(this.#from + bin, this.#slab.get(this.#from + bin) + 1);
    }
    if (this.#count <= MOST) return;
    this.#count = Math.floor(this.#count / 2);
    for (let place = this.#from; place < this.#from + BINS; place++) this.#slab.set(place, this.#slab.get(place) >> 1);
  }

  /** The deviation that is passed by 0.3 % of all; of few, by none. */
  quantile(): number {
    let left = Math.max(0.5, SHARE * this.#count);
    for (let bin = BINS - 1; bin >= 0; bin--) {
      const count = this.#slab.get(this.#from + bin);
      if (count >= left) return FIRST * STEP ** (bin + 1 - left / count);
      left -= count;
    }
    return 0;
  }

  write(to: ByteWriter): void {
    to.count(this.#count);
    to.counts(this.#slab.view(this.#from, BINS));
  }

  /** Takes what `write` wrote; throws CutOff where it is anything else. */
  read(from: ByteReader): void {
    this.#count = from.count(MOST);
    for (let place = this.#from; place < this.#from + BINS; place++) this.#slab.set(place, from.count(MOST));
  }
}
