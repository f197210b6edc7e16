import { expect } from 'chai';
import type { RawSeries } from '../../promql/base/series.ts';
import type { SampleSource } from '../../promql/base/source.ts';
import { FUNCTIONS } from '../../promql/functions/index.ts';
import { instantQuery, rangeQuery } from '../../promql/evaluation/query.ts';
import { EMPTY, type Histogram } from '../../promql/histograms/histogram.ts';
import { histogramJson } from '../../promql/histograms/text.ts';
import { Labels } from '../../promql/values/labels.ts';
import { MemorySource, rawSeries, type Sample } from './memory-source.ts';

/** Numbers between 0 and 1 that are the same in each run. */
function random(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}

const SPECIAL: readonly Sample[] = ['stale', NaN, Infinity, -Infinity, 0, 1e300, -1e300];

type Kind = 'whole' | 'fraction' | 'special' | 'mixed';

/** A series with gaps and resets: of whole numbers, of fractions, with every oddity, or with histograms between. */
function series(kind: Kind, place: number): RawSeries {
  const chance = random(place * 7919 + kind.length);
  const samples: [number, Sample][] = [];
  let value = 0;
  for (let time = 0; time < 900_000; time += 10_000 + Math.floor(chance() * 10_000)) {
    const luck = chance();
    if (luck < 0.1) continue;
    value = luck < 0.2 ? 0 : value + (kind === 'fraction' ? luck / 7 : Math.floor(luck * 50));
    const special = SPECIAL[Math.floor(chance() * SPECIAL.length)] ?? 0;
    const histogram: Histogram = {
      ...EMPTY,
      count: value + 3,
      sum: value * 2,
      positive: { indexes: [0, 1], counts: [value, 3] },
    };
    if (kind === 'special' && luck > 0.7) samples.push([time, special]);
    else if (kind === 'mixed' && luck > 0.5) samples.push([time, histogram]);
    else samples.push([time, value]);
  }
  const labels = Labels.of([
    ['__name__', `${kind}_total`],
    ['place', String(place % 2)],
    ['instance', String(place)],
  ]);
  return rawSeries(labels, samples);
}

const KINDS: readonly Kind[] = ['whole', 'fraction', 'special', 'mixed'];
const source = new MemorySource(KINDS.flatMap((kind) => [0, 1, 2].map((place) => series(kind, place))));

const STEP = 17_000;
const [START, END] = [60_000, 800_000];

/** The value of each series at each step, as text. */
async function bySteps(query: string, isNameDelayed: boolean): Promise<Map<string, string>> {
  const { value } = await rangeQuery(query, START, END, STEP, { source, isNameDelayed });
  const found = new Map<string, string>();
  if (value.type !== 'matrix') throw new Error('A range query gives a matrix.');
  for (const { labels, timestamps, values, histograms } of value.series)
    timestamps.forEach((time, at) => {
      const histogram = histograms?.[at];
      found.set(
        `${String(time)} ${labels.toString()}`,
        histogram === undefined ? String(values[at]) : JSON.stringify(histogramJson(histogram)),
      );
    });
  return found;
}

async function byInstants(query: string, isNameDelayed: boolean): Promise<Map<string, string>> {
  const found = new Map<string, string>();
  for (let time = START; time <= END; time += STEP) {
    const { value } = await instantQuery(query, time, { source, isNameDelayed });
    if (value.type === 'scalar') found.set(`${String(time)} {}`, String(value.value));
    if (value.type !== 'vector') continue;
    for (const sample of value.samples)
      found.set(
        `${String(time)} ${sample.labels.toString()}`,
        typeof sample.value === 'number' ? String(sample.value) : JSON.stringify(histogramJson(sample.value)),
      );
  }
  return found;
}

/** Those that may give nothing. */
const MAYBE_EMPTY = /^(?:absent_over_time|histogram_quantile)/;

const sorted = (found: ReadonlyMap<string, string>): [string, string][] => [...found].sort(([a], [b]) => (a < b ? -1 : 1));

const EXTRA: Readonly<Record<string, string>> = {
  quantile_over_time: 'quantile_over_time(0.7, KIND_total[2m])',
  predict_linear: 'predict_linear(KIND_total[2m], 60)',
  double_exponential_smoothing: 'double_exponential_smoothing(KIND_total[2m], 0.3, 0.6)',
};

const QUERIES = [
  ...FUNCTIONS.filter(({ kind }) => kind === 'range').map(({ name }) => EXTRA[name] ?? `${name}(KIND_total[2m])`),
  'KIND_total',
  'KIND_total offset 1m',
  'KIND_total @ 300',
  'rate(KIND_total[2m] @ end() offset 1m)'.replace('end()', '500'),
  'timestamp(KIND_total)',
  'sum by (place) (rate(KIND_total[1m]))',
  'avg(KIND_total)',
  'stddev by (place) (KIND_total)',
  'quantile(0.3, KIND_total)',
  'topk by (place) (1, KIND_total)',
  'count_values("v", KIND_total)',
  'KIND_total > 20',
  '-KIND_total * 2',
  'KIND_total / on (instance) whole_total',
  'KIND_total and whole_total > 10',
  'KIND_total or whole_total',
  'max_over_time(rate(KIND_total[1m])[2m:30s])',
  'histogram_quantile(0.5, KIND_total)',
  'scalar(KIND_total{instance="1"})',
  'hour(KIND_total) + on () group_left () minute()',
];

describe('range queries', () => {
  for (const query of QUERIES)
    it(`give at each step what an instant query gives: ${query}`, async () => {
      for (const kind of KINDS) {
        const own = query.replaceAll('KIND', kind);
        for (const isNameDelayed of [false, true]) {
          const expected = await byInstants(own, isNameDelayed);
          expect(sorted(await bySteps(own, isNameDelayed)), own).to.deep.equal(sorted(expected));
          if (kind === 'whole' && !MAYBE_EMPTY.test(own)) expect(expected.size, own).to.be.above(10);
        }
      }
    });

  it('read series that come later as those that are there', async () => {
    const later: SampleSource = {
      select: async function* (selection) {
        for (const one of source.select(selection)) {
          await Promise.resolve();
          yield one;
        }
      },
    };
    const query = 'sum by (place) (rate(whole_total[1m])) / count by (place) (fraction_total)';
    const [now, then] = [
      await rangeQuery(query, START, END, STEP, { source }),
      await rangeQuery(query, START, END, STEP, { source: later }),
    ];
    expect(then).to.deep.equal(now);
  });

  it('ask the source for no more than the windows of their steps', async () => {
    const asked: string[] = [];
    const watched: SampleSource = {
      select: ({ matchers, after, until }) => {
        asked.push(`${matchers.map(String).join()} ${String(after)} ${String(until)}`);
        return [];
      },
    };
    await rangeQuery('rate(a[1m] offset 1m) + b + c @ 100', 200_000, 300_000, 10_000, { source: watched, lookbackMs: 30_000 });
    expect(asked).to.deep.equal(['__name__="a" 80000 240000', '__name__="b" 170000 300000', '__name__="c" 70000 100000']);
  });
});
