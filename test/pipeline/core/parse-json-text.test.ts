import { expect } from 'chai';
import fc from 'fast-check';
import { parseJsonText } from '../../../pipeline/core/parse-json-text.ts';
import { cpuMs } from '../../cpu-time.ts';

/** Names and values in their order, so that nothing is compared through objects. */
type Pairs = readonly (readonly [string, unknown])[];

const textOf = (pairs: Pairs): string => `{${pairs.map(([name, value]) => `${JSON.stringify(name)}:${JSON.stringify(value)}`).join(',')}}`;

describe('JSON with names of others', () => {
  it('has a name with an escape as it is, whatever names other objects had', () => {
    for (const last of ['\n', '"', '\r', '\u0001', '\\', '\t']) {
      const other = JSON.parse('{"h":[],"\\\\":0}') as object;
      expect(Object.keys(other)).to.deep.equal(['h', '\\']);
      expect(Object.keys(parseJsonText(`{"h":1,${JSON.stringify(last)}:2}`) as object)).to.deep.equal(['h', last]);
      expect(Object.keys(parseJsonText(`[{"h":1,\n${JSON.stringify(last)} \t:2}]`) as object[][0])).to.deep.equal(['0']);
      expect(Object.keys((parseJsonText(`[{"h":1,\n${JSON.stringify(last)} \t:2}]`) as object[])[0] ?? {})).to.deep.equal(['h', last]);
    }
  });

  it('has every name and value, in their order', () => {
    const piece = fc.string({ unit: fc.constantFrom('a', '"', '\\', '\n', ',', ':', '{', '}', 'é', '\u2028'), minLength: 1, maxLength: 3 });
    const value = fc.oneof(piece, fc.constantFrom(1, -2.5e3, true, null, [], {}, [1, ['x\n']], { 'a"': { '\n': '\\' } }));
    const pairs = fc.uniqueArray(fc.tuple(piece, value), { selector: ([name]) => name, maxLength: 4 });
    fc.assert(
      fc.property(pairs, (made) => {
        const read = Object.entries(parseJsonText(textOf(made)) as object);
        expect(read.map(([name]) => name)).to.deep.equal(made.map(([name]) => name));
        expect(JSON.stringify(read.map(([, own]) => own as unknown))).to.equal(JSON.stringify(made.map(([, own]) => own)));
      }),
      { numRuns: 20_000 },
    );
  });

  it('is what JSON.parse gives for other texts, and refuses what that refuses', () => {
    const texts = ['1', ' "a\\nb" ', '[]', '{}', '[{"a":"\\""},"x:\\"y"]', '{"a":1,"a":2}', '{"__proto__":{"x":1}}'];
    for (const text of texts) expect(parseJsonText(text), text).to.deep.equal(JSON.parse(text));
    for (const text of ['', '{', '{"a\\n"', '{"\\x":1}', '{"a\\n":1,}', '"\n"', '{"a\\n" 1}'])
      expect(() => parseJsonText(text), text).to.throw(SyntaxError);
  });

  it('makes a member of __proto__, also where another name has an escape', () => {
    const read = parseJsonText('{"\\n":1,"__proto__":{"polluted":true}}') as Record<string, unknown>;
    expect(Object.keys(read)).to.deep.equal(['\n', '__proto__']);
    expect(Object.getPrototypeOf(read)).to.equal(Object.prototype);
    expect(read['polluted']).to.equal(undefined);
  });

  it('takes time that grows with the text alone', () => {
    const texts = [`["${'\\n'.repeat(500_000)}"]`, `{${'"a":"\\"",'.repeat(100_000)}"b":1}`, `["${'\\\\'.repeat(500_000)}", {"\\n":1}]`];
    for (const text of texts) {
      const began = cpuMs();
      parseJsonText(text);
      expect(cpuMs() - began).to.be.below(2000);
    }
  });
});
