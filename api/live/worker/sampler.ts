/** About how many entries a second a tail is given that requests a sample. */
const SAMPLE_RATE = 100;
/** How often the factor is adjusted, milliseconds; at once where AT_ONCE times the factor match. */
const LOOK_MS = 1000;
const AT_ONCE = 2 * SAMPLE_RATE;

/**
 * A fair sample of what matches: one in `factor`, each entry with the same chance, by a hash of its place in the log. So each client gets
 * the same entries at any time.
 */
export class Sampler {
  #factor = 1;
  #matched = 0;
  #since: number;

  constructor(now: number) {
    this.#since = now;
  }

  /** How many entries each one that is given stands for. */
  get factor(): number {
    return this.#factor;
  }

  /** Whether this entry, which matches, is in the sample. */
  takes(partition: number, offset: number, index: number): boolean {
    this.#matched += 1;
    return this.#factor === 1 || hash(partition, offset, index) % this.#factor === 0;
  }

  /** Looks at how many have matched, behind a record; the new factor where it has changed, else null. */
  settle(now: number): number | null {
    const passed = now - this.#since;
    if (passed < LOOK_MS && this.#matched <= AT_ONCE * this.#factor) return null;
    const factor = Math.max(1, Math.ceil((this.#matched * LOOK_MS) / Math.max(passed, LOOK_MS) / SAMPLE_RATE));
    [this.#matched, this.#since] = [0, now];
    if (factor === this.#factor) return null;
    this.#factor = factor;
    return factor;
  }
}

/** 32 bits that depend on each bit of a place (the finalizer of MurmurHash3). */
function hash(partition: number, offset: number, index: number): number {
  let bits = Math.imul(partition + 1, 0x9e37_79b1) ^ Math.imul(offset | 0, 0x85eb_ca6b) ^ Math.imul(index + 1, 0xc2b2_ae35);
  bits = Math.imul(bits ^ (bits >>> 16), 0x85eb_ca6b);
  bits = Math.imul(bits ^ (bits >>> 13), 0xc2b2_ae35);
  return (bits ^ (bits >>> 16)) >>> 0;
}
