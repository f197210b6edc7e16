import { expect } from 'chai';
import { cpuCost } from '../../../fakes/cpu-cost.ts';
import fc from 'fast-check';
import { parseLokiLabels } from '../../../../pipeline/normalizers/loki/labels.ts';

const labelsOf = (text: string): unknown => {
  const labels = parseLokiLabels(text);
  return labels === null ? null : Object.fromEntries(labels);
};

describe('labels of Loki', () => {
  const ok = (text: string, expected: Record<string, string>): void => {
    it(text, () => expect(labelsOf(text)).to.deep.equal(expected));
  };
  ok('{}', {});
  ok(' { } ', {});
  ok('{a="b"}', { a: 'b' });
  ok('{a="b", c="d",}', { a: 'b', c: 'd' });
  ok(' { a = "b" , service.name = "x/y" } ', { a: 'b', 'service.name': 'x/y' });
  ok('{a=""}', { a: '' });
  ok('{a="b",a="c"}', { a: 'c' });
  ok('{__proto__="p"}', { ['__proto__']: 'p' });
  ok(String.raw`{a="\"q\" \\ \n \t \x41 \u6f22 \U0001f680 \101 \a"}`, { a: '"q" \\ \n \t A 漢 🚀 A \x07' });
  ok(String.raw`{a="\U7fffffff"}`, { a: String.raw`\U7fffffff` });
  ok('{a="}, b="}', { a: '}, b=' });
  // winston-loki escapes nothing
  ok(String.raw`{level="warn",customer="c "quoted" \ back"}`, { level: 'warn', customer: String.raw`c "quoted" \ back` });
  ok('{a="x"y"z",b="1"}', { a: 'x"y"z', b: '1' });
  ok('{a=""quoted"", b="2",}', { a: '"quoted"', b: '2' });

  const bad = (text: string): void => {
    it(`refuses ${JSON.stringify(text)}`, () => expect(labelsOf(text)).to.equal(null));
  };
  bad('');
  bad('a="b"');
  bad('{a="b"');
  bad('{a="b}');
  bad('{a=b}');
  bad('{="b"}');
  bad('{1a="b"}');
  bad('{a="b"} x');
  bad('{a="b" c="d" e}');

  it('reads what Go writes', () => {
    const name = fc.stringMatching(/^[A-Za-z_][A-Za-z0-9_]{0,8}$/);
    fc.assert(
      fc.property(fc.dictionary(name, fc.string({ unit: 'grapheme' })), (labels) => {
        const text = `{${Object.entries(labels)
          .map(([key, value]) => `${key}=${JSON.stringify(value)}`)
          .join(', ')}}`;
        expect(labelsOf(text)).to.deep.equal({ ...labels });
      }),
    );
  });
  it('takes no more than linear time', () => {
    const size = 65_000;
    const fill = (unit: string): string => `{a="${unit.repeat(size / unit.length)}`;
    const cost = cpuCost(() => {
      for (const unit of ['"', '\\', '" ', '",', '", a="', '"   ', '", aaaaaaaaaaaaaa', '"}', '"} ', 'a="'])
        for (const end of ['', '}', '"}']) parseLokiLabels(fill(unit) + end);
    });
    expect(cost).to.be.below(200);
    expect(labelsOf(fill('a'.repeat(10)).repeat(2) + '"}')).to.equal(null);
  });
});
