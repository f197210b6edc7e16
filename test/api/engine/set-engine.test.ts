import { expect } from 'chai';
import { SetEngine } from '../../../api/engine/set-engine.ts';
import type { EngineAnswer, QueryJob } from '../../../api/query/engine.ts';
import { clientClosed, HttpError, queryTimeout, storeUnavailable } from '../../../pipeline/core/errors.ts';

type Behaviour = () => Promise<EngineAnswer>;

/** Sets by name in their order, each with what it does with a query. */
class FakeSets {
  readonly suspected: string[] = [];
  readonly jobs: QueryJob[] = [];
  readonly #sets: Record<string, Behaviour>;
  readonly #lost = new Map<string, () => void>();

  constructor(sets: Record<string, Behaviour>) {
    this.#sets = sets;
  }

  get ready(): readonly string[] {
    return Object.keys(this.#sets);
  }

  suspect(name: string): void {
    this.suspected.push(name);
  }

  whenLost(name: string, onLost: () => void): () => void {
    this.#lost.set(name, onLost);
    return () => void this.#lost.delete(name);
  }

  lose(name: string): void {
    this.#lost.get(name)?.();
  }

  get waiting(): number {
    return this.#lost.size;
  }

  run(job: QueryJob): Promise<EngineAnswer> {
    this.jobs.push(job);
    return this.#sets[job.set ?? '']?.() ?? Promise.reject(new Error(`No set ${String(job.set)}.`));
  }

  used(): string {
    return this.jobs.map(({ set }) => set).join(' ');
  }
}

const jobOf = (more: Partial<QueryJob> = {}): QueryJob => ({
  ...{ operation: 'search', parameters: {}, tenantId: 7, retentionDays: 0, atOnce: 4, requestId: 'r', startedAt: performance.now() },
  ...{ timeoutMs: 60_000, signal: new AbortController().signal },
  ...more,
});
const answers = (body: string): Behaviour => () => Promise.resolve({ body, headers: { 'X-Own': '1' } }); // prettier-ignore
const fails = (error: Error): Behaviour => () => Promise.reject(error); // prettier-ignore
const REFUSED = Object.assign(new Error('no'), { code: 'ECONNREFUSED' });

describe('a query on one of several sets', () => {
  const engineOf = (sets: FakeSets): SetEngine => new SetEngine({ engine: sets, watch: sets });
  const outcome = (sets: FakeSets, job = jobOf()): Promise<unknown> =>
    engineOf(sets).run(job).catch((error: unknown) => (error instanceof HttpError ? error.status : String(error))); // prettier-ignore

  it('runs on the best one, and its answer names it', async () => {
    const sets = new FakeSets({ a: answers('1'), b: answers('2') });
    expect(await outcome(sets)).to.deep.equal({ body: '1', headers: { 'X-Own': '1', 'X-Set': 'a' } });
    expect([sets.used(), sets.suspected, sets.waiting]).to.deep.equal(['a', [], 0]);
  });

  for (const [what, error] of [
    ['an unavailable set', storeUnavailable()],
    ['a refused connection', REFUSED],
  ] as const)
    // prettier-ignore
    it(`runs again on the next one after ${what}`, async () => {
      const sets = new FakeSets({ a: fails(error), b: fails(error), c: answers('3') });
      expect(await outcome(sets)).to.deep.include({ body: '3' });
      expect([sets.used(), sets.suspected, sets.waiting]).to.deep.equal(['a b c', ['a', 'b'], 0]);
    });

  it('is 503 where no set is left, or none serves', async () => {
    expect(await outcome(new FakeSets({ a: fails(REFUSED), b: fails(storeUnavailable()) }))).to.equal(503);
    expect(await outcome(new FakeSets({}))).to.equal(503);
  });

  it('does not run again what failed by itself, or what no client waits for', async () => {
    for (const [error, status] of [
      [queryTimeout('long'), 504],
      [new HttpError(400, 'x', 'x'), 400],
      [new Error('bug'), 'Error: bug'],
    ] as const) {
      // prettier-ignore
      const sets = new FakeSets({ a: fails(error), b: answers('2') });
      expect([await outcome(sets), sets.used(), sets.suspected]).to.deep.equal([status, 'a', []]);
    }
    const sets = new FakeSets({ a: fails(storeUnavailable()), b: answers('2') });
    expect([await outcome(sets, jobOf({ signal: AbortSignal.abort() })), sets.used()]).to.deep.equal([503, 'a']);
  });

  it('does not run again when its time is up', async () => {
    const sets = new FakeSets({ a: fails(storeUnavailable()), b: answers('2') });
    expect([await outcome(sets, jobOf({ startedAt: performance.now() - 60_001 })), sets.used()]).to.deep.equal([503, 'a']);
  });

  it('leaves a set that stops serving while it runs', async () => {
    const sets: FakeSets = new FakeSets({
      a: () =>
        new Promise((_resolve, reject) => {
          sets.jobs[0]?.signal.addEventListener('abort', () => {
            reject(clientClosed());
          });
          sets.lose('a');
        }),
      b: answers('2'),
    });
    expect(await outcome(sets)).to.deep.include({ body: '2' });
    expect(sets.used()).to.equal('a b');
  });

  it('does not end a stream that has begun when its set stops serving', async () => {
    const sets = new FakeSets({ a: () => Promise.resolve({ stream: ['1'] }) });
    await outcome(sets);
    sets.lose('a');
    expect(sets.jobs[0]?.signal.aborted).to.equal(false);
  });

  it('has how far its own set is counted, and no other', async () => {
    const sets = new FakeSets({ a: fails(storeUnavailable()), b: answers('2') });
    const cover = { partitions: [], since: 1, runs: 1, behind: { 86_400: 0, 3600: 0, 60: 0 } };
    const covers = new Map([['b', { of: (tenantId: number) => Promise.resolve({ ...cover, runs: tenantId }) }]]);
    await new SetEngine({ engine: sets, watch: sets, covers }).run(jobOf());
    expect(sets.jobs.map((job) => job.cover)).to.deep.equal([null, { ...cover, runs: 7 }]);
  });
});
