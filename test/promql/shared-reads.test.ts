import { expect } from 'chai';
import type { RawSeries } from '../../promql/base/series.ts';
import type { SampleSource, Selection } from '../../promql/base/source.ts';
import { rangeQuery } from '../../promql/evaluation/query.ts';
import { valueJson } from './value-json.ts';
import { Labels } from '../../promql/values/labels.ts';
import { MemorySource, rawSeries } from './memory-source.ts';

/** Counts what is read of a source. */
class Counting implements SampleSource {
  reads = 0;
  readonly #source: MemorySource;

  constructor(source: MemorySource) {
    this.#source = source;
  }

  select(selection: Selection): Iterable<RawSeries> {
    this.reads += 1;
    return this.#source.select(selection);
  }
}

const seriesOf = (name: string, pod: string, factor: number): RawSeries =>
  rawSeries(
    Labels.of([
      ['__name__', name],
      ['pod', pod],
    ]),
    Array.from({ length: 100 }, (_none, at) => [at * 15_000, at * factor] as const),
  );
const memory = new MemorySource([seriesOf('a', '1', 1), seriesOf('a', '2', 3), seriesOf('b', '1', 2)]);

async function run(query: string, maxSamples?: number): Promise<{ reads: number; answer: unknown }> {
  const source = new Counting(memory);
  const options = { source, ...(maxSamples === undefined ? {} : { maxSamples }) };
  const { value } = await rangeQuery(query, 600_000, 1_200_000, 60_000, options);
  return { reads: source.reads, answer: JSON.parse(JSON.stringify(valueJson(value))) };
}

describe('selectors that are equal', () => {
  const rows: readonly (readonly [query: string, reads: number])[] = [
    ['a + a', 1],
    [Array.from({ length: 60 }, () => 'a').join(' + '), 1],
    ['rate(a[5m]) / rate(a[5m])', 1],
    ['a{pod="1"} + on() a{pod="1"} + on() a{pod="1"}', 1],
    ['sum(a) / count(a) + sum(b)', 2],
    ['topk(scalar(sum(b)), b)', 1],
    ['max_over_time(rate(a[5m])[10m:1m]) + max_over_time(rate(a[5m])[10m:1m])', 1],
    ['a @ end() + a @ end()', 1],
  ];
  for (const [query, reads] of rows)
    it(`${query.slice(0, 60)} is read ${String(reads)} times`, async () => expect((await run(query)).reads).to.equal(reads));

  const others: readonly (readonly [query: string, reads: number])[] = [
    ['a + a offset 1m', 2],
    ['rate(a[5m]) / rate(a[4m])', 2],
    ['a + on(pod) b', 2],
    ['a{pod="1"} + a{pod=~"1"}', 2],
    ['rate(a[5m]) + on(pod) a', 2],
    ['max_over_time(rate(a[5m])[10m:1m]) + max_over_time(rate(a[5m])[10m:2m])', 2],
    ['a @ end() + a', 2],
  ];
  for (const [query, reads] of others)
    it(`${query} is not, since they differ`, async () => expect((await run(query)).reads).to.equal(reads));

  it('give what they give when each is read by itself', async () => {
    const shared = await run('(rate(a[5m]) + rate(a[5m])) / 2 - sum by (pod) (rate(a[5m]))');
    const apart = await run('(rate(a[5m]) + rate(a{pod!=""}[5m])) / 2 - sum by (pod) (rate(a{pod!="9"}[5m]))');
    expect([shared.reads, apart.reads]).to.deep.equal([1, 3]);
    expect(shared.answer).to.deep.equal(apart.answer);
  });

  it('are read again where the samples are too many to be held', async () => {
    const whole = await run('a + a + a');
    const small = await run('a + a + a', 400);
    expect(small.reads).to.equal(3);
    expect(small.answer).to.deep.equal(whole.answer);
  });
});
