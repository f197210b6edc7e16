import { expect } from 'chai';
import { optionsOf } from '../../../api/prometheus/operations.ts';
import type { Deps, Request } from '../../../api/query/deps.ts';
import { QueryMemory, SharedMemory } from '../../../logsql/base/memory.ts';
import type { RawSeries } from '../../../promql/base/series.ts';
import { instantQuery } from '../../../promql/evaluation/query.ts';
import type { Options } from '../../../promql/evaluation/state.ts';
import { Labels } from '../../../promql/values/labels.ts';

const SERIES = 1000;
/** One evaluation of SERIES samples has room in it, and two have not. */
const MAX_BYTES = 30_000;
const QUERY = 'quantile(0.5, x)';

function* someSeries(): Generator<RawSeries> {
  for (let place = 0; place < SERIES; place++)
    yield { labels: Labels.of([['__name__', 'x'], ['place', String(place)]]), timestamps: Float64Array.of(0), values: Float64Array.of(place) }; // prettier-ignore
}

describe('what evaluations hold', () => {
  /** As a rule or a query of a process is evaluated, over other samples. */
  const optionsIn = (shared: SharedMemory): { options: Options; memory: QueryMemory } => {
    const memory = new QueryMemory({ maxRows: 1, maxBytes: MAX_BYTES }, shared);
    const deps = { memory, now: () => 0n, runner: () => ({ store: {}, options: { tenantId: 1 } }) } as unknown as Deps;
    return { options: optionsOf(null, { signal: new AbortController().signal, retentionDays: 0 } as Request, deps), memory };
  };

  it('counts for those that run beside them, until they end', async () => {
    const shared = new SharedMemory(MAX_BYTES);
    const [first, second] = [optionsIn(shared), optionsIn(shared)];
    let go = (): void => undefined;
    let began = (): void => undefined;
    const [gate, hasBegun] = [new Promise<void>((resolve) => (go = resolve)), new Promise<void>((resolve) => (began = resolve))];
    async function* halting(): AsyncGenerator<RawSeries> {
      yield* someSeries();
      began();
      await gate;
    }
    const held = instantQuery(QUERY, 0, { ...first.options, source: { select: halting } });
    await hasBegun;
    const beside = (): Promise<unknown> => instantQuery(QUERY, 0, { ...second.options, source: { select: someSeries } });
    expect(await beside().catch(String)).to.match(/too many samples into memory/);
    second.memory.clear();
    go();
    expect((await held).value).to.have.nested.property('samples[0].value', (SERIES - 1) / 2);
    expect(await beside()).to.have.nested.property('value.samples[0].value', (SERIES - 1) / 2);
    const whole = new QueryMemory({ maxRows: 1, maxBytes: MAX_BYTES }, new SharedMemory(MAX_BYTES)).left;
    expect(optionsIn(shared).memory.left, 'nothing is counted any more').to.deep.equal(whole);
  });
});
