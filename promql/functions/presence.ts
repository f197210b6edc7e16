/** `count_over_time`, `present_over_time`, `absent_over_time`: whether there are samples, and how many. */
import type { RangeFunction } from './base.ts';
import type { Windows } from './windows.ts';
import type { StepSeries } from '../base/series.ts';

const ofCount = (name: string, help: string, valueOf: (count: number) => number): RangeFunction => ({
  kind: 'range',
  name,
  args: ['matrix'],
  variadic: 0,
  returns: 'vector',
  help,
  over: (windows: Windows, out: StepSeries) => {
    const cut = windows.hasHistograms ? windows.histogramCut : undefined;
    for (let step = 0; step < windows.steps; step += 1) {
      const floats = (windows.to[step] as number) - (windows.from[step] as number);
      const count = floats + (cut === undefined ? 0 : (cut.to[step] as number) - (cut.from[step] as number));
      if (count > 0) out.setFloat(step, valueOf(count));
    }
  },
});

export const countOverTime = ofCount('count_over_time', 'number of samples', (count) => count);
export const presentOverTime = ofCount('present_over_time', '1 where there is a sample', () => 1);
/** The evaluator makes one series of what all have not. */
export const absentOverTime = ofCount('absent_over_time', '1 where no series has a sample', () => 1);
