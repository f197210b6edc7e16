/** Evaluates a call of a function. */
import { unwrapped, type Call, type Expression } from '../base/ast.ts';
import { ABSENT, FLOAT, HISTOGRAM, StepSeries } from '../base/series.ts';
import { NOTES } from '../base/annotations.ts';
import { absentSteps, fixedLabels } from '../functions/absent.ts';
import { type CallContext, type MapFunction, type PromqlFunction, type RangeFunction, type VectorFunction } from '../functions/base.ts';
import { functionNamed } from '../functions/index.ts';
import { Cuts } from '../functions/cuts.ts';
import type { WindowTimes } from '../functions/cuts.ts';
import { Windows } from '../functions/windows.ts';
import { typeOf } from '../parser/check.ts';
import { resolveDuration } from '../parser/durations.ts';
import { Labels, METRIC_NAME } from '../values/labels.ts';
import type { Consume, Evaluating, NamedSamples } from './evaluating.ts';
import { selectionOf } from './selecting.ts';
import { mergeSame, type QueryState } from './state.ts';

const COUNTERS = /_(?:total|sum|count|bucket)$/;

export class CallEvaluator {
  readonly #evaluator: Evaluating;
  readonly #call: Call;
  readonly #known: PromqlFunction;

  constructor(evaluator: Evaluating, call: Call) {
    const known = functionNamed(call.name);
    if (known === undefined) throw new Error(`BUG: there is no function ${call.name}`);
    this.#evaluator = evaluator;
    this.#call = { ...call, args: call.args.map(unwrapped) };
    this.#known = known;
  }

  get #state(): QueryState {
    return this.#evaluator.state;
  }

  /** Gives the series of a call one after another. */
  async stream(consume: Consume): Promise<void> {
    const known = this.#known;
    if (known.kind === 'range') await this.#range(known, consume);
    else if (known.kind === 'map') await this.#map(known, consume);
    else if (known.kind === 'vector') await this.#vector(known, consume);
    else throw new Error(`BUG: ${known.name} is not a vector`);
  }

  /** The numbers of a call of a function that gives scalars. */
  async scalar(): Promise<Float64Array> {
    const known = this.#known;
    if (known.kind !== 'scalar') throw new Error(`BUG: ${known.name} is not a scalar`);
    const series = await this.#firstVector();
    const values = known.values(series, this.#context(await this.#scalars()));
    this.#state.drop(series);
    return values;
  }

  #argument(type: 'vector' | 'matrix'): Expression | undefined {
    return this.#call.args.find((argument) => typeOf(argument) === type);
  }

  async #firstVector(): Promise<StepSeries[]> {
    const argument = this.#argument('vector');
    return argument === undefined ? [] : this.#evaluator.vector(argument);
  }

  /** Scalar arguments, by their places. */
  async #scalars(): Promise<Float64Array[]> {
    const scalars: Float64Array[] = [];
    for (const argument of this.#call.args)
      scalars.push(typeOf(argument) === 'scalar' ? await this.#evaluator.scalar(argument) : new Float64Array(0));
    return scalars;
  }

  #context(scalars: readonly Float64Array[], hasSampleTimes = false): CallContext {
    const { steps, timeOf } = this.#evaluator;
    const state = this.#state;
    return {
      call: this.#call,
      steps: steps.count,
      timeOf,
      isInstant: steps.count === 1,
      query: state.times,
      scalars,
      hasSampleTimes,
      note: (note, range) => state.annotations.add(note, range),
      unnamed: (series) => state.unnamed(series),
      isNameDelayed: state.isNameDelayed,
      merge: (series) => mergeSame(series),
      hold: (samples) => state.hold(samples),
    };
  }

  async #range(known: RangeFunction, consume: Consume): Promise<void> {
    const argument = this.#argument('matrix');
    if (argument?.kind !== 'matrixSelector' && argument?.kind !== 'subquery') throw new Error('BUG: a window of what is not a series');
    const scalars = await this.#scalars();
    const times = argument.kind === 'subquery' ? argument : argument.selector;
    const shape = this.#evaluator.windows(times, resolveDuration(argument.window, this.#state.times, false));
    const isAbsent = known.name === 'absent_over_time';
    const isUnique = this.#state.isNameDelayed || known.keepsName === true || isAbsent || isOneName(argument);
    const collected: StepSeries[] = [];
    const cuts = new Cuts(shape);
    const visit = (series: NamedSamples): void => {
      const out = this.#over(known, series, shape, { scalars, cuts });
      if (out.isEmpty) return;
      if (isUnique && !isAbsent) consume(out);
      else collected.push(out);
    };
    if (argument.kind === 'subquery') for (const series of await this.#evaluator.subquery(argument, shape)) visit(series);
    else await this.#state.each(argument.selector, selectionOf(argument.selector, shape), visit);
    if (isAbsent) for (const one of absentSteps(collected, shape.steps, fixedLabels(argument), false)) consume(one);
    else for (const one of mergeSame(collected, true)) consume(one);
  }

  /** One series through a function over windows. */
  #over(
    known: RangeFunction,
    series: NamedSamples,
    shape: WindowTimes,
    call: { readonly scalars: readonly Float64Array[]; readonly cuts: Cuts },
  ): StepSeries {
    const { annotations } = this.#state;
    const firstRange = this.#call.args[0]?.range ?? this.#call.range;
    const windows = new Windows(series, shape, { ...call, firstRange, note: (note, range) => annotations.add(note, range) });
    const before = { labels: series.labels, dropName: series.dropName ?? false };
    const { labels, dropName } = known.keepsName === true ? before : this.#state.unnamed(before);
    const out = new StepSeries(labels, shape.steps, dropName);
    known.over(windows, out);
    const name = series.labels.metricName;
    if (known.wantsCounter === true && name !== '' && !COUNTERS.test(name) && out.kinds.includes(FLOAT))
      annotations.add(NOTES.possibleNonCounter(name), firstRange);
    return out;
  }

  async #map(known: MapFunction, consume: Consume): Promise<void> {
    const numbers = (await this.#scalars()).filter((values) => values.length > 0);
    const { float, histogram, preset = NaN } = known;
    const change = (series: StepSeries): StepSeries | undefined => {
      const unnamed = this.#state.unnamed(series);
      const out = new StepSeries(unnamed.labels, series.kinds.length, unnamed.dropName);
      for (let step = 0; step < series.kinds.length; step += 1) {
        const kind = series.kinds[step];
        if (kind === FLOAT && float !== undefined) {
          const value = float(series.values[step] as number, numbers[0]?.[step] ?? preset, numbers[1]?.[step] ?? NaN);
          if (value !== undefined) out.setFloat(step, value);
        } else if (kind === HISTOGRAM && histogram !== undefined) out.setFloat(step, histogram(series.histogramAt(step)));
      }
      return out.isEmpty ? undefined : out;
    };
    const argument = this.#argument('vector');
    if (argument !== undefined) {
      await this.#evaluator.unnamed(argument, consume, change);
      return;
    }
    const { steps, timeOf } = this.#evaluator;
    const now = StepSeries.constant(Labels.NONE, steps.count, 0);
    now.values.forEach((_zero, step) => (now.values[step] = Math.trunc(timeOf(step) / 1000)));
    const out = change(now);
    if (out !== undefined) consume(Object.assign(out, { dropName: false }));
  }

  async #vector(known: VectorFunction, consume: Consume): Promise<void> {
    const scalars = await this.#scalars();
    const [first] = this.#call.args;
    const hasSampleTimes = known.wantsSampleTimes === true && first?.kind === 'vectorSelector';
    const series: StepSeries[] = [];
    if (hasSampleTimes) await this.#evaluator.select(first, true, (one) => series.push(one));
    else series.push(...(await this.#firstVector()));
    const results = known.apply(series, this.#context(scalars, hasSampleTimes));
    const out = this.#state.isNameDelayed ? results : mergeSame(results);
    if (!hasSampleTimes) this.#state.drop(series);
    for (const one of out) if (one.kinds.some((kind) => kind !== ABSENT)) consume(one);
  }
}

/** Whether all series of a selector have one name. */
const isOneName = (argument: Expression): boolean =>
  argument.kind === 'matrixSelector' && argument.selector.matchers.some(({ name, type }) => name === METRIC_NAME && type === '=');
