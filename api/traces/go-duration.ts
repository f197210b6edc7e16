/** Durations as Go writes them (https://pkg.go.dev/time#ParseDuration), and its words for those that it does not take. */
const UNITS: ReadonlyMap<string, number> = new Map([
  ['ns', 1],
  ['us', 1e3],
  ['µs', 1e3],
  ['μs', 1e3],
  ['ms', 1e6],
  ['s', 1e9],
  ['m', 6e10],
  ['h', 3.6e12],
]);

/** Go's durations have 64 bits. */
const MOST = 2 ** 63;
/** One number, and the unit behind it. */
const PART = /^(\d*)(?:\.(\d*))?([^\d.]*)/;

/** Nanoseconds, or Go's sentence about what is wrong. */
export function readGoDuration(text: string): number | string {
  const fault = (what: string): string => `time: ${what}duration ${goQuoted(text)}`;
  const [, sign = '', body = ''] = /^([+-]?)([^]*)$/.exec(text) ?? [];
  if (body === '0') return 0;
  let [rest, sum] = [body, 0];
  if (rest === '') return fault('invalid ');
  while (rest !== '') {
    const [all = '', whole = '', fraction = '', unit = ''] = PART.exec(rest) ?? [];
    if (whole === '' && fraction === '') return fault('invalid ');
    if (unit === '') return fault('missing unit in ');
    const size = UNITS.get(unit);
    if (size === undefined) return `time: unknown unit ${goQuoted(unit)} in duration ${goQuoted(text)}`;
    sum += Number(whole || '0') * size + Math.trunc(Number(`0.${fraction || '0'}`) * size);
    rest = rest.slice(all.length);
  }
  if (sum >= MOST) return fault('invalid ');
  return sign === '-' && sum > 0 ? -sum : sum;
}

/** A text as Go quotes it in such a sentence: without its end where it is long. */
export const goQuoted = (text: string): string => JSON.stringify(text.length > 200 ? `${text.slice(0, 200)}…` : text);
