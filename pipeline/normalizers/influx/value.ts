import { LineFault } from './line.ts';

const QUOTE = 0x22;
const INTEGER = /^[+-]?\d{1,20}$/;
const UNSIGNED = /^\d{1,20}$/;
const FLOAT = /^[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d{1,3})?$/;
const BOOLEANS: Readonly<Record<string, number>> = {
  ...{ t: 1, T: 1, true: 1, True: 1, TRUE: 1 },
  ...{ f: 0, F: 0, false: 0, False: 0, FALSE: 0 },
};
const [LEAST_INT, MOST_INT, MOST_UINT] = [-(2n ** 63n), 2n ** 63n - 1n, 2n ** 64n - 1n];

/** The number of the value at `body[start..end)`; null for a string, which is none. Throws LineFault. */
export function fieldValue(body: Buffer, start: number, end: number, name: string): number | null {
  if (body[start] === QUOTE) return null;
  const text = body.toString('latin1', start, Math.min(end, start + 400));
  if (FLOAT.test(text)) return inRange(Number(text), text);
  const [digits, last] = [text.slice(0, -1), text.at(-1)];
  if (last === 'i' && INTEGER.test(digits)) return within(BigInt(digits), LEAST_INT, MOST_INT, text);
  if (last === 'u' && UNSIGNED.test(digits)) return within(BigInt(digits), 0n, MOST_UINT, text);
  const boolean = Object.hasOwn(BOOLEANS, text) ? BOOLEANS[text] : undefined;
  if (boolean === undefined)
    throw new LineFault(`${JSON.stringify(text.slice(0, 50))} is not a value of the field ${JSON.stringify(name.slice(0, 100))}`);
  return boolean;
}

function within(value: bigint, least: bigint, most: bigint, text: string): number {
  if (value < least || value > most) throw outOfRange(text);
  return Number(value);
}

function inRange(value: number, text: string): number {
  if (!Number.isFinite(value)) throw outOfRange(text);
  return value;
}

const outOfRange = (text: string): LineFault => new LineFault(`${JSON.stringify(text.slice(0, 50))} is out of range`);
