/** `first_over_time`, `last_over_time` and the times of these samples. */
import type { RangeFunction } from './base.ts';
import { eachWindow } from './windows.ts';

const endOf = (name: string, isLast: boolean, isTime: boolean, help: string): RangeFunction => ({
  kind: 'range',
  name,
  args: ['matrix'],
  variadic: 0,
  returns: 'vector',
  ...(isTime ? { isExperimental: true } : { keepsName: true, ...(isLast ? {} : { isExperimental: true }) }),
  help,
  over: (windows, out) => {
    if (!windows.hasHistograms) {
      const { times, values } = windows;
      eachWindow(windows, out, 1, (from, to) => {
        const at = isLast ? to - 1 : from;
        return isTime ? (times[at] as number) / 1000 : (values[at] as number);
      });
      return;
    }
    windows.eachMixed(({ times, values, histogramTimes, histograms }, step) => {
      const at = isLast ? -1 : 0;
      const [time, histogramTime] = [times.at(at), histogramTimes.at(at)];
      const histogram = histograms.at(at);
      const isFloat = time !== undefined && (histogramTime === undefined || (isLast ? histogramTime < time : time < histogramTime));
      if (isTime) out.setFloat(step, ((isFloat ? time : histogramTime) ?? 0) / 1000);
      else if (isFloat) out.setFloat(step, values.at(at) ?? 0);
      else if (histogram !== undefined) out.setHistogram(step, histogram);
    });
  },
});

export const firstOverTime = endOf('first_over_time', false, false, 'the oldest sample');
export const lastOverTime = endOf('last_over_time', true, false, 'the newest sample');
export const tsOfFirstOverTime = endOf('ts_of_first_over_time', false, true, 'time of the oldest sample');
export const tsOfLastOverTime = endOf('ts_of_last_over_time', true, true, 'time of the newest sample');
