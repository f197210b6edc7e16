import { Random } from '../test/fuzz/random.ts';

/** Streams that are known before anything is measured. */
export const MILLION = 1_000_000;
/** Entries of a body. */
export const LINES = 2000;
const DIGITS = 8;

/** A source of numbers from 0 to 1, the same in each run. */
export function randomFrom(seed: number): () => number {
  const source = new Random(seed);
  return () => source.below(2 ** 31) / 2 ** 31;
}

/** The number of the next entry's stream. */
export type Draw = (random: () => number) => number;
let fresh = MILLION;
export const NAME_OF_FEW = '200 streams';
export const FEW: Draw = (random) => Math.floor(random() * 200);
/** Most are of a million, drawn by Zipf's law; every 700th is new: 100,000 an hour at 20,000 entries/s. */
export const MANY_AND_NEW: Draw = (random) => manyAndNew(random, 1 / 700);
/** The same, of which the lines of a body have so many, as those that an agent sends. */
export function manyByAgents(streams: number): Draw {
  let [line, drawn]: [number, readonly number[]] = [0, []];
  return (random) => {
    if (line++ % LINES === 0) drawn = Array.from({ length: streams }, () => manyAndNew(random, LINES / streams / 700));
    return drawn[line % streams] as number;
  };
}
const manyAndNew = (random: () => number, share: number): number =>
  random() < share ? (fresh += 1) : (Math.floor(MILLION ** random()) * 48_271) % MILLION;
export const NEW: Draw = () => (fresh += 1);

/** A body of NDJSON of which the numbers of the streams are changed in place: making bodies is not measured. */
export class Body {
  readonly bytes: Buffer;
  readonly #places: readonly number[];

  /** `second`: of its entries' times, as RFC 3339 without what follows the seconds. */
  constructor(second = '2026-11-21T14:00:00') {
    const line = (index: number): string =>
      `{"_time":"${second}.${String(index % 1000).padStart(3, '0')}Z","_msg":"request finished for user u${String(10_000 + index)} after 4123 ms, id 5f2c-${String(index)}","level":"info","service":"checkout","host":"node-${'0'.repeat(DIGITS)}","env":"production","status":200,"duration_ms":123,"user.id":"u${String(10_000 + index)}","ip":"10.1.2.3"}\n`;
    const text = Array.from({ length: LINES }, (_, index) => line(index)).join('');
    this.bytes = Buffer.from(text);
    this.#places = [...text.matchAll(/node-(?=0{8})/g)].map(({ index }) => index + 5);
  }

  draw(next: () => number): void {
    for (const place of this.#places) {
      let rest = next();
      for (let at = place + DIGITS - 1; at >= place; at--) {
        this.bytes[at] = 0x30 + (rest % 10);
        rest = Math.floor(rest / 10);
      }
    }
  }
}
