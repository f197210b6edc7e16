import type { Finding, Side } from './detector.ts';
import { Episodes } from './episode.ts';

/** What came in a minute of a series. */
export type Point = {
  /** Minutes since 1970. */
  readonly minute: number;
  /** What is watched; null where nothing came that has a value. */
  readonly value: number | null;
  readonly entries: number;
  readonly errors: number;
};

/** What a detector sees in the minutes that end with a point. */
export type CustomFinding = {
  readonly side: Side;
  /** How far it is from what is expected, in standard deviations; below 0 on the side `down`. */
  readonly z: number;
  /** What is expected, and the band in which nothing fires. */
  readonly mean: number;
  readonly low: number;
  readonly high: number;
  /** How many minutes were compared; 1 without it. */
  readonly scale?: number;
  /** What they have; the point's value without it. */
  readonly value?: number;
};

/**
 * A detector of one's own: a pure fold over the minutes of a series, in their order, each once. No clock, no chance, no IO: what it gives is a
 * function of the state and the point. The state is JSON, of at most 4 KB as text. When alerts fire, go on and are resolved follows from its findings.
 */
export interface CustomDetector<State = unknown> {
  readonly name: string;
  /** When it fires: a sentence. */
  readonly description: string;
  init(): State;
  look(state: State, point: Point): { readonly state: State; readonly found?: CustomFinding | null };
}

const NAME = /^[a-z][a-z0-9_]{0,62}$/;
const MAX_STATE = 4096;

/** What is wrong with a detector, as a sentence; null for nothing. */
export function detectorFault(found: unknown): string | null {
  if (typeof found !== 'object' || found === null) return 'Its default export must be an object, a detector.';
  const { name, description, init, look } = found as { [Key in keyof CustomDetector]?: unknown };
  if (typeof name !== 'string' || !NAME.test(name))
    return `Its name must be of a-z, 0-9 and "_", of at most 63 characters (got ${JSON.stringify(name)}).`;
  if (typeof description !== 'string' || description === '') return 'It must have a description: a sentence that says when it fires.';
  if (typeof init !== 'function') return 'It must have the method "init".';
  return typeof look === 'function' ? null : 'It must have the method "look".';
}

/** A series that a detector of one's own looks at. */
export class CustomSeries {
  readonly #detector: CustomDetector;
  readonly #episodes = new Episodes();
  #state: unknown;

  constructor(detector: CustomDetector) {
    this.#detector = detector;
    this.#state = detector.init();
  }

  /** What the next minute says, if anything. Throws an Error with a sentence where the detector gives what it may not. */
  add(point: Point): Finding | null {
    const { name } = this.#detector;
    const { state, found = null } = this.#detector.look(this.#state, point);
    const text = JSON.stringify(state) as string | undefined;
    if (text === undefined || text.length > MAX_STATE)
      throw new Error(`The state of ${name} must be JSON of at most ${String(MAX_STATE)} characters (has ${String(text?.length)}).`);
    this.#state = state;
    if (found === null) return this.#episodes.look(point.minute, true).finding;
    const { side, z, mean, low, high, scale = 1, value = point.value ?? 0 } = found;
    if (![z, mean, low, high, scale, value].every(Number.isFinite))
      throw new Error(`A finding of ${name} has numbers that are not finite.`);
    const bound = side === 'up' ? high : low;
    const finding = this.#episodes.fire(name, side, point.minute, { scale, z, value, mean, bound }, null);
    return finding === null ? this.#episodes.look(point.minute, false).finding : { ...finding, expected: { low, high } };
  }
}
