import { expect } from 'chai';
import { setImmediate as iteration } from 'node:timers/promises';
import { LoopTurns } from '../../../api/http/loop-turns.ts';

describe('turns on the event loop', () => {
  const recording = (): { readonly begun: string[]; readonly ask: (tenantId: number, name: string) => Promise<void> } => {
    const turns = new LoopTurns();
    const begun: string[] = [];
    const ask = async (tenantId: number, name: string): Promise<void> => {
      const turn = turns.next(tenantId);
      if (turn !== undefined) await turn;
      begun.push(name);
    };
    return { begun, ask };
  };

  it('begins one request of a tenant in an iteration, and one of each other tenant beside it', async () => {
    const { begun, ask } = recording();
    const [, second, third] = ['a1', 'a2', 'a3'].map((name) => ask(1, name));
    void ask(2, 'b1');
    expect(begun).to.deep.equal(['a1', 'b1']);
    await second;
    void ask(2, 'b2');
    expect(begun).to.deep.equal(['a1', 'b1', 'a2', 'b2']);
    await third;
    expect(begun).to.deep.equal(['a1', 'b1', 'a2', 'b2', 'a3']);
  });

  it('has what waits for a second turn wait as long as the iteration took, and no other tenant', async () => {
    const { begun, ask } = recording();
    void ask(1, 'a1');
    const second = ask(1, 'a2');
    void ask(2, 'b1');
    for (const until = performance.now() + 5; performance.now() < until;);
    await iteration();
    void ask(2, 'b2');
    expect(begun).to.deep.equal(['a1', 'b1', 'b2']);
    await second;
    expect(begun).to.deep.equal(['a1', 'b1', 'b2', 'a2']);
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
