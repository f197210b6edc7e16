/** Entries, queries over them, and the right rows: in memory and in ClickHouse. */
import type { LogEntry } from '../../pipeline/core/entry.ts';
import { formatTime } from '../../pipeline/core/time.ts';
import { NOW, entryOf, type Plain } from './support.ts';

export type Table = {
  readonly name: string;
  /** The newest first. */
  readonly entries: readonly LogEntry[];
  /** Queries, and their rows in their order. */
  readonly cases: readonly (readonly [query: string, ...rows: readonly Plain[]])[];
};

/** Entries a second apart, of a window that ends with NOW. */
const entries = (rows: readonly Plain[]): readonly LogEntry[] =>
  rows.map((row, index) =>
    entryOf({ _time: formatTime(NOW - BigInt(index + 1) * 1_000_000_000n), _stream: '{app="web"}', _msg: 'text', app: 'web', ...row }),
  );

/** Pipes after which `_msg` and `b` are gone, and `a` is there. */
const DROPS = [
  ...['fields a', 'keep a, n', 'delete _msg, b', 'rm _msg, b', 'drop b* | del _msg', 'fields a, _msg | delete _msg'],
  ...[
    'rename _msg as x, b as y',
    'mv b _msg | rm _msg',
    'copy a as z | fields a*, z',
    'filter n:>0 | fields a',
    'format "<a>" as z | fields a',
  ],
];
/** What finds nothing then, and no row. */
const NOTHING = [
  ...['filter _msg:*', 'where _msg:*', '_msg:*', 'filter _msg:text', 'filter text', 'filter b:*', 'filter b:>0', 'filter _msg:~"t.*"'],
  ...[
    'filter _msg:""* b:*',
    'filter (_msg:* or b:*)',
    'filter !_msg:""',
    'filter !b:""',
    'filter _msg:len_range(1, 9)',
    'filter b:in(1, 2)',
  ],
  ...['filter _msg:i(TEXT)', 'filter b:!=""', 'filter _msg:contains_any(text)', 'filter a:eq_field(b)', 'filter _msg:(* !nosuch)'],
];
const COUNTS: readonly (readonly [string, Plain])[] = [
  ['stats count(_msg) n, count(b) m, count_uniq(_msg, b) u, count() all', { n: 0, m: 0, u: 0, all: 2 }],
  ['stats count() if (_msg:*) n, count() if (b:*) m', { n: 0, m: 0 }],
  ['stats by (_msg, b) count() n', { n: 2 }],
  ['stats sum(b) n, max(_msg) m, count_empty(b) e', { n: 'NaN', e: 2 }],
  ['filter _msg:* | stats count() n', { n: 0 }],
  ['filter b:"" _msg:"" | stats count() n', { n: 2 }],
  ['sort by (b, _msg) | limit 1 | fields _msg, b | stats count(_msg) n', { n: 0 }],
  ['top 3 by (_msg)', { hits: 2 }],
  ['uniq by (b) with hits', { hits: 2 }],
  ['len(_msg) as n | fields n | uniq by (n)', { n: '0' }],
  ['math b + 1 as n | uniq by (n)', { n: 'NaN' }],
];

const DROPPED: Table = {
  name: 'fields that a pipe dropped are gone',
  entries: entries([
    { a: 1, b: 1, n: 1 },
    { a: 2, b: 2, n: 2 },
  ]),
  cases: DROPS.flatMap((drop) => [
    ...NOTHING.map((rest): [string] => [`* | ${drop} | ${rest}`]),
    ...COUNTS.map(([rest, row]): [string, Plain] => [`* | ${drop} | ${rest}`, row]),
  ]),
};

const SIZES: Table = {
  name: 'the smallest and largest of sizes, durations, addresses and times',
  entries: entries([
    { size: '700B', took: '90m', ip: '10.0.0.9', at: '2026-11-18T10:00:00.5Z', mixed: '700B' },
    { size: '3MiB', took: '1h', ip: '10.0.0.10', at: '2026-11-18T10:00:00.45Z', mixed: '10kb' },
    { size: '20KB', took: '250ms', ip: '9.255.0.1', at: '2026-11-18T12:00:00+02:00', mixed: '20KB' },
    { size: '1.5K', took: '1d2h', ip: '10.0.0.2', at: '2026-11-18T10:00:01Z', mixed: '9B' },
  ]),
  cases: [
    ['* | stats min(size) a, max(size) b', { a: '700B', b: '3MiB' }],
    ['* | stats min(took) a, max(took) b', { a: '250ms', b: '1d2h' }],
    ['* | stats min(ip) a, max(ip) b', { a: '9.255.0.1', b: '10.0.0.10' }],
    ['* | stats min(at) a, max(at) b', { a: '2026-11-18T12:00:00+02:00', b: '2026-11-18T10:00:01Z' }],
    // units are written in capitals: 10kb is a string, and these come after all numbers
    ['* | stats min(mixed) a, max(mixed) b', { a: '9B', b: '10kb' }],
    ['* | stats median(size) m, quantile(0.99, took) q', { m: '20KB', q: '1d2h' }],
    ['* | stats row_max(size, size) a, row_min(took, took) b', { a: '{"size":"3MiB"}', b: '{"took":"250ms"}' }],
    ['* | stats max(size) if (took:>=1h) a, min(size) if (took:<1d) b', { a: '3MiB', b: '700B' }],
    ['* | first 1 by (size) | fields size', { size: '700B' }],
    ['* | sort by (size desc) limit 2 | fields size', { size: '3MiB' }, { size: '20KB' }],
    ['* | sort by (took) limit 2 | fields took', { took: '250ms' }, { took: '1h' }],
    [
      '* | math max(size, 1KB) as m | stats by (m) count() n',
      { m: '1000', n: 1 },
      { m: '1500', n: 1 },
      { m: '20000', n: 1 },
      { m: '3145728', n: 1 },
    ],
  ],
};

/** Five minutes of a window that ends with NOW, 11:00: it begins in the middle of a bucket of 15 minutes. */
const RATES: Table = {
  name: 'rates: the seconds of a bucket, whole also at the ends of the window',
  entries: entries(Array.from({ length: 300 }, (_, index) => ({ n: index % 2 }))),
  cases: [
    ['* | stats by (_time:15m) rate() r, rate_sum(n) s | fields r, s', { r: 300 / 900, s: 150 / 900 }],
    ['* | stats by (_time:1m) rate() r, rate_sum(n) s | fields r, s | uniq by (r, s)', { r: '1', s: '0.5' }],
    ['_time:10m | stats rate() r, rate_sum(n) s', { r: 0.5, s: 0.25 }],
    ['_time:10m | stats by (app) rate() r', { app: 'web', r: 0.5 }],
    ['_time:10m | stats by (_time:1h) rate() if (n:1) r | fields r', { r: 150 / 3600 }],
    ['_time:10m | stats by (_time) rate() r | fields r | uniq by (r) with hits', { r: String(1 / 600), hits: 300 }],
  ],
};

export const TABLES: readonly Table[] = [SIZES, DROPPED, RATES];
