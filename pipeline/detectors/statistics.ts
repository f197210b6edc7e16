/** Anscombe's transform: of a Poisson count it has a standard deviation of one, from about four on (Anscombe, Biometrika 35, 1948). */
export const anscombe = (count: number): number => 2 * Math.sqrt(count + 0.375);

/** Lanczos' coefficients of the logarithm of the gamma function (Numerical Recipes, 6.1): good to 2e-10. */
const LANCZOS = [76.1800917294715, -86.5053203294168, 24.0140982408309, -1.23173957245016, 0.00120865097386618, -0.000005395239384953];

function logGamma(x: number): number {
  const shifted = x + 5.5 - (x + 0.5) * Math.log(x + 5.5);
  let series = 1.000000000190015;
  LANCZOS.forEach((coefficient, index) => {
    series += coefficient / (x + index + 1);
  });
  return -shifted + Math.log((2.506628274631 * series) / x);
}

const logPoisson = (count: number, mean: number): number => -mean + count * Math.log(mean) - logGamma(count + 1);

/** Terms of a tail that are added up at most, and the least one. */
const MOST_TERMS = 500;
const LEAST = 1e-9;

/** How unlikely it is that a Poisson variable with this mean is `count` or more: minus the natural logarithm of the probability. 0 where it is no more than expected. */
export function rarityAbove(count: number, mean: number): number {
  if (count <= mean) return 0;
  let [sum, term] = [0, 1];
  for (let k = 1; k < MOST_TERMS && term > LEAST; k++) {
    sum += term;
    term *= mean / (count + k);
  }
  return -(logPoisson(count, mean) + Math.log(sum));
}

/** The same of `count` or less. */
export function rarityBelow(count: number, mean: number): number {
  if (count >= mean) return 0;
  let [sum, term] = [0, 1];
  for (let k = count; k >= 0 && term > LEAST; k--) {
    sum += term;
    term *= k / mean;
  }
  return -(logPoisson(count, mean) + Math.log(sum));
}
