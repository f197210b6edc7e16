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

type Ranked = { readonly series: StepSeries; readonly value: number };
/** Whether a number is worse than another one; those that are none are worst. */
type IsWorse = (a: Ranked, b: Ranked) => boolean;

const worseOf =
  (sign: 1 | -1): IsWorse =>
  (a, b) =>
    a.value !== a.value || sign * (a.value - b.value) > 0;

/** Moves the item at a place of a heap, whose root is the worst, up or down to where it belongs. As Go's container/heap: of equal ones it matters. */
function settle(heap: Ranked[], place: number, isWorse: IsWorse): void {
  const swap = (a: number, b: number): void => {
    [heap[a], heap[b]] = [heap[b] as Ranked, heap[a] as Ranked];
  };
  let at = place;
  for (let child = 2 * at + 1; child < heap.length; child = 2 * at + 1) {
    if (child + 1 < heap.length && isWorse(heap[child + 1] as Ranked, heap[child] as Ranked)) child += 1;
    if (!isWorse(heap[child] as Ranked, heap[at] as Ranked)) break;
    swap(at, child);
    at = child;
  }
  if (at > place) return;
  for (let parent = (at - 1) >> 1; at > 0 && isWorse(heap[at] as Ranked, heap[parent] as Ranked); parent = (at - 1) >> 1) {
    swap(at, parent);
    at = parent;
  }
}

/** The best `count` series of a step, best first: which of equal ones they are, and in which order, is as in Prometheus for up to twelve. */
function firstOf(series: readonly StepSeries[], step: number, count: number, sign: 1 | -1): readonly StepSeries[] {
  const isWorse = worseOf(sign);
  const heap: Ranked[] = [];
  for (const one of series) {
    if (one.kinds[step] !== FLOAT) continue;
    const own = { series: one, value: one.values[step] as number };
    const [worst] = heap;
    if (heap.length < count) {
      heap.push(own);
      settle(heap, heap.length - 1, isWorse);
    } else if (worst !== undefined && (sign * (worst.value - own.value) > 0 || (worst.value !== worst.value && own.value === own.value))) {
      heap[0] = own;
      settle(heap, 0, isWorse);
    }
  }
  return (heap.length <= SORTED_BY_INSERTION ? byInsertion(heap, isWorse) : heap.sort(byRank(sign))).map((one) => one.series);
}

/** Go sorts so few by insertion. */
const SORTED_BY_INSERTION = 12;

function byInsertion(heap: Ranked[], isWorse: IsWorse): Ranked[] {
  for (let end = 1; end < heap.length; end += 1)
    for (let at = end; at > 0 && isWorse(heap[at - 1] as Ranked, heap[at] as Ranked); at -= 1)
      [heap[at - 1], heap[at]] = [heap[at] as Ranked, heap[at - 1] as Ranked];
  return heap;
}

const byRank =
  (sign: 1 | -1) =>
  (a: Ranked, b: Ranked): number =>
    Number(a.value !== a.value) - Number(b.value !== b.value) ||
    (a.value === b.value || a.value !== a.value ? 0 : sign * (a.value - b.value));

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
