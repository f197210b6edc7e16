/** The functions of templates: those of Go, and those of Prometheus that need no query. */
import { compileRegexp, RegexpError, type Regexp } from '../../logsql/values/regexp.ts';
import { readDuration } from '../values/durations.ts';
import { plainNumber, readNumber, shortNumber } from '../values/numbers.ts';
import { humanize, humanize1024, humanizeDuration, humanizePercentage, humanizeTimestamp, significant } from './humanize.ts';
import { TemplateError, type TemplateValue } from './tree.ts';

/** Arguments, the least and the most number of them, and what comes of them. */
type TemplateFunction = {
  readonly least: number;
  readonly most: number;
  apply(args: readonly TemplateValue[]): TemplateValue;
};

/** Widths and precisions of `printf`, characters of a regexp, and of what a function gives. */
const MAX_WIDTH = 100;
const MAX_REGEXP = 500;
export const MAX_TEXT = 10_000;

/** A value as Go's `%v` shows it. */
export function shownValue(value: TemplateValue): string {
  if (value === null) return '<no value>';
  if (typeof value === 'number') return shortNumber(value);
  if (typeof value !== 'object') return String(value);
  return `map[${[...value].map(([name, one]) => `${name}:${one}`).join(' ')}]`;
}

/** What Go's `if` takes for true. */
export const isTrue = (value: TemplateValue): boolean =>
  value !== null && value !== false && value !== '' && value !== 0 && !(typeof value === 'object' && value.size === 0);

function numberOf(value: TemplateValue): number {
  const number = typeof value === 'number' ? value : typeof value === 'string' ? readNumber(value) : null;
  if (number === null) throw new TemplateError(`can't convert ${shownValue(value)} to a number`);
  return number;
}

const textOf = (value: TemplateValue): string => {
  if (typeof value !== 'string') throw new TemplateError(`wrong type for value; expected string; got ${typeof value}`);
  return value;
};

const ofNumber = (apply: (value: number) => TemplateValue): TemplateFunction => ({ least: 1, most: 1, apply: ([value = null]) => apply(numberOf(value)) }); // prettier-ignore
const ofText = (apply: (text: string) => TemplateValue): TemplateFunction => ({ least: 1, most: 1, apply: ([value = null]) => apply(textOf(value)) }); // prettier-ignore

/** Numbers with numbers, and strings with strings. */
function compared(one: TemplateValue, other: TemplateValue): number {
  if (typeof one === 'number' && typeof other === 'number') return one < other ? -1 : one > other ? 1 : one === other ? 0 : NaN;
  if (typeof one === 'string' && typeof other === 'string') return one < other ? -1 : one > other ? 1 : 0;
  throw new TemplateError('incompatible types for comparison');
}

const comparison = (holds: (order: number) => boolean): TemplateFunction => ({
  least: 2,
  most: 2,
  apply: ([one = null, other = null]) => holds(compared(one, other)),
});

function isEqual(one: TemplateValue, other: TemplateValue): boolean {
  if (typeof one === 'boolean' && typeof other === 'boolean') return one === other;
  return compared(one, other) === 0;
}

function regexpOf(source: string): Regexp {
  if (source.length > MAX_REGEXP) throw new TemplateError(`a regexp has at most ${String(MAX_REGEXP)} characters`);
  try {
    return compileRegexp(source, 'pipe');
  } catch (error) {
    if (error instanceof RegexpError) throw new TemplateError(`error parsing regexp: ${error.message}`, { cause: error });
    throw error;
  }
}

const VERB = /%(?<flags>[-+ 0#]*)(?<width>\d{0,6})(?:\.(?<precision>\d{0,6}))?(?<verb>[a-zA-Z%])/gs;

function verb(name: string, value: TemplateValue, precision: number | null): string {
  const wrong = (): string => `%!${name}(${typeof value === 'number' ? 'float64' : typeof value}=${shownValue(value)})`;
  switch (name) {
    case 'v':
    case 's':
      if (name === 's' && typeof value === 'number') return wrong();
      return precision === null || typeof value !== 'string' ? shownValue(value) : value.slice(0, precision);
    case 'q':
      return typeof value === 'string' ? JSON.stringify(value) : wrong();
    case 't':
      return typeof value === 'boolean' ? String(value) : wrong();
    case 'f':
      return typeof value !== 'number' ? wrong() : Number.isFinite(value) ? fixed(value, precision ?? 6) : plainNumber(value);
    case 'g':
      return typeof value !== 'number' ? wrong() : precision === null ? shortNumber(value) : significant(value, precision);
    case 'e':
      return typeof value !== 'number' ? wrong() : Number.isFinite(value) ? value.toExponential(precision ?? 6).replace(/e([-+])(\d)$/, 'e$10$2') : plainNumber(value); // prettier-ignore
    default:
      return wrong();
  }
}

/** JavaScript writes large numbers with an exponent, Go's `%f` does not. */
const fixed = (value: number, digits: number): string => (Math.abs(value) < 1e21 ? value.toFixed(digits) : plainNumber(value));

function printf([format = null, ...args]: readonly TemplateValue[]): string {
  let next = 0;
  const text = textOf(format).replace(VERB, (...found) => {
    const { flags = '', width = '', precision, verb: name = '' } = found.at(-1) as Record<string, string | undefined>;
    if (name === '%') return '%';
    if (Number(width) > MAX_WIDTH || Number(precision ?? 0) > MAX_WIDTH) throw new TemplateError(`a width of printf is at most ${String(MAX_WIDTH)}`); // prettier-ignore
    if (next >= args.length) return `%!${name}(MISSING)`;
    const value = args[next++] as TemplateValue;
    const own = verb(name, value, precision === undefined ? null : Number(precision));
    const signed = flags.includes('+') && typeof value === 'number' && value >= 0 ? `+${own}` : own;
    if (flags.includes('-')) return signed.padEnd(Number(width));
    return signed.padStart(Number(width), flags.includes('0') && typeof value === 'number' ? '0' : ' ');
  });
  const extra = args.slice(next).map((value) => `${typeof value === 'number' ? 'float64' : typeof value}=${shownValue(value)}`);
  return extra.length === 0 ? text : `${text}%!(EXTRA ${extra.join(', ')})`;
}

/** `web:8080` and `[::1]:8080` without the port. */
function stripPort(address: string): string {
  const [, bracketed, plain] = /^(?:\[([^[\]]*)\]|([^:[\]]*)):[^:[\]]*$/s.exec(address) ?? [];
  return bracketed ?? plain ?? address;
}

/** `web.example.com:8080` as `web:8080`; an address stays. */
function stripDomain(address: string): string {
  const [, port = ''] = /(:\d+)$/.exec(address) ?? [];
  const host = port === '' ? address : address.slice(0, -port.length);
  return /^[\d.]+$|:/.test(host) ? address : `${host.split('.')[0] ?? ''}${port}`;
}

const listed = (separator: string, end: string): TemplateFunction => ({
  least: 0,
  most: 20,
  apply: (args) => args.map(shownValue).join(separator) + end,
});

const FUNCTIONS: Readonly<Record<string, TemplateFunction>> = {
  humanize: ofNumber(humanize),
  humanize1024: ofNumber(humanize1024),
  humanizeDuration: ofNumber(humanizeDuration),
  humanizePercentage: ofNumber(humanizePercentage),
  humanizeTimestamp: ofNumber(humanizeTimestamp),
  title: ofText((text) => text.replace(/(^|\s)(\S)/g, (_all, space: string, letter: string) => space + letter.toUpperCase())),
  toUpper: ofText((text) => text.toUpperCase()),
  toLower: ofText((text) => text.toLowerCase()),
  stripPort: ofText(stripPort),
  stripDomain: ofText(stripDomain),
  safeHtml: ofText((text) => text),
  urlquery: ofText((text) => encodeURIComponent(text).replaceAll('%20', '+')),
  urlQueryEscape: ofText((text) => encodeURIComponent(text).replaceAll('%20', '+')),
  parseDuration: ofText((text) => {
    const ms = readDuration(text);
    if (ms === null) throw new TemplateError(`not a valid duration string: ${JSON.stringify(text)}`);
    return ms / 1000;
  }),
  match: { least: 2, most: 2, apply: ([regexp = null, text = null]) => regexpOf(textOf(regexp)).test(textOf(text)) },
  reReplaceAll: {
    least: 3,
    most: 3,
    apply: ([regexp = null, replacement = null, text = null]) =>
      regexpOf(textOf(regexp)).replace(textOf(text), textOf(replacement), MAX_TEXT, (length) => {
        if (length > MAX_TEXT) throw new TemplateError(`reReplaceAll gives at most ${String(MAX_TEXT)} characters`);
      }),
  },
  printf: { least: 1, most: 20, apply: printf },
  print: listed('', ''),
  println: listed(' ', '\n'),
  len: { least: 1, most: 1, apply: ([value = null]) => (value !== null && typeof value === 'object' ? value.size : Buffer.byteLength(textOf(value))) }, // prettier-ignore
  index: {
    least: 2,
    most: 2,
    apply([map = null, name = null]) {
      if (map === null || typeof map !== 'object') throw new TemplateError(`can't index item of type ${typeof map}`);
      return map.get(textOf(name)) ?? '';
    },
  },
  not: { least: 1, most: 1, apply: ([value = null]) => !isTrue(value) },
  and: { least: 1, most: 20, apply: (args) => args.find((value) => !isTrue(value)) ?? args.at(-1) ?? null },
  or: { least: 1, most: 20, apply: (args) => args.find(isTrue) ?? args.at(-1) ?? null },
  eq: { least: 2, most: 20, apply: ([one = null, ...others]) => others.some((other) => isEqual(one, other)) },
  ne: { least: 2, most: 2, apply: ([one = null, other = null]) => !isEqual(one, other) },
  lt: comparison((order) => order < 0),
  le: comparison((order) => order <= 0),
  gt: comparison((order) => order > 0),
  ge: comparison((order) => order >= 0),
  externalURL: { least: 0, most: 0, apply: () => '' },
  pathPrefix: { least: 0, most: 0, apply: () => '' },
};

/** A function of templates; undefined for none. */
export const functionOf = (name: string): TemplateFunction | undefined => (Object.hasOwn(FUNCTIONS, name) ? FUNCTIONS[name] : undefined);
