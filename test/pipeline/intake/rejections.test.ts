import { expect } from 'chai';
import { Rejections } from '../../../pipeline/intake/rejections.ts';

const BODY = Buffer.from('one,two');

describe('rejections of a request', () => {
  it('keep their place, their reason with what it says of the entry, and a sample', () => {
    const rejections = new Rejections();
    rejections.add(0, 'not a line', BODY, 0, 3, () => 'at byte 1');
    rejections.add(4, 'too long', BODY, 4);
    expect(rejections.first).to.deep.equal([
      { index: 0, reason: 'not a line: at byte 1', sample: 'one' },
      { index: 4, reason: 'too long', sample: 'two' },
    ]);
    expect([0, 1, 3, 4, 5, 1e9].map((index) => rejections.reasonOf(index))).to.deep.equal([
      ...['not a line: at byte 1', null, null, 'too long'],
      ...[null, null],
    ]);
  });

  it('are counted by reason; details are asked for the first 100 only', () => {
    const rejections = new Rejections();
    let asked = 0;
    const detail = (): string => `number ${String(++asked)}`;
    for (let index = 0; index < 1000; index++) rejections.add(index, index % 4 === 0 ? 'even' : 'odd', BODY, 0, 3, detail);
    expect(rejections.count).to.equal(1000);
    expect([...rejections.reasons]).to.deep.equal([
      ['even', 250],
      ['odd', 750],
    ]);
    expect([asked, rejections.first.length]).to.deep.equal([100, 100]);
    expect([99, 100, 101].map((index) => rejections.reasonOf(index))).to.deep.equal(['odd: number 100', 'even', 'odd']);
  });

  it('have a bound of different reasons, and none is lost', () => {
    const rejections = new Rejections();
    for (let index = 0; index < 5000; index++) rejections.add(index, `reason ${String(index)}`);
    expect(rejections.reasons.size).to.equal(101);
    expect([...rejections.reasons.values()].reduce((sum, count) => sum + count)).to.equal(5000);
    expect(rejections.reasonOf(99)).to.equal('reason 99');
    expect([100, 4999].map((index) => rejections.reasonOf(index))).to.deep.equal(
      Array(2).fill('another reason than the first 100 of this request'),
    );
  });

  it('take a few bytes each, however many they are', () => {
    const rejections = new Rejections();
    const before = process.memoryUsage();
    for (let index = 0; index < 2_000_000; index++) rejections.add(index, 'not a JSON object', BODY, 0, 3, () => 'x');
    const after = process.memoryUsage();
    const grown = after.heapUsed + after.arrayBuffers - before.heapUsed - before.arrayBuffers;
    expect(grown).to.be.below(80_000_000);
    expect(rejections.reasonOf(1_999_999)).to.equal('not a JSON object');
  });
});
