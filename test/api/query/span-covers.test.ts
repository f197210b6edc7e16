import { expect } from 'chai';
import type { Deps, Request } from '../../../api/query/deps.ts';
import { DAY, HOUR, MINUTE } from '../../../api/query/span-cover.ts';
import { SpanCovers } from '../../../api/query/span-covers.ts';

const SECOND = 1_000_000_000n;
const NOW = 1_795_003_200n * SECOND;
/** Of partition 3: minutes are counted up to record 70, hours up to 50, by segments that were closed at 200 and 100. */
const CLOSINGS = [
  [3, MINUTE, 0, 0, 70, 10, 200, 190],
  [3, HOUR, 0, 0, 50, 10, 100, 95],
];

/** A store that has closings, and counts how often it was read. */
class Closings {
  reads = 0;
  rows: readonly (readonly number[])[] = CLOSINGS;
  failure: Error | null = null;
  now = NOW;
  readonly covers = new SpanCovers();

  of(tenantId: number, set: string | null = null): ReturnType<SpanCovers['of']> {
    const rows = (): Promise<unknown> => {
      this.reads += 1;
      return this.failure === null ? Promise.resolve(this.rows) : Promise.reject(this.failure);
    };
    const deps = { now: () => this.now, runner: () => ({ store: { rows }, options: {} }) };
    return this.covers.of({ tenantId, set } as Request, deps as unknown as Deps);
  }
}

describe('how far spans are counted', () => {
  let closings: Closings;
  beforeEach(() => (closings = new Closings()));

  it('has what a longer segment counts in the shorter ones', async () => {
    expect(await closings.of(1)).to.deep.equal([
      {
        ...{ partition: 3, run: 0, from: 0, firstClosed: 10, lastAt: 190 },
        ...{ until: { [DAY]: 0, [HOUR]: 50, [MINUTE]: 70 }, closed: { [DAY]: 0, [HOUR]: 100, [MINUTE]: 200 } },
      },
    ]);
    closings.now += 3600n * SECOND;
    closings.rows = [...CLOSINGS, [3, DAY, 0, 0, 90, 10, 300, 290]];
    expect((await closings.of(1))[0]).to.deep.include({
      ...{ lastAt: 290, until: { [DAY]: 90, [HOUR]: 90, [MINUTE]: 90 }, closed: { [DAY]: 300, [HOUR]: 300, [MINUTE]: 300 } },
    });
  });

  it('has the latest run of a partition alone', async () => {
    closings.rows = [[3, MINUTE, 1000, 1000, 1100, 500, 600, 590], ...CLOSINGS];
    expect(await closings.of(1)).to.have.length(1);
    expect((await closings.of(1))[0]).to.deep.include({ run: 1000, from: 1000, until: { [DAY]: 0, [HOUR]: 0, [MINUTE]: 1100 } });
  });

  it('serves for half a minute, and is read again after it', async () => {
    const first = await closings.of(1);
    closings.rows = [];
    closings.now += 30n * SECOND - 1n;
    expect(await closings.of(1)).to.equal(first);
    closings.now += 1n;
    expect(await closings.of(1)).to.deep.equal([]);
    expect(closings.reads).to.equal(2);
  });

  it('does not serve after the clock was set back', async () => {
    await closings.of(1);
    closings.now -= SECOND;
    await closings.of(1);
    expect(closings.reads).to.equal(2);
  });

  it('is that of one tenant in one set', async () => {
    for (const [tenantId, set] of [[1, null], [2, null], [1, 'a'], [1, 'b']] as const) await closings.of(tenantId, set); // prettier-ignore
    expect(closings.reads).to.equal(4);
    await closings.of(1, 'b');
    await closings.of(2);
    expect(closings.reads).to.equal(4);
  });

  it('is not kept where it could not be read', async () => {
    closings.failure = new Error('away');
    let thrown: unknown = null;
    await closings.of(1).catch((error: unknown) => (thrown = error));
    expect(thrown).to.equal(closings.failure);
    closings.failure = null;
    expect(await closings.of(1)).to.have.length(1);
  });

  it('is kept of so many tenants, those that asked last', async () => {
    for (let tenantId = 0; tenantId <= 2000; tenantId++) await closings.of(tenantId);
    await closings.of(2000);
    expect(closings.reads).to.equal(2001);
    await closings.of(0);
    expect(closings.reads).to.equal(2002);
  });
});
