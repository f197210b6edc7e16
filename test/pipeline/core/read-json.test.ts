import { expect } from 'chai';
import fc from 'fast-check';
import { readJson } from '../../../pipeline/core/read-json.ts';
import { cpuMs } from '../../cpu-time.ts';

/** The names of the only object in a text, as `JSON.stringify` writes them. */
const namesIn = (text: string): string => JSON.stringify(Object.keys(readJson(text) as object));

describe('JSON with the right names', () => {
  // each is a name that V8 may give for one with an escape
  before(() => {
    for (const name of ['\\\\', '\\\\n', '\\\\\\\\', 'a\\\\']) JSON.parse(`{"a":1,"${name}":2}`);
  });

  for (const name of ['\\n', '\\"', '\\/', '\\t', '\\u0001', '\\u0041', '\\\\', '\\nn', '\\\\n', 'a\\n', '\\ud83d\\ude00', '\\ud800'])
    it(`a name ${name} behind another one`, () => {
      expect(namesIn(`{"a":1,"${name}":2}`)).to.equal(JSON.stringify(['a', JSON.parse(`"${name}"`)]));
      expect(namesIn(`{"a":1, "${name}" \n:2}`)).to.equal(JSON.stringify(['a', JSON.parse(`"${name}"`)]));
    });

  it('names, values and order are those of the text', () => {
    const text = '{"b\\n":["\\"a\\":1",{"x\\\\":null,"#0":{}}],"__proto__":{"\\u0000":1},"1":"2","b\\n":{"c":-0.5e3}}';
    const read = readJson(text) as object;
    expect(Object.keys(read)).to.deep.equal(['1', 'b\n', '__proto__']);
    expect(JSON.stringify(read)).to.equal('{"1":"2","b\\n":{"c":-500},"__proto__":{"\\u0000":1}}');
    expect(Object.getPrototypeOf(read)).to.equal(Object.prototype);
  });

  for (const text of [
    '{"\\n":1',
    '{"\\x":1}',
    '{"a\n\\n":1}',
    '{"\\n"::1}',
    '{"\\u12":1}',
    '"\\n":1',
    '["\\n":1]',
    '{"a":1,"\\n" 2}',
    '{"\\',
  ])
    it(`${JSON.stringify(text)} is no JSON`, () => {
      expect(() => JSON.parse(text) as unknown).to.throw(SyntaxError);
      expect(() => readJson(text)).to.throw(SyntaxError);
    });

  it('whatever the value is', () => {
    const text = fc.string({ unit: fc.constantFrom('a', '"', '\\', '\n', ':', '{', '}', '#', '0', 'é', '日'), maxLength: 4 });
    fc.assert(
      fc.property(fc.array(fc.tuple(text, text), { maxLength: 5 }), (members) => {
        const expected = new Map(members);
        const written = `{${members.map((member) => member.map((one) => JSON.stringify(one)).join(':')).join()}}`;
        expect(new Map(Object.entries(readJson(written) as object))).to.deep.equal(expected);
      }),
      { numRuns: 2000 },
    );
  });

  it('a hostile text takes no longer than its length says', () => {
    for (const part of ['\\\\', '\\"', '"', ':', '\\n":', '",', '{"\\n":']) {
      const began = cpuMs();
      expect(() => readJson(`{"${part.repeat(300_000)}`)).to.throw(SyntaxError);
      expect(cpuMs() - began, part).to.be.below(2000);
    }
  });
});
