import { compress } from 'snappyjs';
import { Random } from '../../test/fuzz/random.ts';

/**
 * What a server of Prometheus sends: samples of series with eight labels, a scrape every 15 s, in requests of 2,000. Of 20 series 7 are constant, 2 are
 * rare counters, 5 busy ones, 2 seconds, 2 memory, 1 noise of two decimals and 1 noise.
 */

/** What of a series of each kind follows on what. */
const KINDS: readonly ((random: Random, before: number) => number)[] = [
  (_random, before) => before || 42,
  (random, before) => before + (random.below(50) === 0 ? 1 : 0),
  (random, before) => before + 20 + random.below(400),
  (random, before) => Math.round((before + random.below(1500) / 100) * 100) / 100,
  (random, before) => (before || 400_000_000) + 4096 * (random.below(41) - 20),
  (random) => random.below(10_000) / 100,
  (random) => random.below(2 ** 31) / 7,
];
/** Of 20 series. */
const MIX = [0, 0, 0, 0, 0, 0, 0, 1, 1, 2, 2, 2, 2, 2, 3, 3, 4, 4, 5, 6];
export const STEP_MS = 15_000;

const varint = (value: number): number[] => {
  const bytes: number[] = [];
  let rest = value;
  for (; rest > 127; rest = Math.floor(rest / 128)) bytes.push((rest % 128) | 128);
  return [...bytes, rest];
};
const field = (tag: number, bytes: Uint8Array): Buffer => Buffer.concat([Buffer.from([tag, ...varint(bytes.length)]), bytes]);
const label = (name: string, value: string): Buffer =>
  field(0x0a, Buffer.concat([field(0x0a, Buffer.from(name)), field(0x12, Buffer.from(value))]));

/** The labels of a series. */
function labelsOf(series: number): Buffer {
  const pod = Math.floor(series / 100);
  return Buffer.concat([
    label('__name__', `app_metric_${String(series % 100)}_total`),
    label('cluster', 'eu-west-1'),
    label('container', 'web'),
    label('instance', `10.0.${String(pod >> 8)}.${String(pod & 255)}:9090`),
    label('job', `shop-${String(pod % 10)}`),
    label('namespace', 'production'),
    label('pod', `shop-${String(pod % 10)}-7d9f8b6c5d-${String(pod)}`),
    label('service', `shop-${String(pod % 10)}`),
  ]);
}

/** Scrapes one after the other, each in as many bodies (snappy) as it takes. */
export class Scrapes {
  readonly #random: Random;
  readonly #labels: readonly Buffer[];
  readonly #values: Float64Array;
  readonly #perBody: number;
  #time: number;

  constructor({
    series,
    perBody,
    seed,
    from,
  }: {
    readonly series: number;
    readonly perBody: number;
    readonly seed: number;
    readonly from: number;
  }) {
    this.#random = new Random(seed);
    this.#labels = Array.from({ length: series }, (_none, index) => labelsOf(index));
    this.#values = new Float64Array(series);
    this.#perBody = perBody;
    this.#time = from;
  }

  /** The bodies of the next scrape. */
  next(): Buffer[] {
    const bodies: Buffer[] = [];
    let parts: Buffer[] = [];
    const sample = Buffer.alloc(18);
    for (const [series, labels] of this.#labels.entries()) {
      const next = KINDS[MIX[series % MIX.length] as number] as (typeof KINDS)[number];
      const value = next(this.#random, this.#values[series] as number);
      this.#values[series] = value;
      sample[0] = 0x09;
      sample.writeDoubleLE(value, 1);
      sample[9] = 0x10;
      const time = varint(this.#time + (series % 100));
      sample.set(time, 10);
      parts.push(field(0x0a, Buffer.concat([labels, field(0x12, sample.subarray(0, 10 + time.length))])));
      if (parts.length === this.#perBody || series === this.#labels.length - 1) {
        bodies.push(Buffer.from(compress(Buffer.concat(parts))));
        parts = [];
      }
    }
    this.#time += STEP_MS;
    return bodies;
  }
}
