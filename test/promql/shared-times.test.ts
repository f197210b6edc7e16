import { expect } from 'chai';
import { rangeQuery } from '../../promql/evaluation/query.ts';
import { Labels } from '../../promql/values/labels.ts';
import type { Value } from '../../promql/evaluation/result.ts';
import { extent } from '../extent.ts';
import { Random } from '../fuzz/random.ts';
import { MemorySource, rawSeries, type Sample } from './memory-source.ts';

const [WINDOW, STEP, END] = [60_000, 10_000, 600_000];
const FUNCTIONS = ['rate', 'increase', 'delta', 'sum_over_time'];
const ODD: Sample[] = [NaN, Infinity, -Infinity, -0, 5e-324, 1e-290, 1e308, -7, 'stale'];

/** Times of scrapes: each some while behind the one before, or long. */
function timesOf(random: Random): number[] {
  const times: number[] = [];
  for (let time = random.below(20_000); time <= END; time += 1 + random.below(random.below(10) === 0 ? 50_000 : 12_000)) times.push(time);
  return times;
}

/** A counter that begins near zero or far from it, and may fall; some have what no counter has. */
function samplesOf(times: readonly number[], random: Random): (readonly [number, Sample])[] {
  let value = random.below(3) === 0 ? 0 : random.below(1000);
  const isOdd = random.below(4) === 0;
  const scale = [1, 0.1, 1e-300][random.below(3)] ?? 1;
  return times.map((time) => {
    value = random.below(20) === 0 ? random.below(5) : value + random.below(100);
    return [time, isOdd && random.below(5) === 0 ? (ODD[random.below(ODD.length)] as Sample) : value * scale];
  });
}

const bitsOf = (value: Value): unknown =>
  value.type === 'matrix' &&
  value.series.map(({ labels, timestamps, values }) => [labels.key, [...timestamps], [...new BigUint64Array(values.slice().buffer)]]);

describe('series that have the same times', () => {
  it('give bit for bit what each gives by itself', async () => {
    const random = new Random(11);
    for (let round = 0; round < extent(60, 2000); round++) {
      const times = timesOf(random);
      const all = Array.from(
        { length: 5 },
        (_none, place) =>
        rawSeries(Labels.of([['__name__', 'x'], ['place', String(place)]]), samplesOf(times, random)), // prettier-ignore
      );
      const query = `${FUNCTIONS[round % FUNCTIONS.length] ?? ''}(x[${String(WINDOW / 1000)}s])`;
      const over = async (series: typeof all): Promise<unknown[]> =>
        bitsOf((await rangeQuery(query, 0, END, STEP, { source: new MemorySource(series) })).value) as unknown[];
      const apart = (await Promise.all(all.map((one) => over([one])))).flat();
      expect(await over(all), `round ${String(round)}`).to.deep.equal(apart);
    }
  });
});
