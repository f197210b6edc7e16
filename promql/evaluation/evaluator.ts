/** Evaluates an expression at the steps of a query. What works series by series is given series by series, so that one is held at a time. */
import { aggregatorNamed } from '../aggregations/index.ts';
import type { Accumulator, AggregationContext } from '../aggregations/base.ts';
import {
  unwrapped,
  type Aggregation,
  type Binary,
  type Expression,
  type Matching,
  type Subquery,
  type Times,
  type VectorSelector,
} from '../base/ast.ts';
import { ABSENT, FLOAT, HISTOGRAM, type StepSeries } from '../base/series.ts';
import { stringOf } from '../functions/base.ts';
import type { WindowTimes } from '../functions/cuts.ts';
import { scale } from '../histograms/histogram.ts';
import { typeOf } from '../parser/check.ts';
import { resolveDuration } from '../parser/durations.ts';
import { compareLabels, Labels, METRIC_NAME } from '../values/labels.ts';
import { CallEvaluator } from './calls.ts';
import { combineElements, isArithmetic, isComparison, scalarOperator } from './elements.ts';
import type { Consume, Evaluating, NamedSamples, Steps } from './evaluating.ts';
import { isInvariant } from './invariant.ts';
import { newestSamples, samplesOf, selectionOf } from './selecting.ts';
import { combineSets } from './sets.ts';
import { mergeSame, type QueryState } from './state.ts';
import { combineVectors } from './vector-binary.ts';

/** Whether the order of its series is part of an answer. */
const isOrdering = (expression: Expression): boolean =>
  (expression.kind === 'call' && expression.name.startsWith('sort')) ||
  (expression.kind === 'aggregation' && /^(?:top|bottom|limit)k$/.test(expression.operator));

/** Evaluates at the steps that it is made for. */
export class Evaluator implements Evaluating {
  readonly state: QueryState;
  readonly steps: Steps;
  #times: Float64Array | undefined;

  constructor(state: QueryState, steps: Steps) {
    this.state = state;
    this.steps = steps;
    state.expect(steps.count);
  }

  readonly timeOf = (step: number): number => this.steps.start + step * this.steps.interval;

  /** The times of all steps. */
  get times(): Float64Array {
    return (this.#times ??= Float64Array.from({ length: this.steps.count }, (_none, step) => this.timeOf(step)));
  }

  async vector(expression: Expression): Promise<StepSeries[]> {
    const series: StepSeries[] = [];
    await this.stream(expression, (one) => {
      this.state.keep([one]);
      series.push(one);
    });
    // a source gives series in an order of its own; who chooses among equal ones, and who names one, goes by their labels
    return isOrdering(unwrapped(expression)) ? series : series.sort((a, b) => compareLabels(a.labels, b.labels));
  }

  async stream(expression: Expression, consume: Consume): Promise<void> {
    const inner = unwrapped(expression);
    const { count } = this.steps;
    if (count > 1 && isInvariant(inner)) {
      const once = new Evaluator(this.state, { ...this.steps, count: 1 });
      await once.stream(inner, (one) => consume(one.spread(count)));
      return;
    }
    switch (inner.kind) {
      case 'vectorSelector':
        await this.select(inner, false, consume);
        return;
      case 'unary':
        await this.#unary(inner.operator, inner.expression, consume);
        return;
      case 'aggregation':
        for (const one of await this.#aggregate(inner)) consume(one);
        return;
      case 'call':
        await new CallEvaluator(this, inner).stream(consume);
        return;
      case 'binary':
        await this.#binary(inner, consume);
        return;
      default:
        throw new Error(`BUG: ${inner.kind} is not a vector`);
    }
  }

  async scalar(expression: Expression): Promise<Float64Array> {
    const inner = unwrapped(expression);
    const { count } = this.steps;
    if (inner.kind === 'number') return new Float64Array(count).fill(inner.value);
    if (inner.kind === 'unary') {
      const values = await this.scalar(inner.expression);
      return inner.operator === '-' ? values.map((value) => -value) : values;
    }
    if (inner.kind === 'call') return new CallEvaluator(this, inner).scalar();
    if (inner.kind !== 'binary') throw new Error(`BUG: ${inner.kind} is not a scalar`);
    const [left, right] = [await this.scalar(inner.left), await this.scalar(inner.right)];
    const compute = scalarOperator(inner.operator);
    return left.map((value, step) => compute(value, right[step] as number));
  }

  windows({ offset, at }: Times, length: number): WindowTimes {
    const { count } = this.steps;
    const { times: query } = this.state;
    const shift = resolveDuration(offset, query, true);
    const fixed = at === 'start' ? query.start : at === 'end' ? query.end : at;
    const { times } = this;
    return { steps: count, ends: times.map((time) => (fixed ?? time) - shift), times, length };
  }

  async select(selector: VectorSelector, asTimes: boolean, consume: Consume): Promise<void> {
    const shape = this.windows(selector, this.state.lookbackMs);
    await this.state.each(selector, selectionOf(selector, shape), (series) => {
      const out = newestSamples(series, shape, asTimes);
      if (!out.isEmpty) consume(out);
    });
  }

  async subquery(node: Subquery, shape: WindowTimes): Promise<NamedSamples[]> {
    const { times: query, defaultStepMs } = this.state;
    const interval = node.step === undefined ? defaultStepMs : resolveDuration(node.step, query, false);
    const [first = 0, last = 0] = [shape.ends[0], shape.ends[shape.steps - 1]];
    const after = first - shape.length;
    let start = interval * Math.trunc(after / interval);
    if (start <= after) start += interval;
    if (start > last) return [];
    const inner = new Evaluator(this.state, { start, interval, count: Math.floor((last - start) / interval) + 1 });
    const series = await inner.vector(node.expression);
    this.state.drop(series);
    return series.map((one) => {
      const samples = samplesOf(one, inner.times);
      const { histograms } = samples;
      const unsure = histograms?.map((own) =>
        own?.hint === 'reset' || own?.hint === 'not_reset' ? { ...own, hint: 'unknown' as const } : own,
      );
      const named = { ...samples, dropName: one.dropName };
      return unsure === undefined ? named : { ...named, histograms: unsure };
    });
  }

  async unnamed(expression: Expression, consume: Consume, change: (series: StepSeries) => StepSeries | undefined): Promise<void> {
    if (this.state.isNameDelayed || hasOneName(expression)) {
      await this.stream(expression, (one) => {
        const out = change(one);
        if (out !== undefined) consume(out);
      });
      return;
    }
    const series = await this.vector(expression);
    for (const one of mergeSame(series.flatMap((own) => change(own) ?? []))) consume(one);
    this.state.drop(series);
  }

  async #unary(operator: '+' | '-', expression: Expression, consume: Consume): Promise<void> {
    if (operator === '+') {
      await this.stream(expression, consume);
      return;
    }
    await this.unnamed(expression, consume, (series) => {
      for (let step = 0; step < series.kinds.length; step += 1) {
        if (series.kinds[step] === FLOAT) series.values[step] = -(series.values[step] as number);
        else if (series.kinds[step] === HISTOGRAM) series.setHistogram(step, scale(series.histogramAt(step), -1));
      }
      return Object.assign(series, this.state.unnamed(series));
    });
  }

  async #aggregate(given: Aggregation): Promise<StepSeries[]> {
    const node = { ...given, expression: unwrapped(given.expression) };
    const aggregator = aggregatorNamed(node.operator);
    if (aggregator === undefined) throw new Error(`BUG: there is no aggregation ${node.operator}`);
    const isText = aggregator.parameter === 'string';
    const parameter = node.parameter === undefined || isText ? undefined : unwrapped(node.parameter);
    let held = 0;
    const context: AggregationContext = {
      node: parameter === undefined ? node : { ...node, parameter },
      steps: this.steps.count,
      parameter: parameter === undefined ? new Float64Array(0) : await this.scalar(parameter),
      text: isText ? stringOf(node.parameter) : '',
      note: (note, range = node.expression.range) => this.state.annotations.add(note, range),
      hold: (samples) => {
        held += samples;
        this.state.hold(samples);
      },
    };
    if (aggregator.check?.(context) === false) return [];
    const names = new Set(node.grouping.filter((name) => node.isWithout || !isText || name !== context.text));
    if (node.isWithout) names.add(METRIC_NAME);
    if (node.isWithout && isText) names.add(context.text);
    const groups = new Map<string, Accumulator>();
    const add = (one: StepSeries): void => {
      const labels = node.isWithout ? one.labels.without(names) : names.size === 0 ? Labels.NONE : one.labels.only(names);
      let group = groups.get(labels.key);
      if (group === undefined) groups.set(labels.key, (group = aggregator.group(labels, context)));
      group.add(one);
    };
    if (isOrdering(node)) {
      // of equal series, and of groups, the first by labels comes first; all are held in any case
      const all = await this.vector(node.expression);
      this.state.drop(all);
      all.forEach(add);
    } else await this.stream(node.expression, add);
    const out = [...groups.values()].flatMap((group) => group.finish()).filter((one) => !one.isEmpty);
    this.state.release(held);
    return out;
  }

  async #binary(node: Binary, consume: Consume): Promise<void> {
    const [leftType, rightType] = [typeOf(node.left), typeOf(node.right)];
    if (leftType === 'scalar') return this.#withScalar(node, node.right, await this.scalar(node.left), true, consume);
    if (rightType === 'scalar') return this.#withScalar(node, node.left, await this.scalar(node.right), false, consume);
    const { matching } = node;
    if (matching === undefined) throw new Error('BUG: vectors are combined without matching');
    const [left, right] = [await this.vector(node.left), await this.vector(node.right)];
    for (const one of this.#combine(node, matching, left, right)) consume(one);
    this.state.drop(left);
    this.state.drop(right);
  }

  #combine(node: Binary, matching: Matching, left: StepSeries[], right: StepSeries[]): StepSeries[] {
    const { count } = this.steps;
    if (matching.cardinality === 'many-to-many') return combineSets(node.operator, left, right, matching, count);
    return combineVectors(node, matching, left, right, {
      steps: count,
      isNameDelayed: this.state.isNameDelayed,
      note: (note) => this.state.annotations.add(note, node.range),
    });
  }

  async #withScalar(node: Binary, expression: Expression, scalars: Float64Array, isSwapped: boolean, consume: Consume): Promise<void> {
    const { operator, isBool } = node;
    const note = (found: Parameters<typeof this.state.annotations.add>[0]): void => this.state.annotations.add(found, node.range);
    const change = (series: StepSeries): StepSeries | undefined => {
      for (let step = 0; step < series.kinds.length; step += 1) {
        const kind = series.kinds[step];
        if (kind === ABSENT) continue;
        const own = kind === FLOAT ? (series.values[step] as number) : series.histogramAt(step);
        const scalar = scalars[step] as number;
        const { sample, isKept } = isSwapped ? combineElements(operator, scalar, own, note) : combineElements(operator, own, scalar, note);
        if (sample === undefined || (!isKept && !isBool)) series.kinds[step] = ABSENT;
        else if (isBool) series.setFloat(step, isKept ? 1 : 0);
        else if (isComparison(operator)) continue;
        else if (typeof sample === 'number') series.setFloat(step, sample);
        else series.setHistogram(step, sample);
      }
      if (series.isEmpty) return undefined;
      return isArithmetic(operator) || isBool ? Object.assign(series, this.state.unnamed(series)) : series;
    };
    if (isArithmetic(operator) || isBool) await this.unnamed(expression, consume, change);
    else
      await this.stream(expression, (one) => {
        const out = change(one);
        if (out !== undefined) consume(out);
      });
  }
}

/** Whether all series of an expression have the same name, or none, so that they differ in their other labels. */
function hasOneName(expression: Expression): boolean {
  const inner = unwrapped(expression);
  if (inner.kind === 'vectorSelector') return inner.matchers.some(({ name, type }) => name === METRIC_NAME && type === '=');
  if (inner.kind === 'unary') return hasOneName(inner.expression);
  return (
    inner.kind === 'aggregation' &&
    !inner.isWithout &&
    !inner.grouping.includes(METRIC_NAME) &&
    aggregatorNamed(inner.operator)?.parameter === undefined
  );
}
