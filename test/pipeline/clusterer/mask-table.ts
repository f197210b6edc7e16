/**
 * The masks as regular expressions: what `pipeline/clusterer/masker.ts` does in one pass over the bytes, said in tables. It is the test's
 * oracle: written for reading, not for speed. It works on a message as a latin1 string, a character a byte, and keeps placeholders as
 * characters that no byte is.
 */
import {
  BEFORE_USER,
  KEPT_WORDS,
  MAX_MESSAGE,
  MAX_TEXT,
  MONTHS_AND_DAYS,
  NO_VALUES,
  SOURCES,
  TEXT_KEYS,
  UNITS,
  ZONES,
  wholeCharacters,
} from '../../../pipeline/clusterer/words.ts';

const TYPES = {
  '*': '\u0100',
  N: '\u0101',
  IP: '\u0102',
  ID: '\u0103',
  HOST: '\u0104',
  PATH: '\u0105',
  URL: '\u0106',
  TS: '\u0107',
  YEAR: '\u0108',
};
type Type = keyof typeof TYPES;
const { N, PATH, URL, ID, TS, YEAR } = TYPES;
const ANY = TYPES['*'];
const MASK = '[\u0100-\u0108]';

const BLANK = String.raw`\x00-\x20\x7f`;
/** What ends an atom. */
const HARD = String.raw`,;()\[\]{}"'<>|=\x60`;
const ATOM = `[^${BLANK}${HARD}]`;
const QUOTED = String.raw`"(?:[^"\\]|\\[^])*"`;
const KEY = `(?:${TEXT_KEYS.join('|')})`;
const TOKEN = new RegExp(
  [
    `(?<blank>[${BLANK}]+)`,
    `(?<url>(?:/(?:${ATOM}|=)*?|${ATOM}+?)://[^${BLANK}"'<>()\\[\\]{}\\x60]*)`,
    `(?<atom>/(?:${ATOM}|=)*|${ATOM}+)`,
    `(?<value>(?<=${ATOM}=|":[${BLANK}]?)(?<!(?:^|[^A-Za-z])${KEY}(?:=|":[${BLANK}]?))${QUOTED})`,
    // the sign of a bound, `<1 sec`, but no bracket, `<134>`
    `(?<sign>(?<=^|[${BLANK}])[<>](?=\\d${ATOM}*(?![^${BLANK},;()\\[\\]{}"'<|=\\x60])))`,
    `(?<hard>[${HARD}])`,
  ].join('|'),
  'g',
);
const IS_VALUE = new RegExp(`${ATOM}=$`);
const IS_TEXT = new RegExp(`(?:^|[^A-Za-z])${KEY}=$`);

type Table = readonly (readonly [RegExp, Type | ''])[];
const first = (table: Table, text: string): Type | '' | undefined => table.find(([pattern]) => pattern.test(text))?.[1];

/** What a part without a digit is, by the first row that matches. */
const NAMES: Table = [
  [new RegExp(`^(?:${NO_VALUES.join('|')})$`), '*'],
  [/^\.?\/.|\/[^]*\/|\\[^]*\\/s, 'PATH'],
  [/\.[^]*(?:Exception|Error)$/, ''],
  [/\.[^]*\./, 'HOST'],
  [/@[^]*\.|^[^]{65}/, 'ID'],
];
/** What a part with a digit is. */
const NUMBERS: Table = [
  [/^\/?\d+\.\d+\.\d+\.\d+$/, 'IP'],
  [/^(?:19|20)\d\d$/, 'YEAR'],
  [/^[+-]?[\d.]+[A-Za-z%]{0,2}$/, 'N'],
  [/^\d\d\d\d-\d\d-\d\d|^\d+\/[A-Z][a-z][a-z]\/\d/, 'TS'],
  [/^\/.|\/[^]*\/|\\[^]*\\/s, 'PATH'],
  [/\.[^]*\./, 'HOST'],
  [/./s, 'ID'],
];
/** Bodies with a colon that are one thing. */
const WHOLES: Table = [
  [new RegExp(`^[A-Za-z][\\w-]*(?:\\.[\\w-]+)*\\.(?!(?:${SOURCES.join('|')}):)[a-z]{2,}:\\d+$`), 'HOST'],
  [/^[A-Za-z]:\\/, 'PATH'],
  [/^\d+:\d\d(?::\d\d)?(?:\.\d+)?$/, 'TS'],
  [/^\d\d\d\d[-/]\d\d?[-/]\d\d?[T:]\d+:\d/, 'TS'],
  [/^(?=[^]*\d)[0-9a-fA-F]*:[0-9a-fA-F]*:[0-9a-fA-F:.]*$/, 'ID'],
];
const KEPT = new Set(KEPT_WORDS);
/** `<HOST>:<N>` is one. */
const WITH_PORT = new RegExp(`(${MASK})(?::${MASK})+`, 'g');

function part(text: string, isCall: boolean): string {
  if (!/\d/.test(text)) {
    const type = first(NAMES, text);
    return type ? TYPES[type] : text;
  }
  if (KEPT.has(text) || (isCall && /^[A-Za-z_]/.test(text))) return text;
  return TYPES[first(NUMBERS, text) as Type];
}

function atom(text: string, before: string, after: string): string {
  const [, lead = '', body = '', trail = ''] = /^([#@*~&:?!%+$]*)([^]*?)([.:!?%*&#@~+-]*)$/.exec(text) ?? [];
  if (body === '') return text;
  const whole = first(WHOLES, body);
  if (IS_VALUE.test(before) && !IS_TEXT.test(before) && (/\d/.test(body) || !/^[([{]/.test(after)))
    return lead + TYPES[whole || '*'] + trail;
  if (whole) return lead + TYPES[whole] + trail;
  const parts = body.split(/(:+|\.\.+)/);
  const masked = parts.map((one, index) =>
    index % 2 === 1 || one === '' ? one : part(one, trail === '' && index === parts.length - 1 && after.startsWith('()')),
  );
  return lead + masked.join('').replace(WITH_PORT, '$1') + trail;
}

const END = `(?=[.:!?%*&#@~+-]*(?:$|[ ${HARD}]))`;
const NAME = `(?<=^|[ ${HARD}])`;
/** What joins masks to words around them, in this order. */
const JOINS: readonly (readonly [RegExp, string])[] = [
  [
    new RegExp(`${NAME}((?:${BEFORE_USER.join('|')}) user )(?!unknown)[A-Za-z_\\x80-\\xff][^ ${HARD}\u0100-\u0108]*?${END}`, 'g'),
    `$1${ANY}`,
  ],
  [new RegExp(`${NAME}(?:(?:${MONTHS_AND_DAYS.join('|')}) ){1,2}[${N}${TS}${YEAR}]`, 'g'), TS],
  [new RegExp(`${TS}(?:,${N}| [${TS}${YEAR}]| (?:${ZONES.join('|')})${END})+`, 'g'), TS],
  [new RegExp(`([${N}${YEAR}]) (?:${UNITS.join('|')})${END}`, 'g'), N],
  [new RegExp(`([${PATH}${URL}${ID}${ANY}]) HTTP/[0-9](?:\\.[0-9])?${END}`, 'g'), '$1'],
];

/** The template of a message. */
export function maskByTable(message: Uint8Array): string {
  const text = Buffer.from(message.subarray(0, wholeCharacters(message, MAX_MESSAGE)))
    .toString('latin1')
    .replace(/\n[\t ][^\n]*/g, '\n');
  let out = text.replace(TOKEN, (token: string, ...rest: unknown[]) => {
    const groups = rest.at(-1) as Record<string, string | undefined>;
    const at = rest.at(-3) as number;
    if (groups['blank'] !== undefined) return ' ';
    if (groups['url'] !== undefined) return token.replace(/^[^]*?([.:!?%*&#@~+,;-]*)$/, `${URL}$1`);
    if (groups['value'] !== undefined) return `"${TYPES['*']}"`;
    if (groups['sign'] !== undefined) return '';
    return groups['hard'] ?? atom(token, text.slice(Math.max(0, at - 20), at), text.slice(at + token.length, at + token.length + 2));
  });
  for (const [pattern, by] of JOINS) out = out.replace(pattern, by);
  for (const [name, character] of Object.entries(TYPES)) out = out.replaceAll(character, `<${name === 'YEAR' ? 'N' : name}>`);
  const bytes = Buffer.from(out.replace(/^ | $/g, ''), 'latin1');
  if (bytes.length <= MAX_TEXT) return bytes.toString();
  const blank = bytes.lastIndexOf(0x20, MAX_TEXT - 1);
  return bytes.subarray(0, blank > 0 ? blank : wholeCharacters(bytes, MAX_TEXT)).toString();
}
