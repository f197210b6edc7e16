import { expect } from 'chai';
import fc from 'fast-check';
import { compact, last, shape, skipSpace, skipValue } from '../../../pipeline/wire/json-tokens.ts';
import { newWriter } from '../logs/entry-lines.ts';
import { extent } from '../../extent.ts';

/** Whether the tokenizer takes the whole text as one JSON value. */
function accepts(text: string): boolean {
  const body = Buffer.from(text);
  const start = skipSpace(body, 0, body.length);
  const after = skipValue(body, start, body.length);
  return after >= 0 && skipSpace(body, after, body.length) === body.length;
}

function parses(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

/** JSON texts with a few characters cut, doubled or exchanged. */
const mutated = fc
  .tuple(
    fc.json(),
    fc.nat(),
    fc.constantFrom('', '"', '{', '}', '[', ']', ',', ':', '\\', '\\u12', '0', '-', '.', 'e', 'true', 'nul', ' ', '\n', '\t', '\u0001'),
    fc.nat(3),
  )
  .map(([json, at, insert, cut]) => {
    const place = json.length === 0 ? 0 : at % json.length;
    return json.slice(0, place) + insert + json.slice(place + cut);
  });

describe('JSON tokenizer', () => {
  for (const good of ['{}', '[]', '0', '-0.5e+10', '""', '"\\u00e9\\n"', ' [ 1 , { "a" : [ ] } ] ', 'true', 'null', '{"a":{"b":{}}}'])
    it(`takes ${good}`, () => expect(accepts(good)).to.equal(true));
  for (const bad of [
    '',
    '{',
    '[',
    '[1,]',
    '{"a"}',
    '{"a":}',
    '{a:1}',
    '{"a":1,}',
    '01',
    '1.',
    '.5',
    '-',
    '1e',
    '+1',
    '"\t"',
    '"\\x"',
    '"\\u12g4"',
    '"',
    'tru',
    'nulll',
    '[1 2]',
    '{} {}',
    '{"a":1}}',
    "{'a':1}",
    'NaN',
    '\ufeff1',
  ]) {
    it(`refuses ${JSON.stringify(bad)}`, () => expect(accepts(bad)).to.equal(false));
  }

  it('agrees with JSON.parse on any text', () => {
    fc.assert(
      fc.property(fc.oneof(fc.json(), mutated), (text) => accepts(text) === parses(text)),
      { numRuns: extent(1500, 5000) },
    );
  });

  it('agrees with JSON.parse on whether an entry is an object', () => {
    fc.assert(
      fc.property(mutated, fc.boolean(), (text, wrap) => {
        const line = wrap ? `{"_msg":"m","x":${text}}` : `{"_msg":"m",${text.slice(1)}`;
        const body = Buffer.from(line);
        return newWriter().object(body, 0, body.length, true) >= 0 === parses(line);
      }),
      { numRuns: extent(1500, 5000) },
    );
  });

  it('compacts without changing the value', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => compact(JSON.stringify(value, null, 2)) === JSON.stringify(value)),
      { numRuns: 1000 },
    );
  });

  it('ends a value at the first bracket that is too deep, and takes one as deep as it may be', () => {
    const nested = (depth: number): Buffer => Buffer.from(`{"a":${'['.repeat(depth - 1)}${']'.repeat(depth - 1)}}`);
    expect(skipValue(nested(64), 0, nested(64).length, 64)).to.equal(nested(64).length);
    const deep = nested(500_000);
    expect([skipValue(deep, 0, deep.length, 64), shape.depth, last.failedAt]).to.deep.equal([-1, 65, 68]);
    expect([skipValue(deep, 0, deep.length), shape.depth]).to.deep.equal([deep.length, 500_000]);
  });
});
