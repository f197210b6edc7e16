import xxhash from 'xxhash-wasm';
import type { Labels } from './definition.ts';

const { h32 } = await xxhash();

/** Labels of a tenant and day that are watched. */
const MAX_WATCHED = 128;
/** Registers of a sketch: about 7 % of error. */
const [REGISTERS, INDEX_BITS] = [256, 8];

/** How many different values each label has got: a HyperLogLog for each (https://algo.inria.fr/flajolet/Publications/FlFuGaMe07.pdf). */
export class LabelGrowth {
  readonly #sketches = new Map<string, Uint8Array>();

  add(labels: Labels): void {
    for (const [name, value] of labels) {
      const sketch = this.#sketchOf(name);
      if (sketch === undefined) continue;
      const hash = h32(value);
      const index = hash >>> (32 - INDEX_BITS);
      const rank = Math.clz32((hash << INDEX_BITS) | (1 << (INDEX_BITS - 1))) + 1;
      if (rank > (sketch[index] as number)) sketch[index] = rank;
    }
  }

  /** The label with the most different values; empty where there is none. */
  get largest(): string {
    let [largest, most] = ['', 0];
    for (const [name, sketch] of this.#sketches) {
      const size = sizeOf(sketch);
      if (size > most) [largest, most] = [name, size];
    }
    return largest;
  }

  #sketchOf(name: string): Uint8Array | undefined {
    const known = this.#sketches.get(name);
    if (known !== undefined || this.#sketches.size >= MAX_WATCHED) return known;
    const sketch = new Uint8Array(REGISTERS);
    this.#sketches.set(name, sketch);
    return sketch;
  }
}

function sizeOf(sketch: Uint8Array): number {
  let [sum, zeros] = [0, 0];
  for (const rank of sketch) {
    sum += 2 ** -rank;
    if (rank === 0) zeros += 1;
  }
  const estimate = ((0.7213 / (1 + 1.079 / REGISTERS)) * REGISTERS * REGISTERS) / sum;
  return estimate <= 2.5 * REGISTERS && zeros > 0 ? REGISTERS * Math.log(REGISTERS / zeros) : estimate;
}
