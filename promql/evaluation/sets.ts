/** `and`, `or`, `unless`: series of one side, by whether the other side has a match. */
import type { Binary, Matching } from '../base/ast.ts';
import { ABSENT, StepSeries } from '../base/series.ts';
import { signaturesOf } from './matching.ts';
import { mergeSame } from './state.ts';

/** Steps at which each match group has a sample. */
function presence(series: readonly StepSeries[], signatures: Int32Array, count: number, steps: number): Uint8Array {
  const present = new Uint8Array(count * steps);
  series.forEach(({ kinds }, at) => {
    const base = (signatures[at] as number) * steps;
    for (let step = 0; step < steps; step += 1) if (kinds[step] !== ABSENT) present[base + step] = 1;
  });
  return present;
}

/** The series without the steps at which their group is, or is not, present. */
function keep(series: readonly StepSeries[], signatures: Int32Array, present: Uint8Array, wanted: 0 | 1, steps: number): StepSeries[] {
  const out: StepSeries[] = [];
  series.forEach((one, at) => {
    const base = (signatures[at] as number) * steps;
    const kept = new StepSeries(one.labels, steps, one.dropName);
    for (let step = 0; step < steps; step += 1) if (present[base + step] === wanted) kept.copyFrom(one, step);
    if (!kept.isEmpty) out.push(kept);
  });
  return out;
}

/** The set operator of two vectors. */
export function combineSets(
  operator: Binary['operator'],
  left: StepSeries[],
  right: StepSeries[],
  matching: Matching,
  steps: number,
): StepSeries[] {
  const signatures = signaturesOf(left, right, matching);
  if (operator === 'or') {
    const present = presence(left, signatures.left, signatures.count, steps);
    return mergeSame([...left, ...keep(right, signatures.right, present, 0, steps)]);
  }
  const present = presence(right, signatures.right, signatures.count, steps);
  return keep(left, signatures.left, present, operator === 'and' ? 1 : 0, steps);
}
