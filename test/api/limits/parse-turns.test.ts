import { expect } from 'chai';
import { ParseTurns } from '../../../api/limits/parse-turns.ts';
import { HttpError } from '../../../pipeline/core/errors.ts';

/** A process whose clock moves by the work that is done in it. */
class Loop {
  now = 0;
  /** What was done in each turn, as tenants. */
  readonly turns: number[][] = [[]];
  readonly waits: number[] = [];
  #next: (() => void)[] = [];
  #timers: { readonly at: number; readonly go: () => void }[] = [];
  readonly parse = new ParseTurns({
    now: () => this.now,
    nextTurn: (go) => this.#next.push(go),
    later: (ms, go) => this.#timers.push({ at: this.now + ms, go }),
    onWaited: (seconds) => this.waits.push(seconds),
    isAmongOthers: (tenantId) => this.asking !== null && this.asking !== tenantId,
  });
  /** The tenant whose query is being answered. */
  asking: number | null = null;

  /** A body that takes so many milliseconds. */
  body(tenantId: number, ms: number): Promise<number> {
    return this.parse.run(tenantId, () => {
      this.now += ms;
      this.turns.at(-1)?.push(tenantId);
      return this.now;
    });
  }

  /** Until nothing is left to do, or so many turns are over. */
  async run(turns = Infinity): Promise<void> {
    await settled();
    for (let turn = 0; turn < turns && this.#next.length + this.#timers.length > 0; turn++) {
      this.turns.push([]);
      // nothing to do until a timer fires
      if (this.#next.length === 0) this.now = Math.max(this.now, Math.min(...this.#timers.map(({ at }) => at)));
      const due = this.#timers.filter(({ at }) => at <= this.now);
      this.#timers = this.#timers.filter((timer) => !due.includes(timer));
      for (const { go } of due) go();
      for (const go of this.#next.splice(0)) go();
      await settled();
    }
  }
}

/** All promises that can go on have. */
const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

const refusal = (promise: Promise<unknown>): Promise<string> =>
  promise.then(
    () => 'done',
    (error: unknown) => (error instanceof HttpError ? error.slug : 'thrown'),
  );

describe('turns to make entries of bodies', () => {
  it('come at once where nobody else is there, and end with what is thrown', async () => {
    const loop = new Loop();
    expect(await loop.body(1, 1)).to.equal(1);
    expect(await refusal(loop.parse.run(1, () => expect.fail('a body that cannot be read')))).to.equal('thrown');
    expect(loop.waits).to.deep.equal([]);
  });

  it('are short: what is left goes on in the next turn of the event loop', async () => {
    const loop = new Loop();
    for (let n = 0; n < 6; n++) void loop.body(1, 1);
    await loop.run();
    expect(loop.turns).to.deep.equal([[1, 1], [1, 1], [1, 1], []]);
  });

  it('are given to who has used the least, before a flood that came first', async () => {
    const loop = new Loop();
    for (let n = 0; n < 50; n++) void loop.body(1, 15);
    void loop.body(2, 1);
    void loop.body(3, 1);
    await loop.run();
    expect(loop.turns.slice(0, 3)).to.deep.equal([[1], [2, 3], [1]]);
    expect(loop.turns.flat()).to.have.length(52);
  });

  it('are shared by time, not by number', async () => {
    const loop = new Loop();
    for (let n = 0; n < 200; n++) for (const [tenantId, ms] of [[1, 12], [2, 3], [3, 6]] as const) void loop.body(tenantId, ms); // prettier-ignore
    await loop.run(100);
    const used = [1, 2, 3].map((tenantId) => loop.turns.flat().filter((one) => one === tenantId).length);
    expect((used[0] ?? 0) * 12).to.be.closeTo((used[1] ?? 0) * 3, 24);
    expect((used[0] ?? 0) * 12).to.be.closeTo((used[2] ?? 0) * 6, 24);
  });

  it('keep the order of a tenant', async () => {
    const loop = new Loop();
    const ended: number[] = [];
    for (let n = 0; n < 20; n++) void loop.body(1, 3).then(() => ended.push(n));
    await loop.run();
    expect(ended).to.deep.equal(Array.from({ length: 20 }, (_, n) => n));
  });

  it('come soon for one that sends little, whatever another one does', async () => {
    const loop = new Loop();
    let flooding = true;
    const flood = async (): Promise<void> => {
      while (flooding) await loop.body(1, 15).catch(() => undefined);
    };
    for (let connection = 0; connection < 48; connection++) void flood();
    const waited: number[] = [];
    for (let n = 0; n < 200; n++) {
      const began = loop.now;
      void loop.body(2, 0.2).then((ended) => waited.push(ended - began));
      await loop.run(3);
    }
    flooding = false;
    await loop.run();
    expect(waited).to.have.length(200);
    expect(Math.max(...waited)).to.be.at.most(16);
  });

  it('leave time after a large body of one that has used much more than another one', async () => {
    const loop = new Loop();
    void loop.body(2, 1);
    await loop.run();
    void loop.body(1, 80);
    const second = loop.body(1, 80);
    await loop.run(1);
    expect(loop.turns.flat(), 'the second body waits').to.deep.equal([2, 1]);
    // what comes meanwhile does not wait
    void loop.body(2, 1);
    await settled();
    expect(loop.turns.flat()).to.deep.equal([2, 1, 2]);
    expect(loop.now).to.equal(82);
    await loop.run();
    expect(loop.turns.flat()).to.deep.equal([2, 1, 2, 1]);
    expect(await second, 'a quarter of what the first one took later').to.equal(81 + 20 + 80);
  });

  it('leave as much time after a body that held the loop up as it took', async () => {
    const loop = new Loop();
    void loop.body(2, 1);
    await loop.run();
    void loop.body(1, 400);
    const second = loop.body(1, 400);
    await loop.run();
    expect(await second).to.equal(1 + 400 + 400 + 400);
  });

  it('say who has used as much as others have on average, or more', async () => {
    const loop = new Loop();
    expect(loop.parse.isHeavy(1), 'nobody has used anything').to.equal(false);
    for (const [tenantId, ms] of [
      [1, 30],
      [2, 1],
      [3, 8],
    ] as const)
      void loop.body(tenantId, ms);
    await loop.run();
    expect([1, 2, 3, 4].filter((tenantId) => loop.parse.isHeavy(tenantId))).to.deep.equal([1]);
    // what was done outside turns
    loop.parse.charge(4, 60);
    expect([1, 2, 3, 4].filter((tenantId) => loop.parse.isHeavy(tenantId))).to.deep.equal([1, 4]);
  });

  it('leave no time where nobody else is there', async () => {
    const loop = new Loop();
    for (let n = 0; n < 10; n++) void loop.body(1, 100);
    await loop.run();
    expect(loop.now).to.equal(1000);
  });

  it('leave as much time as a body took while queries of others are answered, and none while those are of the same tenant', async () => {
    for (const [asking, over] of [
      [2, 3 * 40],
      [1, 2 * 40],
    ] as const) {
      // prettier-ignore
      const loop = new Loop();
      loop.asking = asking;
      void loop.body(1, 40);
      const second = loop.body(1, 40);
      await loop.run();
      expect(await second, `a query of tenant ${String(asking)}`).to.equal(over);
    }
    const small = new Loop();
    small.asking = 2;
    for (let n = 0; n < 6; n++) void small.body(1, 1);
    await small.run();
    expect(small.now, 'small bodies leave turns enough').to.equal(6);
  });

  it('are refused after 3.5 s, and others are not', async () => {
    const loop = new Loop();
    // it rests after each of them for as long as it took
    const flood = Array.from({ length: 10 }, () => refusal(loop.body(1, 900)));
    const other = refusal(loop.body(2, 1));
    await loop.run();
    expect(await Promise.all(flood)).to.deep.equal([...Array<string>(3).fill('done'), ...Array<string>(7).fill('backpressure')]);
    expect(await other).to.equal('done');
  });

  it('are refused at once while the first of the same tenant has waited for 2 s, and not those of others', async () => {
    const loop = new Loop();
    void loop.body(1, 10);
    const first = refusal(loop.body(1, 1));
    loop.now += 2000;
    const soon = refusal(loop.body(1, 1));
    loop.now += 1;
    // before any turn
    expect(await refusal(loop.body(1, 1))).to.equal('backpressure');
    const other = refusal(loop.body(2, 1));
    await loop.run();
    expect(await Promise.all([first, soon, other])).to.deep.equal(['done', 'done', 'done']);
    expect(await refusal(loop.body(1, 1))).to.equal('done');
  });

  it('forget what was used long ago', async () => {
    const loop = new Loop();
    await loop.body(1, 50);
    loop.now += 60_000;
    await loop.run();
    void loop.body(3, 2);
    void loop.body(2, 1);
    void loop.body(1, 1);
    await loop.run();
    expect(loop.turns.flat()).to.deep.equal([1, 3, 2, 1]);
  });
});
