import type { Side } from './detector.ts';

/** What came in a minute of a series, or in a window of a rule. */
export type Point = {
  /** Minutes since 1970; of a window the first one. */
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
  /** How many minutes, or windows, were compared; 1 without it. */
  readonly scale?: number;
  /** What they have; the point's value without it. */
  readonly value?: number;
};

/**
 * A detector of one's own: a pure fold over the minutes of a series, in their order, each once. No clock, no chance, no IO: what it gives is a
 * function of the state and the point. The state is JSON, of at most 4 KB. When alerts fire, go on and end follows from its findings.
 */
export interface CustomDetector<State = unknown> {
  readonly name: string;
  /** When it fires: a sentence. */
  readonly description: string;
  init(): State;
  look(state: State, point: Point): { readonly state: State; readonly found?: CustomFinding | null };
}

const NAME = /^[a-z][a-z0-9_]{0,62}$/;
/** The most characters of a state as JSON. */
export const MAX_STATE = 4096;
/** The longest window that a finding may be about: a week. Minutes. */
export const LONGEST_SCALE = 10_080;

/** What is wrong with the name of a detector, as a sentence; null for nothing. */
export const detectorNameFault = (name: unknown): string | null =>
  typeof name === 'string' && NAME.test(name)
    ? null
    : `Its name must be of a-z, 0-9 and "_", of at most 63 characters, and begin with a letter (got ${JSON.stringify(name)}).`;

/** What is wrong with a detector, as a sentence; null for nothing. */
export function detectorFault(found: unknown): string | null {
  if (typeof found !== 'object' || found === null) return 'Its default export must be an object, a detector.';
  const { name, description, init, look } = found as { [Key in keyof CustomDetector]?: unknown };
  const fault = detectorNameFault(name);
  if (fault !== null) return fault;
  if (typeof description !== 'string' || description === '') return 'It must have a description: a sentence with what makes it fire.';
  if (typeof init !== 'function') return 'It must have the method "init".';
  return typeof look === 'function' ? null : 'It must have the method "look".';
}

/** What was seen in a point, with nothing left out. */
export type Seen = Required<CustomFinding>;

/** What a detector gives at a point: its next state, also as the JSON that is kept of it, and what it has seen. */
export type Looked = { readonly state: unknown; readonly text: string; readonly seen: Seen | null };

/** Gives a detector the next point of a series. Throws an Error with a sentence where its result is not allowed. */
export function lookAt(detector: CustomDetector, before: unknown, point: Point): Looked {
  const { name } = detector;
  const given: unknown = detector.look(before, point);
  if (typeof given !== 'object' || given === null)
    throw new Error(`"look" of ${name} must give an object with "state" (gave ${String(given)}).`);
  const { state, found = null } = given as { readonly state?: unknown; readonly found?: CustomFinding | null };
  const text = stateText(name, state);
  if (found === null) return { state, text, seen: null };
  const { side, z, mean, low, high, scale = 1, value = point.value ?? 0 } = found;
  const sides: readonly unknown[] = ['up', 'down'];
  if (!sides.includes(side)) throw new Error(`A finding of ${name} has no side "up" or "down" (has ${JSON.stringify(side)}).`);
  if (![z, mean, low, high, scale, value].every(Number.isFinite)) throw new Error(`A finding of ${name} has numbers that are not finite.`);
  if (!Number.isInteger(scale) || scale < 1 || scale > LONGEST_SCALE)
    throw new Error(`The scale of a finding of ${name} must be an integer from 1 to ${String(LONGEST_SCALE)} (is ${String(scale)}).`);
  return { state, text, seen: { side, z, mean, low, high, scale, value } };
}

/** A state as the JSON that is kept of it. Throws an Error with a sentence where it is not a valid state. */
export function stateText(name: string, state: unknown): string {
  const text = JSON.stringify(state) as string | undefined;
  if (text === undefined || text.length > MAX_STATE)
    throw new Error(`The state of ${name} must be JSON of at most ${String(MAX_STATE)} characters (has ${String(text?.length)}).`);
  return text;
}
