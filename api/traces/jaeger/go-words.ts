/** What Jaeger's clients are told in Go's words. */
import { goQuoted } from '../go-duration.ts';

const [LEAST, MOST] = [-(2n ** 63n), 2n ** 63n - 1n];

/** An integer of 64 bits, or Go's sentence about what is wrong (https://pkg.go.dev/strconv#ParseInt). */
export function readInt(text: string): bigint | string {
  if (!/^[+-]?\d+$/.test(text)) return `strconv.ParseInt: parsing ${goQuoted(text)}: invalid syntax`;
  const value = text.length > 40 ? MOST + 1n : BigInt(text.replace('+', ''));
  return value < LEAST || value > MOST ? `strconv.ParseInt: parsing ${goQuoted(text)}: value out of range` : value;
}

/** A boolean, or Go's sentence about what is wrong (https://pkg.go.dev/strconv#ParseBool). */
export function readBool(text: string): boolean | string {
  if (/^(?:1|t|T|true|TRUE|True)$/.test(text)) return true;
  return /^(?:0|f|F|false|FALSE|False)$/.test(text) ? false : `strconv.ParseBool: parsing ${goQuoted(text)}: invalid syntax`;
}

const RFC_3339 = /^\d{4}-\d\d-\d\d[Tt]\d\d:\d\d:\d\d(?:\.\d+)?(?:[Zz]|[+-]\d\d:\d\d)$/;

/** Whether Go takes this for a time in RFC 3339. */
export const isRfc3339 = (text: string): boolean => RFC_3339.test(text);

/** Go's sentence about a time that it cannot read. */
export const badTime = (text: string): string =>
  `parsing time ${goQuoted(text)} as "2006-01-02T15:04:05.999999999Z07:00": cannot parse ${goQuoted(text)} as "2006"`;

/** A duration of nanoseconds as Go prints it: `1h0m0s`, `1.5ms`, `10µs`. */
export function goDuration(nanoseconds: bigint): string {
  if (nanoseconds === 0n) return '0s';
  const sign = nanoseconds < 0n ? '-' : '';
  const all = nanoseconds < 0n ? -nanoseconds : nanoseconds;
  if (all < 1000n) return `${sign}${String(all)}ns`;
  if (all < 1_000_000n) return `${sign}${decimal(all, 3)}µs`;
  if (all < 1_000_000_000n) return `${sign}${decimal(all, 6)}ms`;
  const minutes = all / 60_000_000_000n;
  const seconds = `${decimal(all % 60_000_000_000n, 9)}s`;
  if (minutes === 0n) return sign + seconds;
  return minutes < 60n ? `${sign}${String(minutes)}m${seconds}` : `${sign}${String(minutes / 60n)}h${String(minutes % 60n)}m${seconds}`;
}

/** A number over a power of ten, without zeros at its end. */
function decimal(value: bigint, places: number): string {
  const digits = String(value).padStart(places + 1, '0');
  const fraction = digits.slice(-places).replace(/0+$/, '');
  return `${digits.slice(0, -places)}${fraction === '' ? '' : `.${fraction}`}`;
}
