import type { Random } from './random.ts';

/** Bytes that parsers trip over: edges of numbers and lengths, half characters, deep nesting, names that objects have. */
const WORDS: readonly Buffer[] = [
  ...[
    '{',
    '}',
    '[',
    ']',
    '"',
    '\\',
    ',',
    ':',
    '\n',
    '\r\n',
    '\0',
    ' ',
    '<',
    '>',
    '=',
    '-',
    'null',
    'true',
    '1e400',
    '-0',
    '0',
    '""',
    '{}',
    '[]',
  ],
  ...['18446744073709551615', '9223372036854775808', '1e-400', '0001-01-01T00:00:00Z', '9999-12-31T23:59:59Z', '\\ud83d', '\\u0000'],
  ...['"__proto__":{"x":1},', '"constructor":1,', '"_time":"x",', '"_msg":"",', '"_stream":"{a=1}",', '4294967295 <', '<191>1 - - - - - -'],
  '['.repeat(200),
  '{"a":'.repeat(100),
].map((text) => Buffer.from(text));
const BYTES: readonly Buffer[] = [
  Buffer.from([0xff]),
  Buffer.from([0xc3]),
  Buffer.from([0xed, 0xa0, 0x80]),
  Buffer.from([0xef, 0xbb, 0xbf]),
  Buffer.from([0xff, 0xff, 0xff, 0xff, 0x0f]),
  Buffer.from([0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01]),
  Buffer.from([0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x01]),
  Buffer.from([0xdd, 0xff, 0xff, 0xff, 0xff]),
  Buffer.from([0xc6, 0x7f, 0xff, 0xff, 0xff]),
  Buffer.alloc(64, 0x91),
];
const DICTIONARY = [...WORDS, ...BYTES];
const MAX_BYTES = 65_536;

type Change = (body: Buffer, random: Random, other: Buffer) => Buffer;

const cut = (body: Buffer, from: number, to: number, insert: Buffer = Buffer.alloc(0)): Buffer =>
  Buffer.concat([body.subarray(0, from), insert, body.subarray(to)]);

/** A range of the body, short more often than long. */
function range(body: Buffer, random: Random): [number, number] {
  const from = random.below(body.length + 1);
  const longest = Math.max(1, Math.min(body.length - from, 1 << random.below(11)));
  return [from, Math.min(body.length, from + random.below(longest) + 1)];
}

/** Ways to damage a body. */
const CHANGES: readonly Change[] = [
  function flipBit(body, random) {
    if (body.length === 0) return body;
    const copy = Buffer.from(body);
    const at = random.below(copy.length);
    copy[at] = (copy[at] as number) ^ (1 << random.below(8));
    return copy;
  },
  function setByte(body, random) {
    if (body.length === 0) return body;
    const copy = Buffer.from(body);
    copy[random.below(copy.length)] = random.below(256);
    return copy;
  },
  function truncate(body, random) {
    return body.subarray(0, random.below(body.length + 1));
  },
  function remove(body, random) {
    return cut(body, ...range(body, random));
  },
  function insertWord(body, random) {
    const at = random.below(body.length + 1);
    return cut(body, at, at, random.pick(DICTIONARY));
  },
  function replaceByWord(body, random) {
    const [from, to] = range(body, random);
    return cut(body, from, to, random.pick(DICTIONARY));
  },
  function repeat(body, random) {
    const [from, to] = range(body, random);
    const piece = body.subarray(from, to);
    return cut(body, to, to, Buffer.concat(Array.from({ length: 1 + random.below(20) }, () => piece)));
  },
  function splice(body, random, other) {
    const [from, to] = range(other, random);
    const at = random.below(body.length + 1);
    return cut(body, at, at, other.subarray(from, to));
  },
  function crossOver(body, random, other) {
    return Buffer.concat([body.subarray(0, random.below(body.length + 1)), other.subarray(random.below(other.length + 1))]);
  },
];

/** A body that is damaged in one to four ways; `other` lends pieces. */
export function mutate(body: Buffer, other: Buffer, random: Random): Buffer {
  let mutated = body;
  for (let left = 1 + random.below(4); left > 0; left--) mutated = random.pick(CHANGES)(mutated, random, other);
  return mutated.subarray(0, MAX_BYTES);
}
