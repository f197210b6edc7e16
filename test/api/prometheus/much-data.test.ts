import { expect } from 'chai';
import { pino } from 'pino';
import { QueryPool } from '../../../api/engine/workers/query-pool.ts';
import type { PromqlQuery } from '../../../api/prometheus/operations.ts';
import type { QueryJob } from '../../../api/query/engine.ts';
import { loadConfig } from '../../../pipeline/core/config.ts';
import { startSampleStore, type SampleStore } from '../../fakes/sample-store.ts';
import { extent } from '../../extent.ts';

const [DAY_MS, MINUTE_MS] = [86_400_000, 60_000];
const [SERIES, SAMPLES] = [1000, 2880];
const POINTS = 1441;

type Answer = { readonly data: { readonly result: readonly { readonly metric: object; readonly values: readonly unknown[] }[] } };

describe('PromQL over much data', () => {
  let [store, pool, lost]: [SampleStore | undefined, QueryPool | undefined, string[]] = [undefined, undefined, []];

  async function start(series: number, samples: number): Promise<void> {
    store = await startSampleStore(series, samples);
    lost = [];
    pool = new QueryPool({
      clickhouse: { ...loadConfig({}).clickhouse, url: store.url },
      ...{ limits: { maxFacetFields: 1 }, log: pino({ level: 'silent' }), workers: 3, onLost: (why) => lost.push(why) },
      store: { endMarked: () => Promise.resolve(), runningStatements: () => Promise.resolve([]) },
    });
    await pool.start();
  }
  afterEach(async () => {
    await pool?.stop();
    await store?.stop();
  });

  /** The query over a day, in the memory that workers have in a service. */
  async function answerOf(query: string): Promise<Answer> {
    const parameters: PromqlQuery = { query, start: 0, end: DAY_MS, step: MINUTE_MS, lookback: null, limit: 0, stats: false };
    const job: QueryJob = {
      ...{ operation: 'prometheus/query', parameters, tenantId: 1, retentionDays: 0, atOnce: 4, requestId: 'r' },
      ...{ startedAt: performance.now(), timeoutMs: 60_000, signal: new AbortController().signal },
    };
    const { body, stream } = await (pool as QueryPool).run(job);
    if (stream === undefined) return JSON.parse((body as Buffer).toString()) as Answer;
    const parts: Uint8Array[] = [];
    for await (const part of stream) parts.push(part as Uint8Array);
    return JSON.parse(String(Buffer.concat(parts))) as Answer;
  }

  it('has the memory that it takes to hold 1,000 series of a day, and to show them, again and again', async () => {
    await start(SERIES, SAMPLES);
    for (let round = 0; round < extent(2, 3); round++) {
      const groups = (await answerOf('quantile by (group) (0.9, rate(x[5m]))')).data.result;
      expect(groups.map(({ values }) => values.length)).to.deep.equal(Array<number>(10).fill(POINTS - 1));
      const all = (await answerOf('x')).data.result;
      expect(all.map(({ values }) => values.length)).to.deep.equal(Array<number>(SERIES).fill(POINTS));
    }
    expect(lost).to.deep.equal([]);
  });

  it('refuses what would hold more than a query may, and no worker ends with it', async () => {
    await start(10 * SERIES, 10);
    expect(await answerOf('topk(10000, x or last_over_time(x[1d]))').catch(String)).to.match(/too many samples into memory/);
    expect(lost).to.deep.equal([]);
  });
});
