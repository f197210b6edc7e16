/** Entries that look random: values of every type LogsQL tells apart, missing fields, streams, equal times and times of nanoseconds. */
import { Literal, textOf, type FieldValue, type LogEntry } from '../../pipeline/core/entry.ts';
import { parseStream, renderStream } from '../../pipeline/core/labels.ts';
import { momentText } from '../../logsql/values/times.ts';
import { parseTime } from '../../pipeline/core/time.ts';
import type { Random } from '../fuzz/random.ts';

/** Pieces of texts: words that share parts, letters whose case folds oddly, separators, and what ends a literal or a regexp. */
export const PIECES: readonly string[] = [
  ...[
    'foo',
    'Foo',
    'FOO',
    'bar',
    'foobar',
    'foo_bar',
    'error',
    'Error',
    'err',
    'login',
    'failed',
    'a',
    'b',
    'é',
    'É',
    'ß',
    'ẞ',
    'İstanbul',
  ],
  ...[
    'istanbul',
    'ISTANBUL',
    'ı',
    '\u212a',
    'ſ',
    'k',
    'K',
    'ΟΔΟΣ',
    'οδος',
    'οδοσ',
    'Ошибка',
    'ошибка',
    '日本',
    'ǅ',
    'ﬁ',
    '²',
    '٣',
    '1',
    '15',
  ],
  ...[
    '1.5',
    '0',
    '_',
    '-',
    '.',
    '=',
    ':',
    '/',
    ' ',
    ' ',
    ' ',
    '  ',
    '\n',
    '\t',
    '"',
    "'",
    '\\',
    '`',
    '“',
    '€',
    '😀',
    '𝒜',
    'e\u0301',
    '\0',
    '%',
  ],
  ...[
    '[',
    ')',
    '(',
    '*',
    '^',
    '$',
    '|',
    '{',
    '}',
    ',',
    '#',
    '<',
    '>',
    '&',
    'id=7',
    'took 15ms',
    '10.0.0.1',
    'GET /api/v1?x=1',
    '\u0085',
    '\ufeff',
  ],
];

/** Texts that are, or nearly are, numbers, sizes, durations, addresses and times. */
export const NUMBERS: readonly string[] = [
  ...[
    '0',
    '-0',
    '1',
    '7',
    '10',
    '9',
    '42',
    '100',
    '200',
    '404',
    '500',
    '-1',
    '-1.5',
    '007',
    '1e3',
    '1E-3',
    '+5',
    '.5',
    '5.',
    '1.50',
    '1.5',
  ],
  ...[
    '0.1',
    '0.2',
    '1_000',
    '_',
    '_._',
    '1._5',
    '_1s',
    '1KB2.0',
    '1KB2.5',
    '0x_',
    '0x_ff',
    '0xf__f',
    '0x7fffffffffffffff',
    '0xffffffffffffffff',
    '1,000',
    '0xff',
    '0XfF',
    '0b101',
    '0o17',
    '-0x10',
    'inf',
    '-Inf',
    '+inf',
    'nan',
    'NaN',
    'infinity',
    '12abc',
  ],
  ...['1e400', '18446744073709551615', '18446744073709551616', '9007199254740993', '9223372036854775807', '-9223372036854775808', '-', '.'],
  ...[
    '+',
    '10KiB',
    '1.5MB',
    '2K',
    '700B',
    '1KB2B',
    '10kb',
    '5m',
    '1h30m',
    '250ms',
    '1.5s',
    '789µs',
    '-1s',
    '1y',
    '5x',
    '1ns',
    '1d2h',
    '1w',
  ],
  ...['1.2.3', '1.2.3.4', '1.2.3.256', '001.2.3.4', '10.0.0.1', '10.0.0.2', '192.168.1.7', '255.255.255.255', '1.9.0', '1.10.0', 'v1.10'],
  ...['2026-11-18T10:00:00Z', '2026-11-18 10:00:00', '2026-11-18T10:00:00.5+02:00', '2026-11-18', '2026-11-18T10:00:01.123456789Z'],
  ...[
    '1969-12-31T23:59:59Z',
    '2026-02-30T00:00:00Z',
    '1700-00-00T24:61:61-1:2',
    '2262-12-31T23:59:59Z',
    '2263-01-01T00:00:00Z',
    '2026-11-18T25:00:00Z',
    ' 1',
    '1 ',
    'true',
    '1e',
    '--1',
    '0.',
    '00',
    '1__0',
    '_1',
    '0x',
    '1.5.',
  ],
  ...[
    '1e-7',
    '123456789012345678901',
    '0.30000000000000004',
    '3.14159265358979',
    '1e21',
    '1e16',
    '12345678901234567',
    '1.7976931348623157e308',
  ],
  // neighbours of which several are one float
  ...[
    '9007199254740992',
    '9007199254740992.5',
    '9007199254740993.5',
    '9007199254740994',
    '-9007199254740993',
    '-9007199254740993.5',
    '9.007199254740993e15',
    '9007199254740992B',
    '18446744073709551614',
    '9223372036854775806',
    '-9223372036854775807',
    '-9223372036854775807.5',
    '1795255200000000001',
    '1795255200000000002',
    '4503599627370497.25',
    '4503599627370497',
    '123456789012345678902',
    '2026-11-18T10:00:01.123456788Z',
    '0x20000000000001',
    '12345678901234568',
    '+12345678901234567',
    '9_007199254740993',
  ],
];

/** Texts with a structure that pipes take apart. */
const STRUCTURED: readonly string[] = [
  '{"a":1.50,"b":{"c":[1,"x"]},"d":null,"e":""}',
  '{"foo":"bar","n":42,"_msg":"inner"}',
  '{"a":"x","a":"y"}',
  '{"__proto__":{"a":1},"constructor":"c"}',
  '{broken',
  '[]',
  '[1,2,3]',
  '["a","b",{"c":1},null]',
  'a=1 b="x y" c= d="\\"q\\""',
  'level=error msg="login failed" took=15ms',
  '<34>Oct 11 22:14:15 host su: failed',
  '<165>1 2026-11-18T10:00:00.003Z h app 123 ID47 - msg',
  '\u001b[31mred\u001b[0m text',
  '2026-11-18T10:00:00Z 10.0.0.1 0x1f2e id-deadbeef-1234',
];

/** Fields of entries; the first four have columns of their own. */
export const NAMES: readonly string[] = [
  ...[
    'level',
    'service',
    'trace_id',
    'span_id',
    'a',
    'b',
    'n',
    'm',
    'took',
    'ip',
    'at',
    'k8s.pod',
    'k8s.node',
    'http:status',
    'Ünï',
    'a b',
  ],
  ...['__proto__', 'constructor', 'js', 'app', 'host', 'tenant_id', 'stream_id', 'fields', "q'", 'NaN'],
];
const TYPED: ReadonlySet<string> = new Set(['n', 'm', 'http:status', 'a', 'trace_id', 'span_id', '__proto__', 'tenant_id']);

export const STREAMS: readonly string[] = [
  '{}',
  renderStream([['app', 'web']]),
  renderStream([
    ['app', 'web'],
    ['host', 'h1'],
  ]),
  renderStream([
    ['app', 'db'],
    ['host', 'h2'],
  ]),
  renderStream([
    ['app', 'Ошибка "q"\\n'],
    ['a b', '1.5'],
  ]),
];

const BASE = parseTime('2026-11-18T10:00:00Z') ?? 0n;
const FAR = [
  '1969-12-31T23:59:59.999999999Z',
  '1970-01-01T00:00:00Z',
  '2000-02-29T12:00:00Z',
  '2199-12-31T23:59:59Z',
  '1955-06-15T08:30:00.5Z',
];

/** Words, separators and numbers one after another. */
export function textOfPieces(random: Random, most: number): string {
  let text = '';
  for (let left = random.below(most + 1); left > 0; left -= 1) text += random.pick(PIECES);
  return text;
}

function value(random: Random): string {
  const kind = random.below(10);
  if (kind < 4) return random.pick(NUMBERS);
  if (kind === 4) return random.pick(STRUCTURED);
  if (kind === 5) return random.pick(['error', 'warn', 'info', 'Error', 'x']);
  return textOfPieces(random, 5);
}

function timeOf(random: Random): string {
  const kind = random.below(40);
  if (kind === 0) return random.pick(FAR);
  const unit = random.pick([1_000_000_000n, 1_000_000_000n, 1_000_000n, 1000n, 1n]);
  const span = unit === 1_000_000_000n ? 600 : 999;
  return momentText(BASE + BigInt(random.below(30)) * 1_000_000_000n * BigInt(1 + random.below(100)) + BigInt(random.below(span)) * unit);
}

/** A JSON number or boolean, or the text. */
function typed(random: Random, name: string, text: string): FieldValue {
  const isLiteral = /^(?:-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false)$/.test(text);
  return isLiteral && TYPED.has(name) && random.below(2) === 0 ? new Literal(text) : text;
}

function entry(random: Random): LogEntry {
  const stream = random.pick(STREAMS);
  const row: LogEntry = new Map<string, FieldValue>([
    ['_time', timeOf(random)],
    ['_stream', stream],
    ['_msg', random.below(8) === 0 ? value(random) : textOfPieces(random, 8)],
  ]);
  for (const name of NAMES) {
    if (random.below(3) !== 0) continue;
    const text = value(random);
    if (text !== '') row.set(name, name === 'level' || name === 'service' ? text : typed(random, name, text));
  }
  for (const [label, text] of parseStream(stream)) row.set(label, text);
  return row;
}

/** Objects as logs have them, each in another form. */
function plainJson(random: Random): string {
  const text = JSON.stringify(random.pick(PIECES) + random.pick(PIECES)).replaceAll('/', random.pick(['/', '\\/']));
  const number = random.pick(['0', '-1.50', '1e3', String(random.below(1000)), '18446744073709551616', 'true', 'null']);
  const [a, foo] = [random.pick([text, number, '""']), random.pick([text, number, `[${number}, ${text}]`])];
  const parts = [
    `"a":${a}`,
    `"foo": ${foo}`,
    `"b":{"c":${a},"a":1}`,
    `"n":{"a":{"b":2}}`,
    `"a.b":${number}`,
    `"t":[[],["a"]]`,
    `"x":${text}`,
  ];
  return `{${parts.filter(() => random.below(3) > 0).join(random.pick([',', ' , ']))}}`;
}

/** Values of one kind, hardly two of them the same: more than ClickHouse gives back for a choice among them. */
const WIDE: Readonly<Record<string, (random: Random) => string>> = {
  n: (random) => (random.below(1_000_000) / 1000).toFixed(random.below(4)),
  m: (random) => `${String(random.below(5000) / 10)}${random.pick(['KB', 'KiB', 'MB', 'B'])}`,
  took: (random) => `${(random.below(90_000) / 1000).toFixed(3)}${random.pick(['ms', 'ms', 's'])}`,
  ip: (random) => `10.0.${String(random.below(99))}.${String(random.below(256))}`,
  at: (random) => momentText(BASE + BigInt(random.below(1_000_000_000))),
  'a b': (random) => random.pick(['5m', '1.50', '1.5', '7']),
  js: (random) => (random.below(2) === 0 ? String(random.below(3000)) : plainJson(random)),
};

/** Many entries with few fields, oldest first; now and then a value is of another kind than its neighbours. */
export function wideEntries(random: Random, size: number): LogEntry[] {
  return Array.from({ length: size }, (_none, index) => {
    const row: LogEntry = new Map<string, FieldValue>([
      ['_time', momentText(BASE + BigInt(index) * 1_000_000n)],
      ['_stream', STREAMS[1] ?? '{}'],
      ['_msg', `took ${String(random.below(5))}ms`],
      ['app', 'web'],
    ]);
    for (const [name, valueOf] of Object.entries(WIDE)) if (random.below(9) > 0) row.set(name, valueOf(random));
    if (random.below(size) === 0) row.set(random.pick(['n', 'm', 'took', 'js']), value(random));
    return row;
  });
}

/** Entries, oldest first; among equal times in the order of their arrival. */
export function randomEntries(random: Random, size: number): LogEntry[] {
  const keyed = Array.from({ length: size }, () => entry(random)).map((row) => ({ row, at: parseTime(textOf(row.get('_time'))) ?? 0n }));
  return keyed.sort((a, b) => (a.at < b.at ? -1 : a.at > b.at ? 1 : 0)).map(({ row }) => row);
}
