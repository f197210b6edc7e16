import { expect } from 'chai';
import { Unfinished } from '../../../../pipeline/bus/consumer/unfinished.ts';

describe('records that are being worked on', () => {
  it('are done up to the first one that is not, however they end', () => {
    const unfinished = new Unfinished();
    expect([unfinished.done, unfinished.size]).to.deep.equal([null, 0]);
    for (const offset of [5, 6, 9]) unfinished.begin(offset);
    expect([unfinished.done, unfinished.size]).to.deep.equal([5, 3]);
    unfinished.end(6);
    expect(unfinished.done).to.equal(5);
    unfinished.end(5);
    expect(unfinished.done).to.equal(9);
    unfinished.end(9);
    expect([unfinished.done, unfinished.size]).to.deep.equal([10, 0]);
  });

  it('are passed over where there is nothing to do', () => {
    const unfinished = new Unfinished();
    unfinished.skipTo(20);
    expect(unfinished.done).to.equal(20);
    unfinished.begin(20);
    unfinished.skipTo(30);
    expect(unfinished.done).to.equal(20);
    unfinished.end(20);
    expect(unfinished.done).to.equal(30);
    unfinished.skipTo(25);
    expect(unfinished.done, 'never back').to.equal(30);
  });
});
