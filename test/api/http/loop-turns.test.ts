import { expect } from 'chai';
import { setImmediate as iteration } from 'node:timers/promises';
import { LoopTurns } from '../../../api/http/loop-turns.ts';

describe('turns on the event loop', () => {
  it('begins one request of a tenant in an iteration, and one of each other tenant beside it', async () => {
    const turns = new LoopTurns();
    const begun: string[] = [];
    const ask = (tenantId: number, name: string): void => {
      const turn = turns.next(tenantId);
      if (turn === undefined) begun.push(name);
      else void turn.then(() => begun.push(name));
    };
    for (const name of ['a1', 'a2', 'a3']) ask(1, name);
    ask(2, 'b1');
    expect(begun).to.deep.equal(['a1', 'b1']);
    await iteration();
    ask(2, 'b2');
    expect(begun).to.deep.equal(['a1', 'b1', 'a2', 'b2']);
    await iteration();
    expect(begun).to.deep.equal(['a1', 'b1', 'a2', 'b2', 'a3']);
  });

  it('keeps the order of a tenant, also of what comes while others wait', async () => {
    const turns = new LoopTurns();
    const begun: number[] = [];
    const all = Array.from({ length: 50 }, async (_none, n) => {
      await turns.next(7);
      begun.push(n);
    });
    await Promise.all(all);
    expect(begun).to.deep.equal(Array.from({ length: 50 }, (_none, n) => n));
  });

  it('lets one begin at once when all is over', async () => {
    const turns = new LoopTurns();
    expect(turns.next(1)).to.equal(undefined);
    await turns.next(1);
    await iteration();
    expect(turns.next(1)).to.equal(undefined);
  });
});
