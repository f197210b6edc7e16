/** `stddev_over_time`, `stdvar_over_time`. */
import { Sum } from '../values/kahan.ts';
import type { RangeFunction } from './base.ts';
import { noteIgnored } from './extremes.ts';
import { eachWindow } from './windows.ts';

const variance = (name: string, help: string, result: (variance: number) => number): RangeFunction => ({
  kind: 'range',
  name,
  args: ['matrix'],
  variadic: 0,
  returns: 'vector',
  help,
  over: (windows, out) => {
    noteIgnored(windows);
    const { values } = windows;
    eachWindow(windows, out, 1, (from, to) => {
      const [mean, squares] = [new Sum(), new Sum()];
      for (let at = from; at < to; at += 1) {
        const value = values[at] as number;
        const difference = value - (mean.total + mean.lost);
        mean.add(difference / (at - from + 1));
        squares.add(difference * (value - (mean.total + mean.lost)));
      }
      return result((squares.total + squares.lost) / (to - from));
    });
  },
});

export const stddevOverTime = variance('stddev_over_time', 'standard deviation of the numbers', Math.sqrt);
export const stdvarOverTime = variance('stdvar_over_time', 'variance of the numbers', (own) => own);
