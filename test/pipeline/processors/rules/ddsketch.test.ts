import { expect } from 'chai';
import fc from 'fast-check';
import { DDSketch } from '../../../../pipeline/processors/rules/ddsketch.ts';

const of = (values: readonly number[]): DDSketch => {
  const sketch = new DDSketch();
  for (const value of values) sketch.add(value);
  return sketch;
};

/** The number that has the rank. */
const exact = (values: readonly number[], phi: number): number => {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(phi * sorted.length))] as number;
};

const number = fc.oneof(fc.double({ min: 1e-3, max: 1e5, noNaN: true }), fc.double({ min: -1e4, max: -1e-3, noNaN: true }), fc.constant(0));
const numbers = fc.array(number, { minLength: 1, maxLength: 300 });
const phi = fc.constantFrom(0, 0.01, 0.25, 0.5, 0.9, 0.99, 1);

describe('a sketch of quantiles', () => {
  it('is within its error of the number that has the rank, whichever numbers', () => {
    fc.assert(
      fc.property(numbers, phi, (values, at) => {
        const [expected, found] = [exact(values, at), of(values).quantile(at) as number];
        expect(Math.abs(found - expected)).to.be.at.most(1.0001 * DDSketch.error * Math.abs(expected));
      }),
    );
  });

  it('of a union is the union of the sketches, in whichever order, and also where bins become one', () => {
    const wide = fc.array(fc.double({ min: 1e-9, max: 1e9, noNaN: true }), { maxLength: 100 });
    fc.assert(
      fc.property(wide, wide, (some, others) => {
        const union = of(others);
        union.merge(of(some).toJSON());
        expect(union.toJSON()).to.deep.equal(of([...some, ...others]).toJSON());
        expect(union.toJSON()).to.deep.equal(of([...others, ...some].reverse()).toJSON());
      }),
    );
  });

  it('takes bounded space, and is read from what it wrote and from nothing else', () => {
    const sketch = of(Array.from({ length: 100_000 }, (_none, n) => 10 ** ((n % 3000) / 100 - 10)));
    expect(JSON.stringify(sketch).length).to.be.below(16_384);
    expect(sketch.count).to.equal(100_000);
    const read = new DDSketch();
    read.merge(JSON.parse(JSON.stringify(sketch)) as ReturnType<DDSketch['toJSON']>);
    expect(read.quantile(0.99)).to.equal(sketch.quantile(0.99));
    for (const wrong of [
      [-1, [], []],
      [0, [1.5, 1], []],
      [0, [1, -1], []],
      [0, [1], []],
      [0, [1e9, 1], []],
    ])
      expect(() => {
        new DDSketch().merge(wrong as never);
      }).to.throw();
    expect(new DDSketch().quantile(0.5)).to.equal(null);
  });
});
