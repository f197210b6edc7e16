/** `clamp`, `clamp_min`, `clamp_max`, `round`: a number within bounds, or to a multiple. */
import type { MapFunction } from './base.ts';

/** As Go's Max and Min have it: an infinite bound holds for what is no number too. */
const greater = (a: number, b: number): number => (a === Infinity || b === Infinity ? Infinity : Math.max(a, b));
const lesser = (a: number, b: number): number => (a === -Infinity || b === -Infinity ? -Infinity : Math.min(a, b));

const bounded = (value: number, least: number, most: number): number | undefined =>
  most < least ? undefined : greater(least, lesser(most, value));

export const clamp: MapFunction = {
  kind: 'map',
  name: 'clamp',
  args: ['vector', 'scalar', 'scalar'],
  variadic: 0,
  returns: 'vector',
  help: 'within two bounds; nothing where the upper is less than the lower',
  float: bounded,
};

export const clampMin: MapFunction = {
  kind: 'map',
  name: 'clamp_min',
  args: ['vector', 'scalar'],
  variadic: 0,
  returns: 'vector',
  help: 'not below a bound',
  float: (value, least) => bounded(value, least, Infinity),
};

export const clampMax: MapFunction = {
  kind: 'map',
  name: 'clamp_max',
  args: ['vector', 'scalar'],
  variadic: 0,
  returns: 'vector',
  help: 'not above a bound',
  float: (value, most) => bounded(value, -Infinity, most),
};

export const round: MapFunction = {
  kind: 'map',
  name: 'round',
  args: ['vector', 'scalar'],
  variadic: 1,
  returns: 'vector',
  preset: 1,
  help: 'to the nearest multiple of a number (1), halves up',
  float: (value, nearest) => {
    const inverse = 1 / nearest;
    return Math.floor(value * inverse + 0.5) / inverse;
  },
};
