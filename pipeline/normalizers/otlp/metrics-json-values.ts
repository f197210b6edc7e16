import { readJson } from '../../core/read-json.ts';
import { QUOTE } from '../../wire/bytes.ts';
import { memberOf, textOf } from './any-text.ts';
import { bitsOf, type Attribute, type Bits, type PointBuckets, type PointExemplar } from './metric-point.ts';

/** Rare values of OTLP's JSON for metrics, read as objects: tokens `body[start..end)` that are known to be JSON. */

type Members = Readonly<Record<string, unknown>>;

/** What a point is rejected for that has a NotANumber. */
export const NO_NUMBER = 'a member that must be a number is none';
/** Thrown for a member that must be a number and is none. */
export class NotANumber extends Error {}

/** Most characters of a number whose digits are read one by one: it is exact. */
const DIGITS = 15;
const ZERO = 0x30;

/** A token as a value. */
export const valueAt = (body: Buffer, start: number, end: number): unknown => readJson(body.toString('utf8', start, end));

const isMembers = (value: unknown): value is Members => typeof value === 'object' && value !== null && !Array.isArray(value);

/** A number, or its text: int64 are strings, and so are NaN and Infinity. Throws NotANumber. */
export function numberAt(body: Buffer, start: number, end: number): number {
  const quotes = body[start] === QUOTE ? 1 : 0;
  const last = end - quotes;
  let number = 0;
  let at = start + quotes;
  if (last - at <= DIGITS && last > at)
    while (at < last) {
      const digit = (body[at] as number) - ZERO;
      if (digit < 0 || digit > 9) break;
      number = number * 10 + digit;
      at += 1;
    }
  return at === last && last > start + quotes ? number : numberOf(valueAt(body, start, end));
}

/** A value that must be a number; missing: 0. */
function numberOf(value: unknown): number {
  if (value === undefined || value === null) return 0;
  if (typeof value === 'number') return value;
  if (typeof value === 'string' && (value === 'NaN' || (value.trim() !== '' && !Number.isNaN(Number(value))))) return Number(value);
  throw new NotANumber();
}

/** A time of nanoseconds without a sign, as whole milliseconds. */
function millisecondsOf(value: unknown): number {
  if (value === undefined || value === null || value === '') return 0;
  if (typeof value === 'string' && /^\d{1,20}$/.test(value)) return Number(BigInt(value) / 1_000_000n);
  const number = numberOf(value);
  if (!(number >= 0 && number < 2 ** 64)) throw new NotANumber();
  return Number(BigInt(Math.floor(number)) / 1_000_000n);
}

const listIn = (value: unknown): readonly Members[] => (Array.isArray(value) ? value.filter(isMembers) : []);
const attributesOf = (value: unknown): Attribute[] => listIn(value).map((pair) => [textOf(pair['key']), pair['value']]);

/** The attributes of a token: a list of pairs, or what has one as `attributes`. No token is none. */
export function attributesIn(body: Buffer, start: number, end: number): Attribute[] {
  const value = start === end ? null : valueAt(body, start, end);
  return attributesOf(isMembers(value) ? memberOf(value, 'attributes') : value);
}

/** Buckets of an exponential histogram; what is no object has none. */
export function bucketsOf(value: unknown): PointBuckets {
  if (!isMembers(value)) return { offset: 0, counts: [] };
  const counts = memberOf(value, 'bucketCounts');
  return { offset: numberOf(value['offset']), counts: Array.isArray(counts) ? counts.map(numberOf) : [] };
}

/** Quantiles of a summary, with their values. */
export const quantilesOf = (value: unknown): [number, Bits][] =>
  listIn(value).map((one) => [numberOf(one['quantile']), bitsOf(numberOf(one['value']))]);

/** Ids are hexadecimal. */
const idOf = (value: unknown): string => (typeof value === 'string' && /^[0-9a-fA-F]*$/.test(value) ? value.toLowerCase() : '');

/** Exemplars of a point. */
export const exemplarsOf = (value: unknown): PointExemplar[] =>
  listIn(value).map((one) => ({
    time: millisecondsOf(memberOf(one, 'timeUnixNano')),
    bits: bitsOf(numberOf(memberOf(one, 'asDouble') ?? memberOf(one, 'asInt'))),
    ...{ traceId: idOf(memberOf(one, 'traceId')), spanId: idOf(memberOf(one, 'spanId')) },
    attributes: attributesOf(memberOf(one, 'filteredAttributes')),
  }));
