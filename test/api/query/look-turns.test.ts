import { expect } from 'chai';
import { LookTurns } from '../../../api/query/look-turns.ts';

const NEVER = new AbortController().signal;

/** Work that goes on until it is told to end. */
function open(): { readonly work: () => Promise<string>; begun: boolean; end(): void } {
  let end: (text: string) => void = () => undefined;
  const one = {
    begun: false,
    work: (): Promise<string> => {
      one.begun = true;
      return new Promise((resolve) => (end = resolve));
    },
    end: () => end('done'),
  };
  return one;
}
const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

describe('the looks of tails', () => {
  it('run two at once for each tenant, and then those that have waited longest', async () => {
    const turns = new LookTurns();
    const looks = Array.from({ length: 4 }, open);
    const other = open();
    const done = looks.map(({ work }) => turns.run(1, NEVER, work));
    const otherDone = turns.run(2, NEVER, other.work);
    await settled();
    expect(looks.map(({ begun }) => begun)).to.deep.equal([true, true, false, false]);
    expect(other.begun).to.equal(true);
    looks[1]?.end();
    await settled();
    expect(looks.map(({ begun }) => begun)).to.deep.equal([true, true, true, false]);
    for (const at of [0, 2]) looks[at]?.end();
    await settled();
    looks[3]?.end();
    other.end();
    expect(await Promise.all([...done, otherDone])).to.deep.equal(Array(5).fill('done'));
  });

  it('give a place on that failed, and one that nobody waits for any more', async () => {
    const turns = new LookTurns();
    const [first, second, last, gone] = [open(), open(), open(), new AbortController()];
    const failing = turns.run(1, NEVER, async () => {
      await first.work();
      throw new Error('it failed');
    });
    const [held, left, waited] = [turns.run(1, NEVER, second.work), turns.run(1, gone.signal, open().work), turns.run(1, NEVER, last.work)];
    gone.abort();
    expect(await left.catch((error: unknown) => (error as { status: number }).status)).to.equal(499);
    first.end();
    expect(await failing.catch(String)).to.equal('Error: it failed');
    await settled();
    expect(last.begun).to.equal(true);
    last.end();
    second.end();
    expect(await Promise.all([held, waited])).to.deep.equal(['done', 'done']);
  });
});
