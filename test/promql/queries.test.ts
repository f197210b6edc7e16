import { expect } from 'chai';
import { instantQuery, rangeQuery } from '../../promql/evaluation/query.ts';
import { valueJson } from './value-json.ts';
import { EMPTY } from '../../promql/histograms/histogram.ts';
import { Labels } from '../../promql/values/labels.ts';
import { MemorySource, rawSeries, type Sample } from './memory-source.ts';

const named = (name: string, rest: Record<string, string>, samples: readonly Sample[]) =>
  rawSeries(
    Labels.of([['__name__', name], ...Object.entries(rest)]),
    samples.map((sample, at) => [at * 60_000, sample] as const),
  );

const histogram = { ...EMPTY, count: 6, sum: 9, zeroCount: 1, zeroThreshold: 0.1, positive: { indexes: [0, 2], counts: [2, 3] } };

const source = new MemorySource([
  named('a', { job: 'x' }, [1, 2, 3]),
  named('b', { job: 'x' }, [10, 'stale']),
  named('h', {}, [histogram]),
  named('broken_bucket', { le: 'many' }, [1, 2, 3]),
]);

const instant = async (query: string, time = 0, isNameDelayed = false): Promise<unknown> =>
  valueJson((await instantQuery(query, time, { source, isNameDelayed })).value).result;

async function failure(query: string, time = 0): Promise<string> {
  try {
    await instantQuery(query, time, { source });
  } catch (error) {
    return error instanceof Error ? error.message : '';
  }
  throw new Error('It did not fail.');
}

describe('queries of PromQL', () => {
  it('give what the query API gives', async () => {
    expect(await instant('a')).to.deep.equal([
      {
        metric: { __name__: 'a', job: 'x' },
        value: [0, '1'],
      },
    ]);
    expect(JSON.parse(JSON.stringify(await instant('h')))).to.deep.equal([
      {
        metric: { __name__: 'h' },
        histogram: [
          0,
          {
            count: '6',
            sum: '9',
            buckets: [
              [3, '-0.1', '0.1', '1'],
              [0, '0.5', '1', '2'],
              [0, '2', '4', '3'],
            ],
          },
        ],
      },
    ]);
    expect(await instant('1 + 1')).to.deep.equal([0, '2']);
    expect(await instant('"x"')).to.deep.equal([0, 'x']);
    const { value } = await rangeQuery('a * 2', 0, 120_000, 60_000, { source });
    expect(JSON.parse(JSON.stringify(valueJson(value)))).to.deep.equal({
      resultType: 'matrix',
      result: [
        {
          metric: { job: 'x' },
          values: [
            [0, '2'],
            [60, '4'],
            [120, '6'],
          ],
        },
      ],
    });
  });

  it('end a series at its marker, and look back as far as they are told', async () => {
    expect(await instant('b', 59_999)).to.have.length(1);
    expect(await instant('b', 60_000)).to.deep.equal([]);
    expect(await instant('count_over_time(b[5m])', 60_000)).to.have.length(1);
    expect(await instant('a', 419_999)).to.have.length(1);
    expect(await instant('a', 420_000)).to.deep.equal([]);
    const { value } = await instantQuery('a', 150_000, { source, lookbackMs: 30_000 });
    expect(value).to.deep.equal({ type: 'vector', samples: [] });
  });

  it('drop names at once, where two series become one, or at the end', async () => {
    expect(await failure('abs({job="x"})')).to.equal('vector cannot contain metrics with the same labelset');
    expect(await failure('count_over_time({job="x"}[5m])', 120_000)).to.contain('same labelset');
    expect(await instant('label_replace(abs({job="x"}), "n", "$1", "__name__", "(.*)")', 0, true)).to.have.length(2);
    expect(await failure('label_replace(abs({job="x"}), "n", "$1", "__name__", "(.*)")')).to.contain('same labelset');
    expect(await instant('sum by (__name__) (abs(a))', 0, false)).to.deep.equal([{ metric: {}, value: [0, '1'] }]);
  });

  it('have warnings and infos, each once, with their places', async () => {
    const { warnings, infos } = await rangeQuery('histogram_quantile(2, broken_bucket) or rate(a[2m])', 0, 120_000, 60_000, { source });
    expect(warnings).to.deep.equal([
      'PromQL warning: quantile value should be between 0 and 1, got 2 (1:20)',
      'PromQL warning: bucket label "le" is missing or has a malformed value of "many" for metric name "broken_bucket" (1:23)',
    ]);
    expect(infos).to.deep.equal([
      'PromQL info: metric might not be a counter, name does not end in _total/_sum/_count/_bucket: "a" (1:46)',
    ]);
  });

  it('count what they read and hold', async () => {
    const { read, peak } = await instantQuery('a + a', 120_000, { source });
    // what both sides have read is held until the second one has it
    expect([read, peak]).to.deep.equal([6, 7]);
  });

  it('refuse what a range query cannot be', async () => {
    const refused = async (query: string, start: number, end: number, step: number): Promise<string> => {
      try {
        await rangeQuery(query, start, end, step, { source });
      } catch (error) {
        return error instanceof Error ? error.message : '';
      }
      return 'It did not fail.';
    };
    expect(await refused('a[5m]', 0, 1, 1)).to.equal(
      'invalid expression type "range vector" for range query, must be Scalar or instant Vector',
    );
    expect(await refused('a', 1, 0, 1)).to.equal('end timestamp must not be before start time');
    expect(await refused('a', 0, 1, 0)).to.contain('zero or negative query resolution');
  });

  /** Found by `npm run promql-oracle`: what Prometheus 3.16 answers. */
  const ORACLE: readonly (readonly [query: string, value: number])[] = [
    ['minute(vector(Inf))', 30],
    ['day_of_year(vector(-Inf))', 339],
    ['hour(vector(1e300))', 15],
    ['year(vector(1e300))', 292_277_026_596],
    ['day_of_week(vector(NaN))', 0],
    ['year(vector(-1))', 1969],
    ['month(vector(1709164800))', 2],
    ['day_of_month(vector(1709164800))', 29],
    ['days_in_month(vector(4107456000))', 28],
    ['quantile(0.5, vector(-Inf))', -Infinity],
    ['clamp(vector(1), Inf, NaN)', Infinity],
  ];
  for (const [query, value] of ORACLE)
    it(`${query} is ${String(value)}`, async () => {
      const found = (await instantQuery(query, 120_000, { source })).value;
      expect(found.type === 'vector' && found.samples[0]?.value).to.equal(value);
    });

  it('choose among equal series as Prometheus does: who came first stays, and the root of the heap goes', async () => {
    const values = { a: 1, b: 1, c: 2, d: 1 };
    const equal = new MemorySource(Object.entries(values).map(([name, value]) => rawSeries(Labels.of([['__name__', 'x'], ['name', name]]), [[0, value]]))); // prettier-ignore
    const names = async (query: string): Promise<unknown> => {
      const { value } = await instantQuery(query, 0, { source: equal });
      return value.type === 'vector' && value.samples.map(({ labels }) => labels.get('name')).join('');
    };
    expect(await names('topk(2, x)')).to.equal('cb');
    expect(await names('bottomk(2, x)')).to.equal('ab');
    expect(await names('topk(1, x)')).to.equal('c');
  });
});
