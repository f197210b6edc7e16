/** Filters that look random, over the whole grammar of LogsQL, with texts taken from entries so that they match some. */
import { textOf, type LogEntry } from '../../pipeline/core/entry.ts';
import { quoteRegexp } from '../../logsql/values/regexp.ts';
import type { Random } from '../fuzz/random.ts';
import { NAMES, NUMBERS, PIECES, textOfPieces } from './entries.ts';

/** Where generators take their choices and their texts from. */
export type Source = {
  readonly random: Random;
  readonly entries: readonly LogEntry[];
  /** The fields that are asked for mostly; NAMES where they are absent. */
  readonly names?: readonly string[] | undefined;
  /** Filters may hold queries, and what only memory can do. */
  readonly isWhole: boolean;
};

/** True once in so many times. */
export const oneIn = ({ random }: Source, times: number): boolean => random.below(times) === 0;

/** A field of the entries, or one that no entry has. */
export function fieldOf(source: Source): string {
  const kind = source.random.below(12);
  if (kind < 2) return '_msg';
  if (kind === 2) return source.random.pick(['_time', 'nosuch', 'nosuch', '_stream', 'level']);
  return source.random.pick(source.names ?? NAMES);
}

const PLAIN = /^[\p{L}\p{Nd}_.]+$/u;
/** A text as people write it: bare where it can be, in any of the quotes where it cannot. */
export function written(source: Source, text: string): string {
  if (PLAIN.test(text) && !oneIn(source, 4)) return text;
  if (!text.includes('`') && !text.includes('\r') && oneIn(source, 4)) return `\`${text}\``;
  return JSON.stringify(text);
}

/** A value that some entry has in the field, whole or in part; or a text of pieces. */
export function textFor(source: Source, field: string): string {
  const { random, entries } = source;
  const value = textOf(random.pick(entries).get(field));
  const kind = random.below(12);
  if (kind < 3 && value !== '') return value;
  if (kind < 8 && value !== '') return partOf(source, value);
  if (kind === 8) return random.pick(NUMBERS);
  if (kind === 9) return '';
  return kind === 10 ? random.pick(PIECES) : textOfPieces(random, 3);
}

function partOf(source: Source, value: string): string {
  const { random } = source;
  const chars = Array.from(value);
  if (oneIn(source, 2)) return random.pick(value.match(/[\p{L}\p{Nd}_]+/gu) ?? chars);
  const from = random.below(chars.length);
  return chars.slice(from, from + 1 + random.below(chars.length - from)).join('');
}

function anyCase(source: Source, text: string): string {
  const kind = source.random.below(3);
  return kind === 0 ? text.toUpperCase() : kind === 1 ? text.toLowerCase() : text;
}

const REGEXPS: readonly string[] = [
  ...[
    '^',
    '$',
    '^$',
    '.',
    '^.$',
    '(?s)^.*b',
    '(?s).',
    '(?-s).',
    '(?-s)^.*$',
    'a.*b',
    '\\d+ms',
    '\\d+',
    '\\bfoo\\b',
    '\\w+',
    '\\W',
    '\\s$',
    '[^a-z]',
    '(?i)foo',
    '(?i)ошибка',
    '(?i)k',
  ],
  ...[
    '^(foo|bar)',
    'foo|bar|',
    'a{1,3}',
    '(a|b)*',
    '[[:alpha:]]+',
    '\\pL\\pN?',
    '\\p{Greek}',
    '\\P{L}',
    '(?m)^foo$',
    'x*',
    '\\x41',
    '\\x{1F600}',
    '\\Qa.b\\E',
  ],
  ...[
    '^[0-9.]+$',
    '\\.',
    '[\\]\\[]',
    '\\n',
    '(?U)a+',
    '(?P<x>\\d)',
    '(?:)',
    'é+',
    '[À-ſ]',
    '\\z',
    '\\Afoo',
    '(?i)ſ',
    '(?i)ß',
    'ошибки?',
    'ΟΔΟΣ*',
    'foo日{0,1}b',
    '\\Qоши?\\E?',
    'xyé?',
    '[é?]',
    '[]é]?',
    '"',
    "'",
    '\\\\',
    '%',
    '\\t|\\x00',
  ],
];

export function regexpFor(source: Source, field: string): string {
  const { random } = source;
  const kind = random.below(4);
  if (kind < 2) return random.pick(REGEXPS);
  const quoted = quoteRegexp(textFor(source, field));
  if (kind === 2) return random.pick(['^', '(?i)', '', '.*', '(?s)', '']) + quoted + random.pick(['$', '.*', '', '+', '?', '']);
  return `${quoted}|${random.pick(REGEXPS)}`;
}

const number = ({ random }: Source): string => random.pick(NUMBERS);
const BRACKETS = [
  ['[', ']'],
  ['(', ')'],
  ['[', ')'],
  ['(', ']'],
] as const;

function rangeOf(source: Source): string {
  const [open, close] = source.random.pick(BRACKETS);
  return `${source.random.pick(['range', 'range', ''])}${open}${written(source, number(source))}, ${written(source, number(source))}${close}`;
}

const list = (source: Source, field: string, most: number): string =>
  Array.from({ length: source.random.below(most + 1) }, () => written(source, textFor(source, field))).join(', ');

/** What stands after `field:`; each gives one kind of filter. */
const FIELD_FILTERS: readonly ((source: Source, field: string) => string)[] = [
  (source, field) => written(source, textFor(source, field)),
  (source, field) => written(source, textFor(source, field)),
  (source, field) => `${written(source, textFor(source, field))}*`,
  () => '*',
  () => '""',
  (source, field) => `=${written(source, textFor(source, field))}`,
  (source, field) => `=${written(source, textFor(source, field))}*`,
  (source, field) => `!=${written(source, textFor(source, field))}`,
  (source, field) => `${source.random.pick(['~', '!~', '=~'])}${JSON.stringify(regexpFor(source, field))}`,
  (source, field) => `~${JSON.stringify(regexpFor(source, field))}`,
  (source, field) => `in(${list(source, field, 5)})`,
  (source, field) =>
    `${source.random.pick(['>', '>=', '<', '<='])}${written(source, oneIn(source, 2) ? number(source) : textFor(source, field))}`,
  (source) => `${source.random.pick(['>', '>=', '<', '<='])}${written(source, number(source))}`,
  rangeOf,
  rangeOf,
  (source, field) => `i(${written(source, anyCase(source, textFor(source, field)))})`,
  (source, field) => `i(${written(source, anyCase(source, textFor(source, field)))}*)`,
  (source, field) => `seq(${list(source, field, 3)})`,
  (source, field) => `contains_all(${list(source, field, 3)})`,
  (source, field) => `contains_any(${list(source, field, 3)})`,
  (source, field) => `string_range(${written(source, textFor(source, field))}, ${written(source, textFor(source, field))})`,
  (source) => `len_range(${source.random.pick(['0', '1', '3', '5', '10'])}, ${source.random.pick(['1', '3', '7', '20', 'inf'])})`,
  (source) =>
    `ipv4_range(${source.random.pick(['"10.0.0.0/8"', '1.2.3.4', '"1.2.3.4/31"', '"0.0.0.0/0"', '1.0.0.0, 10.0.0.1', '10.0.0.2, 10.0.0.1'])})`,
  (source) => `${source.random.pick(['eq_field', 'le_field', 'lt_field'])}(${written(source, fieldOf(source))})`,
  (source, field) => `exact(${written(source, textFor(source, field))}${source.random.pick(['', '*'])})`,
  (source, field) => `re(${JSON.stringify(regexpFor(source, field))})`,
];

const TIMES = [
  '2026-11-18T10:00:00Z',
  '2026-11-18T10:03Z',
  '2026-11-18T10Z',
  '2026-11-18',
  '2026',
  '2026-11-18T10:00:07.123Z',
  '2026-11-18T12:00:03+02:00',
  '1969',
];
const TIME_FILTERS: readonly ((source: Source) => string)[] = [
  ({ random }) => `_time:${random.pick(TIMES)}`,
  ({ random }) => `_time:${random.pick(['>', '>=', '<', '<='])}${random.pick(TIMES)}`,
  ({ random }) => `_time:${random.pick(['[', '('])}${random.pick(TIMES)}, ${random.pick(TIMES)}${random.pick([']', ')'])}`,
  ({ random }) =>
    `_time:${random.pick(['5m', '1h', '59m30s', '1d', '100y', '56m7.5s'])}${random.pick(['', '', ' offset 30s', ' offset -1h'])}`,
  ({ random }) => `_time:${random.pick(['>', '<', '>=', '<='])}${random.pick(['55m', '1h', '58m3s'])}`,
  ({ random }) =>
    `_time:day_range[${random.pick(['00:00', '10:00', '08:30'])}, ${random.pick(['10:05', '18:00', '24:00'])}${random.pick([']', ')'])}${random.pick(['', ' offset 2h', ' offset -30m'])}`,
  ({ random }) =>
    `_time:week_range[${random.pick(['Sun', 'Mon', 'wednesday'])}, ${random.pick(['Wed', 'Fri', 'Sat'])}${random.pick([']', ')'])}${random.pick(['', ' offset 20h'])}`,
];

const LABELS = ['app', 'host', '"a b"', 'nosuch'];
function matcher({ random }: Source): string {
  const label = random.pick(LABELS);
  const value = JSON.stringify(random.pick(['web', 'db', 'h1', 'h2', '1.5', '', 'we', 'Ошибка "q"\\n']));
  const kind = random.below(8);
  if (kind < 3) return `${label}${random.pick(['=', '!='])}${value}`;
  if (kind < 6)
    return `${label}${random.pick(['=~', '!~'])}${JSON.stringify(random.pick(['web|db', 'h[12]', 'h', '.*', '.+', '', '(?i)WEB', 'О.*']))}`;
  return `${label} ${random.pick(['in', 'not_in'])} (${value}, "db")`;
}

function selector(source: Source): string {
  const group = (): string => Array.from({ length: 1 + source.random.below(2) }, () => matcher(source)).join(',');
  return `${source.random.pick(['', '_stream:'])}{${oneIn(source, 3) ? `${group()} or ${group()}` : group()}}`;
}

/** Filters that need a query, or memory. */
const WHOLE_FILTERS: readonly ((source: Source, field: string) => string)[] = [
  (source, field) => `${source.random.pick(['in', 'contains_any', 'contains_all'])}(${inner(source, field)})`,
  (source, field) => `in(${inner(source, field)})`,
  (source) => `value_type(${source.random.pick(['uint8', 'uint16', 'int64', 'float64', 'ipv4', 'iso8601', 'string', 'dict'])})`,
];

/** What follows pipes that make `x` inside a query. */
const INNER_RESULTS = ['fields x', 'uniq by (x)', 'stats by (x, y) count() n | fields x'];

/** A query for the values of a field. */
function inner(source: Source, field: string): string {
  const options = oneIn(source, 6) ? 'options(ignore_global_time_filter=true) ' : '';
  const from = written(source, oneIn(source, 2) ? field : fieldOf(source));
  const filter = leaf({ ...source, isWhole: oneIn(source, 6) });
  const to = source.random.pick(INNER_RESULTS);
  return `${options}${filter} | ${source.random.pick([
    `fields ${from}`,
    `uniq by (${from})${source.random.pick(['', ' with hits', ' limit 3'])}`,
    `stats by (${from}) count() x | ${source.random.pick(['', 'filter x:>1 | '])}fields ${from}`,
    `${source.random.pick([`copy ${from} as x`, `extract "<x>=<y>" from ${from}`, `len(${from}) as x`, `math ${from} * 10 as x`, `unpack_json from js fields (x, a)`, `fields ${from}`, `filter ${from}:* | copy ${from} as x`])} | ${to}`,
  ])}`;
}

/** A filter on one field, on the streams or on the time. */
function leaf(source: Source): string {
  const kind = source.random.below(14);
  if (kind === 0) return source.random.pick(TIME_FILTERS)(source);
  if (kind === 1) return selector(source);
  const field = fieldOf(source);
  if (field === '_time') return `_time:${source.random.pick(TIMES)}`;
  if (field === '_stream') return selector(source);
  const condition = source.random.pick(source.isWhole && oneIn(source, 8) ? WHOLE_FILTERS : FIELD_FILTERS)(source, field);
  if (field !== '_msg') return `${written(source, field)}:${condition}`;
  return condition.startsWith('[') || condition.startsWith('(') ? `_msg:${condition}` : source.random.pick(['', '', '_msg:']) + condition;
}

/** A filter, nested at most so deep. */
export function randomFilter(source: Source, depth: number): string {
  const kind = depth <= 0 ? 9 : source.random.below(10);
  const inner = (): string => randomFilter(source, depth - 1);
  if (kind === 0) return `(${inner()}) or (${inner()})`;
  if (kind === 1) return `${inner()} ${source.random.pick(['and ', ''])}(${inner()})`;
  if (kind === 2) return `${source.random.pick(['!', 'not ', '-'])}(${inner()})`;
  if (kind === 3) return `${leaf(source)} ${source.random.pick(['or', 'and', 'OR', ''])} ${source.random.pick(['', '!'])}${leaf(source)}`;
  if (kind === 4) {
    const field = source.random.pick(source.names ?? NAMES);
    const part = (): string => source.random.pick(['', '', '!']) + source.random.pick(FIELD_FILTERS)(source, field);
    return `${written(source, field)}:(${part()} ${source.random.pick(['or', 'and', ''])} ${part()})`;
  }
  return leaf(source);
}
