import { expect } from 'chai';
import type { QueryJob } from '../../../../api/query/engine.ts';
import { PoolJob } from '../../../../api/engine/workers/pool-job.ts';
import { Queue } from '../../../../api/engine/workers/queue.ts';

const nothing = (): void => undefined;
const job = (tenantId: number, more: Partial<QueryJob> = {}): PoolJob =>
  new PoolJob(
    {
      ...{
        operation: 'search',
        parameters: {},
        tenantId,
        retentionDays: 0,
        atOnce: 4,
        requestId: '',
        startedAt: 0,
        timeoutMs: 1,
      },
      ...{ signal: new AbortController().signal },
      ...more,
    },
    { resolve: nothing, reject: nothing, onOver: nothing },
  );
const idle = { jobs: 0, queries: 0 };

describe('the queue of queries', () => {
  it('gives the first one of each tenant, those first of whom least runs', () => {
    const queue = new Queue();
    const [a, b, c] = [job(1), job(2), job(3)];
    for (const one of [a, job(1), b, c]) queue.add(one);
    const running = new Map([
      [1, { jobs: 2, queries: 2 }],
      [2, { jobs: 1, queries: 1 }],
    ]);
    expect(queue.next((tenant) => running.get(tenant) ?? idle)).to.deep.equal([c, b, a]);
    queue.delete(a);
    expect(queue.next(() => idle)[0]).to.not.equal(a);
    expect(queue.size).to.equal(3);
  });

  it('holds back what is beyond the plan, but no exports', () => {
    const queue = new Queue();
    const [query, exported] = [job(1, { atOnce: 2 }), job(1, { atOnce: 2, isExport: true })];
    for (const one of [query, exported]) queue.add(one);
    expect(queue.next(() => ({ jobs: 2, queries: 2 }))).to.have.members([exported]);
    expect(queue.next(() => ({ jobs: 2, queries: 1 }))).to.have.members([query, exported]);
  });

  it('refuses what one tenant has too much of, and nobody else', () => {
    const queue = new Queue();
    for (let n = 0; n < 32; n += 1) queue.add(job(1));
    expect(() => queue.add(job(1)))
      .to.throw('32 queries waiting')
      .with.property('status', 429);
    queue.add(job(2));
    queue.again(job(1));
    expect([...queue]).to.have.length(34);
  });
});
