import { LRUCache } from 'lru-cache';
import { mixId } from '../core/mix.ts';

/** What the filters of all tenants and days may take together; those that were used longest ago are forgotten, and then count again. */
const MAX_BYTES = 64 * 1024 * 1024;
/** What a filter takes in addition to its bits. */
const OVERHEAD_BYTES = 256;
/** A stream has 16 bits, in one block of eight words. In all filters together, fewer than one new stream in a hundred is taken for a known one. */
const [BITS, WORDS] = [16, 8];
/** How many streams the first filter of a tenant and day is made for; each further one for four times as many, until they are large. */
const [FIRST, LARGEST] = [128, 262_144];
/** Odd numbers that choose a bit in each word, those of Parquet's split block Bloom filter (https://parquet.apache.org/docs/file-format/bloomfilter/). */
const SALTS = [0x47b6137b, 0x44974d91, 0x8824ad5b, 0xa2b7289d, 0x705495c7, 0x2df1424b, 0x9efc4947, 0x5c6bfb31];

/** The streams that a tenant has had on one day, as far as this process has seen: Bloom filters, each begun when the one before is full. */
export class DayStreams {
  count = 0;
  bytes = OVERHEAD_BYTES;
  readonly #filters: Uint32Array[] = [];
  #free = 0;
  readonly #onGrown: () => void;

  /** `onGrown` is called when it takes more bytes. */
  constructor(onGrown: () => void) {
    this.#onGrown = onGrown;
  }

  /** True for a stream that was there, and for a new one, which is counted, while there are fewer than `ceiling`. */
  admit(high: number, low: number, ceiling: number): boolean {
    const [at, bits] = [mixId(high, low) >>> 0, mixId(low, high)];
    for (let i = this.#filters.length - 1; i >= 0; i--) if (has(this.#filters[i] as Uint32Array, at, bits)) return true;
    if (this.count >= ceiling) return false;
    if (this.#free === 0) this.#grow();
    put(this.#filters.at(-1) as Uint32Array, at, bits);
    this.#free -= 1;
    this.count += 1;
    return true;
  }

  #grow(): void {
    this.#free = Math.min(LARGEST, FIRST * 4 ** this.#filters.length);
    const filter = new Uint32Array((this.#free * BITS) / 32);
    this.#filters.push(filter);
    this.bytes += filter.byteLength;
    this.#onGrown();
  }
}

const blockOf = (filter: Uint32Array, at: number): number => Math.floor((at / 2 ** 32) * (filter.length / WORDS)) * WORDS;
const bitOf = (bits: number, word: number): number => 1 << (Math.imul(bits, SALTS[word] as number) >>> 27);

function has(filter: Uint32Array, at: number, bits: number): boolean {
  const block = blockOf(filter, at);
  for (let word = 0; word < WORDS; word++) if (((filter[block + word] as number) & bitOf(bits, word)) === 0) return false;
  return true;
}

function put(filter: Uint32Array, at: number, bits: number): void {
  const block = blockOf(filter, at);
  for (let word = 0; word < WORDS; word++) (filter[block + word] as number) |= bitOf(bits, word);
}

/** The streams of all tenants and days that this process has seen lately. */
export class StreamCeilings {
  readonly #days = new LRUCache<string, DayStreams>({ maxSize: MAX_BYTES, sizeCalculation: ({ bytes }) => bytes });

  /** What they take together. */
  get bytes(): number {
    return this.#days.calculatedSize;
  }

  /** Those of a tenant and day, which is in days since 1970-01-01. */
  of(tenantId: number, day: number): DayStreams {
    const key = `${String(tenantId)}/${String(day)}`;
    let streams = this.#days.get(key);
    if (streams === undefined) {
      const made = new DayStreams(() => {
        // it is not weighed again where it is only set again
        this.#days.delete(key);
        this.#days.set(key, made);
      });
      streams = made;
      this.#days.set(key, streams);
    }
    return streams;
  }
}
