/**
 * The masks as regular expressions: what `pipeline/clusterer/masker.ts` does in one pass over the bytes, said in tables. It is the test's
 * oracle: written for reading, not for speed. It works on a message as a latin1 string, a character a byte, and keeps placeholders as
 * characters that no byte is. Text that is written without blanks, and signs and digits outside ASCII, are not in it.
 */
import {
  BEFORE_ADDRESS,
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
import { ADDRESS } from './address-patterns.ts';

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
/** `::` where it may be an address, the port behind brackets that hold one, and where an escape sequence ended a word. */
const [ANY_ADDRESS, PORT, CUT] = ['\u0109', '\u010a', '\u010b'];
type Type = keyof typeof TYPES;
const { N, PATH, URL, ID, TS, YEAR } = TYPES;
const ANY = TYPES['*'];
const MASK = '[\u0100-\u0108]';

const BLANK = String.raw`\x00-\x20\x7f`;
/** What ends an atom. */
const HARD = String.raw`,;()\[\]{}"'<>|=\x60`;
const ATOM_BYTE = `[^${BLANK}${HARD}]`;
/** A control sequence whose ESC is written as text. */
const ESCAPE_TEXT = String.raw`(?:\\(?:u001[bB]|x1[bB]|033|e)|#033)\[[0-?]*[A-Za-z]`;
const ATOM = `(?!${ESCAPE_TEXT})${ATOM_BYTE}`;
/** Escape sequences of terminals, in their 7-bit and 8-bit forms. */
const ESCAPES = new RegExp(
  [
    String.raw`(?:\x1b\[|\xc2\x9b)[0-?]*[ -/]*[@-~]?`,
    String.raw`(?:\x1b[\]PX^_]|\xc2[\x90\x98\x9d-\x9f])(?:(?:(?!\xc2\x9c)[^\x07\x1b\n])*(?:\x07|\x1b\\|\xc2\x9c))?`,
    String.raw`\x1b[!-/]*[0-~]|\xc2\x9c`,
  ].join('|'),
  'g',
);
const QUOTED = String.raw`"(?:[^"\\]|\\[^])*"`;
const KEY = `(?:${TEXT_KEYS.join('|')})`;
const TOKEN = new RegExp(
  [
    `(?<escape>${ESCAPE_TEXT})`,
    `(?<blank>[${BLANK}]+)`,
    `(?<url>(?:/(?:${ATOM}|=)*?|(?:${ATOM})+?)://(?:(?<=[/@])\\[${ADDRESS}\\]|[^${BLANK}"'<>()\\[\\]{}\\x60])*)`,
    `(?<atom>(?!${ESCAPE_TEXT})/(?:${ATOM}|=)*|(?:${ATOM})+)`,
    `(?<value>(?<=${ATOM_BYTE}=|":[${BLANK}]?)(?<!(?:^|[^A-Za-z])${KEY}(?:=|":[${BLANK}]?))${QUOTED})`,
    // the sign of a bound, `<1 sec`, but no bracket, `<134>`
    `(?<sign>(?<=^|[${BLANK}])[<>](?=\\d${ATOM_BYTE}*(?![^${BLANK},;()\\[\\]{}"'<|=\\x60])))`,
    `(?<hard>[${HARD}])`,
  ].join('|'),
  'g',
);
const IS_VALUE = new RegExp(`${ATOM_BYTE}=$`);
const IS_TEXT = new RegExp(`(?:^|[^A-Za-z])${KEY}=$`);

type Table = readonly (readonly [RegExp, Type | ''])[];
const first = (table: Table, text: string): Type | '' | undefined => table.find(([pattern]) => pattern.test(text))?.[1];

/** What a part without a digit is, by the first row that matches. */
const NAMES: Table = [
  [new RegExp(`^(?:${NO_VALUES.join('|')})$`), '*'],
  [/^\.?\/.|\/[^]*\/|\\[^]*\\/s, 'PATH'],
  [/\.[^]*(?:Exception|Error)$/, ''],
  [/\.[^]*\./, 'HOST'],
  [/@[^]*\./, 'ID'],
  [/^[0-9a-f]{32,}$|(?<![0-9a-f])[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i, 'ID'],
  // more than 64 characters of UTF-8
  [/^[\x80-\xbf]*(?:[^\x80-\xbf][\x80-\xbf]*){65}/, 'ID'],
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
  [/^(?=[^]*\d)[0-9a-fA-F]+:[0-9a-fA-F]*:[0-9a-fA-F:.]*$|^[a-f]{2}(?::[a-f]{2}){5}$/i, 'ID'],
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

const TRAIL = '[.:!?%*&#@~+-]*';
const IS_ADDRESS = new RegExp(`^([#@*~&?!%+$]*)(${ADDRESS}|:::\\d{1,5})(${TRAIL})$`);
const IS_PORT = new RegExp(`^:(\\d{1,5}|\\*)(${TRAIL})$`);
const IN_BRACKETS = new RegExp(`\\[${ADDRESS}\\]$`);
const IS_SLICE = /[A-Za-z0-9_]\[$/;

/** An atom that is an address, or a port behind brackets, with the marks of what the text around it decides; null for another. */
function address(text: string, before: string, after: string): string | null {
  const [, port = '', behind = ''] = (IN_BRACKETS.test(before) && IS_PORT.exec(text)) || [];
  if (port !== '') return `${PORT}:${port === '*' ? port : TYPES[/^(?:19|20)\d\d$/.test(port) ? 'YEAR' : 'N']}${behind}`;
  const [, lead = '', found = '', trail = ''] = IS_ADDRESS.exec(text) ?? [];
  if (found === '' || (lead === '' && IS_SLICE.test(before))) return null;
  if (found !== '::') return lead + ID + trail;
  if (lead !== '' || trail.startsWith(':')) return null;
  if ((IS_VALUE.test(before) && !IS_TEXT.test(before)) || (before.endsWith('[') && after.startsWith(']'))) return ID + trail;
  return ANY_ADDRESS + trail;
}

function atom(text: string, before: string, after: string): string {
  const asAddress = address(text, before, after);
  if (asAddress !== null) return asAddress;
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

const END = `(?=[.:!?%*&#@~+-]*(?:$|[ ${CUT}${HARD}]))`;
const NAME = `(?<=^|[ ${HARD}])`;
/** What joins masks to words around them, in this order. */
const JOINS: readonly (readonly [RegExp, string])[] = [
  [new RegExp(`${CUT}+(?= |$)|(?<=^| )${CUT}+`, 'g'), ''],
  [/ {2,}/g, ' '],
  [new RegExp(`${NAME}((?:${BEFORE_ADDRESS.join('|')}):? )${ANY_ADDRESS}`, 'g'), `$1${ID}`],
  [new RegExp(ANY_ADDRESS, 'g'), '::'],
  [new RegExp(`\\[${ID}\\]${PORT}:[${N}${YEAR}*]`, 'g'), ID],
  [new RegExp(PORT, 'g'), ''],
  [
    new RegExp(`${NAME}((?:${BEFORE_USER.join('|')}) user )(?!unknown)[A-Za-z_\\x80-\\xff][^ ${HARD}\u0100-\u0108]*?${END}`, 'g'),
    `$1${ANY}`,
  ],
  [new RegExp(`${NAME}(?:(?:${MONTHS_AND_DAYS.join('|')}) ){1,2}[${N}${TS}${YEAR}]`, 'g'), TS],
  [new RegExp(`${TS}(?:,${N}| [${TS}${YEAR}]| (?:${ZONES.join('|')})${END})+`, 'g'), TS],
  [new RegExp(`([${N}${YEAR}]) (?:${UNITS.join('|')})${END}`, 'g'), N],
  [new RegExp(`([${PATH}${URL}${ID}${ANY}]) HTTP/[0-9](?:\\.[0-9])?${END}`, 'g'), '$1'],
  [new RegExp(CUT, 'g'), ''],
];

/** The template of a message. */
export function maskByTable(message: Uint8Array): string {
  const text = Buffer.from(message.subarray(0, wholeCharacters(message, MAX_MESSAGE)))
    .toString('latin1')
    .replace(ESCAPES, '')
    .replaceAll('\x1b', ' ')
    .replace(/\n[\t ][^\n]*/g, '\n');
  let out = text.replace(TOKEN, (token: string, ...rest: unknown[]) => {
    const groups = rest.at(-1) as Record<string, string | undefined>;
    const at = rest.at(-3) as number;
    if (groups['escape'] !== undefined) return CUT;
    if (groups['blank'] !== undefined) return ' ';
    if (groups['url'] !== undefined) return token.replace(/^[^]*?([.:!?%*&#@~+,;-]*)$/, `${URL}$1`);
    if (groups['value'] !== undefined) return `"${TYPES['*']}"`;
    if (groups['sign'] !== undefined) return '';
    return groups['hard'] ?? atom(token, text.slice(Math.max(0, at - 100), at), text.slice(at + token.length, at + token.length + 2));
  });
  for (const [pattern, by] of JOINS) out = out.replace(pattern, by);
  for (const [name, character] of Object.entries(TYPES)) out = out.replaceAll(character, `<${name === 'YEAR' ? 'N' : name}>`);
  const bytes = Buffer.from(out.replace(/^ | $/g, ''), 'latin1');
  if (bytes.length <= MAX_TEXT) return bytes.toString();
  const blank = bytes.lastIndexOf(0x20, MAX_TEXT - 1);
  return bytes.subarray(0, blank > 0 ? blank : wholeCharacters(bytes, MAX_TEXT)).toString();
}
