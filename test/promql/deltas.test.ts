import { expect } from 'chai';
import type { RawSeries } from '../../promql/base/series.ts';
import { instantQuery, rangeQuery } from '../../promql/evaluation/query.ts';
import { Labels } from '../../promql/values/labels.ts';
import type { Histogram } from '../../promql/histograms/histogram.ts';
import { Random } from '../fuzz/random.ts';
import { extent } from '../extent.ts';
import { MemorySource, rawSeries, type Sample } from './memory-source.ts';

const deltas = (name: string, samples: readonly (readonly [number, Sample])[]): RawSeries => ({
  ...rawSeries(Labels.of([['__name__', name]]), samples),
  isDelta: true,
});

async function valueOf(series: RawSeries, query: string, time: number): Promise<unknown> {
  const { value } = await instantQuery(query, time, { source: new MemorySource([series]) });
  return value.type === 'vector' ? value.samples[0]?.value : value;
}

const histogram = (count: number): Histogram => ({
  ...{ schema: 3, zeroThreshold: 0, zeroCount: 0, count, sum: 2 * count },
  ...{ positive: { indexes: [1, 4], counts: [count - 1, 1] }, negative: { indexes: [], counts: [] }, custom: [], hint: 'unknown' },
});

describe('series whose samples are deltas', () => {
  const series = deltas('served_total', [[60_000, 5], [120_000, 7], [180_000, 1], [240_000, 0], [300_000, 11]]); // prettier-ignore

  it('are summed by increase, as they are: nothing is carried on to the ends of a window', async () => {
    expect(await valueOf(series, 'increase(served_total[5m])', 300_000)).to.equal(24);
    expect(await valueOf(series, 'increase(served_total[2m])', 300_000)).to.equal(11);
    // open on the left
    expect(await valueOf(series, 'increase(served_total[3m])', 300_000)).to.equal(12);
    expect(await valueOf(series, 'increase(served_total[1m])', 60_000)).to.equal(5);
    expect(await valueOf(series, 'increase(served_total[1m])', 400_000)).to.equal(undefined);
  });

  it('are summed by rate, for each second of the window', async () => {
    expect(await valueOf(series, 'rate(served_total[5m])', 300_000)).to.equal(24 / 300);
    expect(await valueOf(series, 'sum(rate(served_total[2m]))', 130_000)).to.equal(12 / 120);
  });

  it('are no counters that fall: a lower delta is no reset, and a marker is none', async () => {
    const marked = deltas('served_total', [[60_000, 5], [120_000, 'stale'], [180_000, 1]]); // prettier-ignore
    expect(await valueOf(marked, 'increase(served_total[5m])', 300_000)).to.equal(6);
  });

  it('are added where they are histograms', async () => {
    const own = deltas('took_seconds', [[60_000, histogram(4)], [120_000, histogram(6)]]); // prettier-ignore
    expect(await valueOf(own, 'histogram_count(increase(took_seconds[5m]))', 200_000)).to.equal(10);
    expect(await valueOf(own, 'histogram_sum(rate(took_seconds[100s]))', 150_000)).to.equal(20 / 100);
  });

  it('come to the increase of the counter that they are the differences of, where its samples meet the window', async () => {
    const random = new Random(5);
    for (let round = 0; round < extent(50, 2000); round++) {
      const values = Array.from({ length: 40 }, () => random.below(1000));
      let total = 0;
      const counted = values.map((value, at) => [at * 15_000, (total += value)] as const); // prettier-ignore
      const counter = rawSeries(Labels.of([['__name__', 'c_total']]), counted);
      const own = deltas('d_total', values.map((value, at) => [at * 15_000, value] as const)); // prettier-ignore
      const source = new MemorySource([counter, own]);
      const seconds = 15 * (1 + random.below(20));
      const { value } = await rangeQuery(`increase(d_total[${String(seconds)}s])`, 300_000, 585_000, 15_000, { source });
      if (value.type !== 'matrix') throw new Error('no matrix');
      const [found] = value.series;
      const last = (time: number): number => counted[time / 15_000]?.[1] ?? NaN;
      const right = Array.from(found?.timestamps ?? [], (time) => last(time) - last(time - seconds * 1000));
      expect([...(found?.values ?? [])], `${String(seconds)} s`).to.deep.equal(right);
    }
  });
});
