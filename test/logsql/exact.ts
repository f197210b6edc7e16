import { Literal, textOf, type LogEntry } from '../../pipeline/core/entry.ts';
import { formatTime } from '../../pipeline/core/time.ts';
import { NOW } from './support.ts';

/** Numbers of which several are one float, the smallest first, and what comparisons of them must give: in memory and in ClickHouse. */
export const ASCENDING: readonly string[] = [
  ...['-18446744073709551615', '-9223372036854775808', '-9223372036854775807.5', '-9223372036854775807', '-9223372036854775806'],
  ...['-9007199254740993.5', '-9007199254740993', '-9007199254740992', '-9007199254740991', '-1', '0', '7.5'],
  ...['4503599627370497.25', '4503599627370498', '9007199254740991', '9007199254740992', '9007199254740992.5', '9007199254740993'],
  ...['9007199254740993.5', '9007199254740994', '1795255200000000000', '1795255200000000001', '1795255200000000002'],
  ...['2049638230412172400', '2049638230412172401', '2049638230412172402', '9223372036854775806', '9223372036854775807'],
  ...['9223372036854775808', '18446744073709551614', '18446744073709551615', '18446744073709551616'],
];

/** Each as a JSON number and as a string, in no order of size, a second apart: the newest first. */
export const ENTRIES: readonly LogEntry[] = ASCENDING.flatMap((n, place) => [
  { n, place },
  { n: new Literal(n), place },
])
  .sort((a, b) => ((a.place * 7) % 32) - ((b.place * 7) % 32))
  .map(
    ({ n, place }, index): LogEntry =>
      new Map([
        ['_time', formatTime(NOW - BigInt(index + 1) * 1_000_000_000n)],
        ['_stream', '{}'],
        ['_msg', 'x'],
        ['n', n],
        ['place', new Literal(String(place))],
        ['other', ASCENDING[(place * 5 + index) % ASCENDING.length] ?? ''],
      ]),
  );

type Case = { readonly query: string; readonly rows: readonly string[] };

const OPERATORS: Readonly<Record<string, (place: number, bound: number) => boolean>> = {
  '>': (place, bound) => place > bound,
  '>=': (place, bound) => place >= bound,
  '<': (place, bound) => place < bound,
  '<=': (place, bound) => place <= bound,
  '=': (place, bound) => place === bound,
};

const all = (isIn: (place: number) => boolean): string[] => ASCENDING.filter((_n, place) => isIn(place)).flatMap((n) => [n, n]);
const between = (from: number, to: number): string[] => all((place) => place > from && place < to);
const ofOther = (isIn: (place: number, other: number) => boolean): string[] =>
  ENTRIES.filter((entry) => isIn(Number(textOf(entry.get('place'))), ASCENDING.indexOf(textOf(entry.get('other'))))).map((entry) =>
    textOf(entry.get('n')),
  );

/** Filters, and `n` of what they match, in any order. */
export const FILTERS: readonly Case[] = [
  ...ASCENDING.flatMap((bound, at): readonly Case[] => [
    ...Object.entries(OPERATORS).map(([operator, holds]) => ({ query: `n:${operator}${bound}`, rows: all((place) => holds(place, at)) })),
    { query: `n:["${bound}", ${bound}]`, rows: [bound, bound] },
    { query: `n:range(${bound}, ${ASCENDING[at + 3] ?? 'inf'})`, rows: between(at, at + 3 < ASCENDING.length ? at + 3 : Infinity) },
    { query: `n:in(${bound})`, rows: [bound, bound] },
    // with a unit all values are read in another way
    { query: `n:>${bound} n:<1TB`, rows: all((place) => place > at && place < ASCENDING.indexOf('4503599627370497.25')) },
    { query: `n:<=${bound} !n:<1TB`, rows: all((place) => place <= at && place >= ASCENDING.indexOf('4503599627370497.25')) },
  ]),
  { query: 'n:lt_field(other)', rows: ofOther((place, other) => place < other) },
  { query: 'n:le_field(other)', rows: ofOther((place, other) => place <= other) },
  { query: 'n:eq_field(other)', rows: ofOther((place, other) => place === other) },
];

const least = (from: number): string => ASCENDING[from] ?? '';

/** Queries, and their rows as JSON objects of strings, in their order. */
export const PIPES: readonly { readonly query: string; readonly rows: readonly Readonly<Record<string, string>>[] }[] = [
  { query: '* | sort by (n) | fields n', rows: ASCENDING.flatMap((n) => [{ n }, { n }]) },
  { query: '* | sort by (n) limit 100 | fields n', rows: ASCENDING.flatMap((n) => [{ n }, { n }]) },
  { query: '* | sort by (n desc) limit 5 | fields n', rows: [-1, -1, -2, -2, -3].map((at) => ({ n: ASCENDING.at(at) ?? '' })) },
  { query: '* | last 3 by (n) | fields n', rows: [-1, -1, -2].map((at) => ({ n: ASCENDING.at(at) ?? '' })) },
  ...ASCENDING.flatMap((bound, at) => [
    { query: `n:>=${bound} | stats min(n) v`, rows: [{ v: least(at) }] },
    { query: `n:<=${bound} | stats max(n) v`, rows: [{ v: least(at) }] },
    { query: `* | stats min(n) if (n:>=${bound}) v`, rows: [{ v: least(at) }] },
    { query: `* | stats count() if (n:<${bound}) v`, rows: [{ v: String(2 * at) }] },
    { query: `n:<=${bound} | stats quantile(1, n) v`, rows: [{ v: least(at) }] },
    { query: `n:<=${bound} | stats row_max(n, n) v`, rows: [{ v: `{"n":"${bound}"}` }] },
    { query: `n:>=${bound} | stats row_min(n, n) v`, rows: [{ v: `{"n":"${bound}"}` }] },
  ]),
];
