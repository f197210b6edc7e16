import { expect } from 'chai';
import fc from 'fast-check';
import { Draft } from '../../../pipeline/logs/draft.ts';
import { Names } from '../../../pipeline/logs/names.ts';
import { lastJsonError, validUtf8, type EntryWriter } from '../../../pipeline/logs/writer.ts';
import { objectScanner } from '../../../pipeline/wasm/object-scanner.ts';
import { Random } from '../../fuzz/random.ts';
import { expectBothWays } from './both-ways.ts';
import { extent } from '../../extent.ts';

if (objectScanner === null) throw new Error('The WebAssembly module is not built.');
const scanner = objectScanner;
const PIECE = 4 * 65_536 - 64;

/** Takes the lines of a body as objects; what is none is rejected with the place where it stopped being one. */
function takeLines(body: Buffer): (out: EntryWriter) => void {
  return (out) => {
    for (let at = 0; at < body.length;) {
      const feed = body.indexOf(0x0a, at);
      const end = feed < 0 ? body.length : feed;
      if (body[at] === 0x7b && out.object(body, at, end, true, 'no message') >= 0) at = end + 1;
      else {
        out.reject('invalid', body, at, end, () => String(body[at] === 0x7b ? lastJsonError() : -1));
        at = end + 1;
      }
    }
  };
}

const expectSame = (text: string | Buffer): void => {
  expectBothWays(takeLines(validUtf8(Buffer.from(text))));
};

const NAMES = [
  'a',
  'b',
  'a.b',
  '_msg',
  'message',
  'level',
  'host',
  'trace_id',
  '_time',
  '__proto__',
  'constructor',
  'é',
  '',
  '\\u0061',
  'a\\n',
  '😀',
];
const TEXTS = [
  '',
  'x',
  'some text that is longer than sixteen bytes',
  'é€😀',
  '\\"',
  '\\\\',
  '\\u00e9',
  '\\ud83d',
  '\\ud83d\\ude00',
  '\\n\\t\\/',
  '\\u12',
  '\\x',
  '\u0001',
];
const SCALARS = [
  '0',
  '-0',
  '-1.5e+10',
  '1E5',
  '01',
  '1.',
  '-',
  '.5',
  '1e',
  'true',
  'false',
  'null',
  'nul',
  'truex',
  '18446744073709551616',
  '2026-01-01',
];
const SPACES = ['', '', '', ' ', '  ', '\t', '\r', '\u000b'];

const space = fc.constantFrom(...SPACES);
const string = fc
  .oneof(
    fc.constantFrom(...TEXTS),
    fc.array(fc.constantFrom(...TEXTS), { maxLength: 4 }).map((parts) => parts.join('')),
    fc.string({ unit: 'grapheme', maxLength: 40 }).map((text) => JSON.stringify(text).slice(1, -1)),
  )
  .map((text) => `"${text}"`);
const name = fc.oneof({ weight: 8, arbitrary: fc.constantFrom(...NAMES).map((text) => `"${text}"`) }, { weight: 1, arbitrary: string });
/** Something like a JSON object: mostly one, with all kinds of small mistakes. */
const { object } = fc.letrec<{ value: string; object: string; list: string }>((tie) => ({
  value: fc.oneof({ maxDepth: 5, withCrossShrink: true }, fc.oneof(string, fc.constantFrom(...SCALARS)), tie('object'), tie('list')),
  list: fc
    .array(
      fc.tuple(space, tie('value'), space).map((parts) => parts.join('')),
      { maxLength: 4 },
    )
    .map((parts) => `[${parts.join(',')}]`),
  object: fc
    .tuple(
      space,
      fc.array(fc.tuple(space, name, space, space, tie('value'), space), { maxLength: 6 }),
      fc.constantFrom('', '', '', '', ',', '}'),
    )
    .map(
      ([first, members, rest]) =>
        `{${first}${members.map(([a, key, b, c, value, d]) => `${a}${key}${b}:${c}${value}${d}`).join(',')}${rest}}`,
    ),
}));

/** How many bytes of an object the scanner takes, once it knows the names; -1 where it leaves it to the draft. */
function scanned(text: string): number {
  const names = new Names();
  const draft = new Draft(names);
  const body = Buffer.from(text);
  for (const time of [1, 2]) {
    draft.begin(body);
    const after = draft.readObject(0, body.length);
    if (after < 0 && time === 2) return -1;
  }
  return scanner.scan(body, 0, body.length);
}

describe('objects read by the scanner', () => {
  for (const text of [
    '{}',
    '{"a":"x","b":1.5e3,"c":true,"d":false,"e":null,"f":"","g":"\\"\\\\\\n\\u00e9"}',
    ' { "a" : { "b" : { "c" : [ 1 , { "d" : [ ] } ] } } , "_msg" : { "x" : "\\ud83d" } } '.trim(),
    `{"${'n'.repeat(250)}":"${'v'.repeat(100_000)}é"}`,
  ])
    it(`are not left to the draft: ${text.slice(0, 60)}`, () => {
      expect(scanned(text)).to.equal(Buffer.byteLength(text));
      expectSame(text);
    });

  for (const [what, text] of Object.entries({
    'a name twice': '{"a":1,"a":2}',
    'a name twice, once with an escape': '{"a":1,"\\u0061":2}',
    'no JSON': '{"a":01}',
    'objects 33 levels deep': '{"a":'.repeat(33) + '1' + '}'.repeat(33),
    'arrays 33 levels deep': `{"a":${'['.repeat(33)}${']'.repeat(33)}}`,
    'more than 1,024 fields': `{${Array.from({ length: 1025 }, (_, i) => `"f${String(i)}":1`).join(',')}}`,
    'a name of more than 1,024 bytes': `{"${'\\u0061'.repeat(200)}":1}`,
  }))
    it(`are left to the draft: ${what}`, () => {
      expect(scanned(text)).to.equal(-1);
      expectSame(text);
    });

  it('are the same at every limit of depth and fields', () => {
    for (let depth = 28; depth <= 68; depth++) {
      expectSame(`{"_msg":"x","a":${'{"b":'.repeat(depth)}1${'}'.repeat(depth)}}`);
      expectSame(`{"_msg":"x","a":${'['.repeat(depth)}1${']'.repeat(depth)}}`);
      expectSame(`{"_msg":"x","a":${'{"b":'.repeat(31)}${'['.repeat(depth - 20)}${']'.repeat(depth - 20)}${'}'.repeat(31)}}`);
    }
    for (const count of [998, 999, 1000, 1001, 1023, 1024, 1025])
      expectSame(`{"_msg":"x",${Array.from({ length: count }, (_, i) => `"f${String(i)}":${String(i)}`).join(',')}}`);
  });

  it('whatever they are, records are the same to the byte', () => {
    fc.assert(
      fc.property(fc.array(object, { minLength: 1, maxLength: 5 }), (lines) => {
        expectSame(lines.join('\n'));
      }),
      { numRuns: extent(500, 1500) },
    );
  });

  it('cut off anywhere', () => {
    fc.assert(
      fc.property(object, fc.nat(), (text, at) => {
        const bytes = Buffer.from(text);
        expectSame(Buffer.concat([bytes.subarray(0, at % (bytes.length + 1)), Buffer.from('\n{"a":"b","_msg":"x"}')]));
      }),
      { numRuns: 1000 },
    );
  });

  it('of any bytes', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 80 }), object, (bytes, text) => {
        expectSame(Buffer.concat([Buffer.from('{"'), bytes, Buffer.from(text)]));
      }),
      { numRuns: 500 },
    );
  });

  it('with each byte exchanged for others', () => {
    const text = '{"_msg":"a \\" \\u00e9 é","n":-1.5e+3,"o":{"t":true,"f":[1,"x",null]} , "z":""}';
    const bytes = Buffer.from(text);
    for (let at = 1; at < bytes.length; at++) {
      for (const byte of Buffer.from('"\\{}[]:,0-.eE+tfnu \n\u0001x')) {
        const other = Buffer.from(bytes);
        other[at] = byte;
        expectSame(other);
      }
    }
  }).timeout(20_000);

  it('across the borders of pieces', () => {
    const random = new Random(7);
    const lines: string[] = [];
    for (let size = 0; size < 4 * PIECE;) {
      const long = random.below(50) === 0 ? random.below(80_000) : random.below(400);
      const line = `{"_msg":"${'m'.repeat(long)}","a":{"b":"é\\n","c":${String(long)}},"${random.below(20) === 0 ? `n${String(size)}` : 'd'}":"x"}`;
      lines.push(line);
      size += line.length + 1;
    }
    lines.splice(5, 0, `{"_msg":"${'x'.repeat(PIECE)}"}`, `{"_msg":"${'y'.repeat(PIECE - 14)}"}`, '{"a":"b"');
    expectSame(lines.join('\n'));
    const list = Buffer.from(lines.filter((line) => line.endsWith('}')).join(','));
    expectBothWays((out) => {
      for (let at = 0; at < list.length; at++) at = out.object(list, at, list.length);
    });
  });

  it('before others and after them in the same body', () => {
    const body = Buffer.from(`{"_msg":"one","a":1} ${' '.repeat(PIECE)} {"_msg":"two","b":2}`);
    const second = body.lastIndexOf('{');
    expectBothWays((out) => {
      for (const at of [second, 0, second, 0]) out.object(body, at, body.length);
    });
  });

  it('with more names than there is room for', () => {
    for (let round = 0; round < 3; round++)
      expectSame(
        Array.from(
          { length: 400 },
          (_, i) =>
            `{"_msg":"x",${Array.from({ length: 60 }, (_unused, f) => `"${String(round)}-${String(i)}-${String(f)}":1`).join(',')}}`,
        ).join('\n'),
      );
  }).timeout(20_000);
});
