/** Aggregations that give some of the series of each group, with their own labels: `topk`, `bottomk`, `limitk`, `limit_ratio`. */
import { NOTES } from '../base/annotations.ts';
import { PromqlExecutionError } from '../base/errors.ts';
import { ABSENT, FLOAT, HISTOGRAM, StepSeries } from '../base/series.ts';
import { ratioOf } from '../values/hash.ts';
import { plainNumber } from '../values/numbers.ts';
import type { Accumulator, AggregationContext, Aggregator } from './base.ts';

/** Which series of a step are chosen, in the order of the answer. */
type Choose = (series: readonly StepSeries[], step: number, parameter: number) => readonly StepSeries[];

class Chosen implements Accumulator {
  readonly #context: AggregationContext;
  readonly #choose: Choose;
  readonly #series: StepSeries[] = [];

  constructor(context: AggregationContext, choose: Choose) {
    this.#context = context;
    this.#choose = choose;
  }

  add(series: StepSeries): void {
    this.#context.hold(this.#context.steps);
    this.#series.push(series);
  }

  finish(): StepSeries[] {
    const { steps, parameter } = this.#context;
    const chosen = new Map<StepSeries, StepSeries>();
    for (let step = 0; step < steps; step += 1)
      for (const series of this.#choose(this.#series, step, parameter[step] ?? NaN)) {
        const out = chosen.get(series) ?? new StepSeries(series.labels, steps, series.dropName);
        chosen.set(series, out);
        out.copyFrom(series, step);
      }
    return [...chosen.values()];
  }
}

/** Refuses numbers of series that are none; false where no series is ever chosen. */
function checkCount({ parameter }: AggregationContext): boolean {
  let isAny = false;
  for (const value of parameter) {
    if (Number.isNaN(value)) throw new PromqlExecutionError('Parameter value is NaN');
    if (value >= 2 ** 63) throw new PromqlExecutionError(`Scalar value ${plainNumber(value)} overflows int64`);
    isAny ||= value >= 1;
  }
  for (const value of isAny ? parameter : [])
    if (value <= -(2 ** 63)) throw new PromqlExecutionError(`Scalar value ${plainNumber(value)} underflows int64`);
  return isAny;
}

/** Whether a number stands before another one; those that are none stand last, and of equal ones the first does. */
const isBefore = (value: number, other: number, sign: 1 | -1): boolean =>
  sign * (value - other) < 0 || (other !== other && value === value);

/** The first `count` series of a step in the order of their values. */
function firstOf(series: readonly StepSeries[], step: number, count: number, sign: 1 | -1): readonly StepSeries[] {
  const chosen: StepSeries[] = [];
  const values: number[] = [];
  for (const one of series) {
    if (one.kinds[step] !== FLOAT) continue;
    const value = one.values[step] as number;
    if (chosen.length === count && !isBefore(value, values[count - 1] as number, sign)) continue;
    let [from, to] = [0, chosen.length];
    while (from < to) {
      const middle = (from + to) >>> 1;
      if (isBefore(value, values[middle] as number, sign)) to = middle;
      else from = middle + 1;
    }
    chosen.splice(from, 0, one);
    values.splice(from, 0, value);
    if (chosen.length > count) {
      chosen.pop();
      values.pop();
    }
  }
  return chosen;
}

const ranked = (name: string, sign: 1 | -1, help: string): Aggregator => ({
  name,
  parameter: 'scalar',
  help,
  check: checkCount,
  group: (_labels, context) => {
    const note = (series: readonly StepSeries[], step: number): void => {
      if (series.some(({ kinds, histograms }) => histograms !== undefined && kinds[step] === HISTOGRAM))
        context.note(NOTES.ignoredInAggregation(name), context.node.range);
    };
    return new Chosen(context, (series, step, count) => {
      note(series, step);
      return count >= 1 ? firstOf(series, step, Math.trunc(count), sign) : [];
    });
  },
});

export const topk = ranked('topk', -1, 'series with the greatest numbers');
export const bottomk = ranked('bottomk', 1, 'series with the least numbers');

export const limitk: Aggregator = {
  name: 'limitk',
  parameter: 'scalar',
  isExperimental: true,
  help: 'some series',
  check: checkCount,
  group: (_labels, context) =>
    new Chosen(context, (series, step, count) =>
      series.filter(({ kinds }) => kinds[step] !== ABSENT).slice(0, Math.max(0, Math.trunc(count))),
    ),
};

export const limitRatio: Aggregator = {
  name: 'limit_ratio',
  parameter: 'scalar',
  isExperimental: true,
  help: 'a share of the series, by a hash of their labels; a negative one is the rest of what is left over',
  check: ({ parameter, note, node }) => {
    if (parameter.some(Number.isNaN)) throw new PromqlExecutionError('Ratio value is NaN');
    const [least, most] = [parameter.reduce((a, b) => Math.min(a, b), 0), parameter.reduce((a, b) => Math.max(a, b), 0)];
    if (most > 1) note(NOTES.invalidRatio(most, 1), node.parameter?.range);
    if (least < -1) note(NOTES.invalidRatio(least, -1), node.parameter?.range);
    return true;
  },
  group: (_labels, context) => {
    const places = new Map<StepSeries, number>();
    const placeOf = (series: StepSeries): number => {
      const place = places.get(series) ?? ratioOf(series.labels);
      places.set(series, place);
      return place;
    };
    return new Chosen(context, (series, step, given) => {
      const ratio = Math.max(-1, Math.min(1, given));
      return series.filter(
        (one) => one.kinds[step] !== ABSENT && ratio !== 0 && (ratio > 0 ? placeOf(one) < ratio : placeOf(one) >= 1 + ratio),
      );
    });
  },
};
