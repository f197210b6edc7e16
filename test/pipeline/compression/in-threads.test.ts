import { expect } from 'chai';
import { inThreads } from '../../../pipeline/compression/in-threads.ts';

describe('bodies that threads decompress', () => {
  it('are two at once, the others in the order in which they came; a failure frees its place', async () => {
    const begun: number[] = [];
    const ends: (() => void)[] = [];
    const all = [0, 1, 2, 3].map((number) =>
      inThreads(1, async () => {
        begun.push(number);
        await new Promise<void>((end) => (ends[number] = end));
        if (number === 1) throw new Error('corrupt');
        return number;
      }).catch(() => -1),
    );
    const turn = (): Promise<void> => new Promise((go) => setImmediate(go));
    await turn();
    expect(begun).to.deep.equal([0, 1]);
    ends[1]?.();
    await turn();
    expect(begun).to.deep.equal([0, 1, 2]);
    for (const number of [0, 2]) ends[number]?.();
    await turn();
    ends[3]?.();
    expect(await Promise.all(all)).to.deep.equal([0, -1, 2, 3]);
    expect(await Promise.all([inThreads(1, () => 'a'), inThreads(1, () => 'b')])).to.deep.equal(['a', 'b']);
  });

  it('are of one tenant after the other: one that sends many does not come before another', async () => {
    const begun: string[] = [];
    const ends: (() => void)[] = [];
    const body = (tenant: number, name: string): Promise<void> =>
      inThreads(tenant, async () => {
        begun.push(name);
        await new Promise<void>((end) => ends.push(end));
      });
    const turn = (): Promise<void> => new Promise((go) => setImmediate(go));
    const all = [...['a1', 'a2', 'a3', 'a4', 'a5'].map((name) => body(1, name)), body(2, 'b1'), body(2, 'b2')];
    for (let ended = 0; ended < all.length; ended++) {
      await turn();
      ends[ended]?.();
    }
    await Promise.all(all);
    expect(begun).to.deep.equal(['a1', 'a2', 'a3', 'b1', 'a4', 'b2', 'a5']);
  });
});
