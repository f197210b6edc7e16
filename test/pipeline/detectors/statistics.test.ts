import { expect } from 'chai';
import { anscombe, rarityAbove, rarityBelow } from '../../../pipeline/detectors/statistics.ts';

/** The probabilities of 0, 1, 2 … of a Poisson variable, one by one. */
function poisson(mean: number, most: number): number[] {
  const all = [Math.exp(-mean)];
  for (let k = 1; k <= most; k++) all.push(((all[k - 1] as number) * mean) / k);
  return all;
}
const sum = (all: readonly number[]): number => all.reduce((a, b) => a + b, 0);

describe('the tails of Poisson', () => {
  it('are those that adding up gives', () => {
    for (const mean of [0.01, 0.5, 3, 12, 60]) {
      const all = poisson(mean, 400);
      for (const count of [0, 1, 2, 5, 10, 20, 40, 90]) {
        const [above, below] = [sum(all.slice(count)), sum(all.slice(0, count + 1))];
        if (count > mean)
          expect(rarityAbove(count, mean), `${String(count)} of ${String(mean)}`).to.be.closeTo(
            -Math.log(above),
            1e-6 * (1 - Math.log(above)),
          );
        if (count < mean)
          expect(rarityBelow(count, mean), `${String(count)} of ${String(mean)}`).to.be.closeTo(
            -Math.log(below),
            1e-6 * (1 - Math.log(below)),
          );
      }
    }
  });

  it('are nothing on the other side, and finite however far', () => {
    expect([rarityAbove(3, 3), rarityBelow(3, 3), rarityAbove(2, 3), rarityBelow(4, 3)]).to.deep.equal([0, 0, 0, 0]);
    for (const [count, mean] of [[2 ** 53, 1], [1e9, 1e-9], [1000, 0.001]] as const) expect(Number.isFinite(rarityAbove(count, mean))).to.equal(true); // prettier-ignore
    expect(Number.isFinite(rarityBelow(0, 1e12))).to.equal(true);
  });
});

describe("Anscombe's transform", () => {
  it('of a Poisson variable has a standard deviation of about one', () => {
    for (const mean of [6, 20, 100]) {
      const all = poisson(mean, 400);
      const average = sum(all.map((p, k) => p * anscombe(k)));
      expect(Math.sqrt(sum(all.map((p, k) => p * (anscombe(k) - average) ** 2)))).to.be.closeTo(1, 0.02);
    }
  });
});
