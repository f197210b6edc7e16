import { expect } from 'chai';
import { Writable } from 'node:stream';
import { setImmediate as turn } from 'node:timers/promises';
import { WriteGroup } from '../../../api/workers/write-group.ts';

describe('what is written together', () => {
  /** The texts of each write that the system would see. */
  const writes: string[][] = [];
  const stream = new Writable({
    writev: (chunks, done) => {
      writes.push(chunks.map(({ chunk }) => (chunk as Buffer).toString()));
      done();
    },
  });
  const group = new WriteGroup(stream);
  const write = (text: string): void => {
    group.add(text.length);
    stream.write(text);
  };
  beforeEach(() => (writes.length = 0));

  it('is what is written in a turn of the event loop, in its order, and later writes are later', async () => {
    for (const text of ['a', 'b', 'c']) write(text);
    expect(writes).to.deep.equal([]);
    await turn();
    write('d');
    await turn();
    expect(writes).to.deep.equal([['a', 'b', 'c'], ['d']]);
  });

  it('is not held back where it is much', async () => {
    const large = 'x'.repeat(40_000);
    for (const text of [large, 'b', large, 'd']) write(text);
    expect(writes.map((texts) => texts.length)).to.deep.equal([2]);
    await turn();
    expect(writes.map((texts) => texts.length)).to.deep.equal([2, 2]);
  });
});
