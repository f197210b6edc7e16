import { expect } from 'chai';
import { inThreads } from '../../../pipeline/compression/in-threads.ts';

describe('bodies that threads decompress', () => {
  it('are two at once, the others in the order in which they came; a failure frees its place', async () => {
    const begun: number[] = [];
    const ends: (() => void)[] = [];
    const all = [0, 1, 2, 3].map((number) =>
      inThreads(async () => {
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
    expect(await Promise.all([inThreads(() => 'a'), inThreads(() => 'b')])).to.deep.equal(['a', 'b']);
  });
});
