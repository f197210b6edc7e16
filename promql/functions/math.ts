/** Functions of a number that are one line each. */
import type { MapFunction } from './base.ts';

const ofNumber = (name: string, help: string, float: (value: number) => number): MapFunction => ({
  kind: 'map',
  name,
  args: ['vector'],
  variadic: 0,
  returns: 'vector',
  help,
  float,
});

export const abs = ofNumber('abs', 'absolute value', Math.abs);
export const ceil = ofNumber('ceil', 'rounded up', Math.ceil);
export const floor = ofNumber('floor', 'rounded down', Math.floor);
export const exp = ofNumber('exp', 'e to the power of the value', Math.exp);
export const sqrt = ofNumber('sqrt', 'square root', Math.sqrt);
export const ln = ofNumber('ln', 'natural logarithm', Math.log);
export const log2 = ofNumber('log2', 'logarithm to the base 2', Math.log2);
export const log10 = ofNumber('log10', 'logarithm to the base 10', Math.log10);
export const sgn = ofNumber('sgn', 'sign: -1, 0 or 1', (value) => (value < 0 ? -1 : value > 0 ? 1 : value));

export const sin = ofNumber('sin', 'sine', Math.sin);
export const cos = ofNumber('cos', 'cosine', Math.cos);
export const tan = ofNumber('tan', 'tangent', Math.tan);
export const asin = ofNumber('asin', 'arcsine', Math.asin);
export const acos = ofNumber('acos', 'arccosine', Math.acos);
export const atan = ofNumber('atan', 'arctangent', Math.atan);
export const sinh = ofNumber('sinh', 'hyperbolic sine', Math.sinh);
export const cosh = ofNumber('cosh', 'hyperbolic cosine', Math.cosh);
export const tanh = ofNumber('tanh', 'hyperbolic tangent', Math.tanh);
export const asinh = ofNumber('asinh', 'inverse hyperbolic sine', Math.asinh);
export const acosh = ofNumber('acosh', 'inverse hyperbolic cosine', Math.acosh);
export const atanh = ofNumber('atanh', 'inverse hyperbolic tangent', Math.atanh);
export const rad = ofNumber('rad', 'degrees to radians', (value) => (value * Math.PI) / 180);
export const deg = ofNumber('deg', 'radians to degrees', (value) => (value * 180) / Math.PI);
