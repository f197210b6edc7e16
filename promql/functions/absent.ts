/** `absent`: 1 where a vector is empty. */
import { unwrapped, type Expression } from '../base/ast.ts';
import { ABSENT, StepSeries } from '../base/series.ts';
import { Labels, METRIC_NAME } from '../values/labels.ts';
import type { VectorFunction } from './base.ts';

/** The labels that a selector fixes: each that it names once, with `=`. */
export function fixedLabels(expression: Expression | undefined): Labels {
  if (expression === undefined) return Labels.NONE;
  const inner = unwrapped(expression);
  const selector = inner.kind === 'matrixSelector' ? inner.selector : inner;
  if (selector.kind !== 'vectorSelector') return Labels.NONE;
  const fixed = new Map<string, string>();
  const seen = new Set<string>();
  for (const { name, type, value } of selector.matchers) {
    if (name === METRIC_NAME) continue;
    if (type === '=' && !seen.has(name)) fixed.set(name, value);
    else fixed.delete(name);
    if (type === '=') seen.add(name);
  }
  return Labels.of(fixed);
}

/** 1 at each step at which no series has a sample; nothing where there is no such step. */
export function absentSteps(series: readonly StepSeries[], steps: number, labels: Labels, dropName: boolean): StepSeries[] {
  const out = new StepSeries(labels, steps, dropName);
  for (let step = 0; step < steps; step += 1) if (series.every(({ kinds }) => kinds[step] === ABSENT)) out.setFloat(step, 1);
  return out.isEmpty ? [] : [out];
}

export const absent: VectorFunction = {
  kind: 'vector',
  name: 'absent',
  args: ['vector'],
  variadic: 0,
  returns: 'vector',
  help: '1 where there is no sample, with the labels that the selector fixes',
  apply: (series, { steps, call }) => absentSteps(series, steps, fixedLabels(call.args[0]), false),
};
