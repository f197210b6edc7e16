/** Functions that give a number at each step, and `vector`, which makes a series of one. */
import { FLOAT, StepSeries } from '../base/series.ts';
import { Labels } from '../values/labels.ts';
import type { CallContext, ScalarFunction, VectorFunction } from './base.ts';

const each = ({ steps }: CallContext, valueAt: (step: number) => number): Float64Array =>
  Float64Array.from({ length: steps }, (_none, step) => valueAt(step));

export const time: ScalarFunction = {
  kind: 'scalar',
  name: 'time',
  args: [],
  variadic: 0,
  returns: 'scalar',
  usesTime: true,
  help: 'time of the step in seconds',
  values: (_series, context) => each(context, (step) => context.timeOf(step) / 1000),
};

export const pi: ScalarFunction = {
  kind: 'scalar',
  name: 'pi',
  args: [],
  variadic: 0,
  returns: 'scalar',
  help: 'π',
  values: (_series, context) => each(context, () => Math.PI),
};

export const scalar: ScalarFunction = {
  kind: 'scalar',
  name: 'scalar',
  args: ['vector'],
  variadic: 0,
  returns: 'scalar',
  help: 'value of the only series with a number, else NaN',
  values: (series, context) =>
    each(context, (step) => {
      const floats = series.filter(({ kinds }) => kinds[step] === FLOAT);
      return floats.length === 1 ? (floats[0]?.values[step] ?? NaN) : NaN;
    }),
};

const ofTwo = (name: string, help: string, choose: (a: number, b: number) => number): ScalarFunction => ({
  kind: 'scalar',
  name,
  args: ['scalar', 'scalar'],
  variadic: 0,
  returns: 'scalar',
  isExperimental: true,
  help,
  values: (_series, context) => each(context, (step) => choose(context.scalars[0]?.[step] ?? NaN, context.scalars[1]?.[step] ?? NaN)),
});

export const minOf = ofTwo('min_of', 'the lesser of two numbers', Math.min);
export const maxOf = ofTwo('max_of', 'the greater of two numbers', Math.max);

const ofQuery = (name: string, help: string, value: (query: CallContext['query']) => number): ScalarFunction => ({
  kind: 'scalar',
  name,
  args: [],
  variadic: 0,
  returns: 'scalar',
  isExperimental: true,
  usesTime: true,
  help,
  values: (_series, context) => each(context, () => value(context.query) / 1000),
});

export const start = ofQuery('start', 'first step of the query in seconds', (query) => query.start);
export const end = ofQuery('end', 'last step of the query in seconds', (query) => query.end);
export const step = ofQuery('step', 'seconds between two steps of the query', (query) => query.step);
export const range = ofQuery('range', 'seconds from the first to the last step of the query', (query) => query.end - query.start);

export const vector: VectorFunction = {
  kind: 'vector',
  name: 'vector',
  args: ['scalar'],
  variadic: 0,
  returns: 'vector',
  help: 'a series without labels of a number',
  apply: (_series, { steps, scalars }) => {
    const out = StepSeries.constant(Labels.NONE, steps, 0);
    out.values.set(scalars[0] ?? []);
    return [out];
  },
};
