import { expect } from 'chai';
import { Measures } from './measures.ts';
import { caughtUp, entriesPerSecond, rowsAt } from './scenarios/catch-up.ts';
import { bounded, percentile } from './scenarios/measured.ts';

describe('what scenarios measure', () => {
  it('has bounds, and a figure that was not measured is outside of them', () => {
    const measures = new Measures();
    measures.set('factor', 2.345);
    expect(measures.toJSON()).to.deep.equal({ factor: 2.35 });
    expect(bounded(measures, 'factor', { least: 2, most: 3 })).to.deep.equal([]);
    expect(bounded(measures, 'factor', { least: 3 })).to.have.length(1);
    expect(bounded(measures, 'factor', { most: 2 })[0]?.examples).to.deep.equal([2.35]);
    expect(bounded(measures, 'other', { most: 2 })[0]?.check).to.equal('not measured: other');
  });

  it('has percentiles', () => {
    const values = Array.from({ length: 100 }, (_, index) => 100 - index);
    expect(percentile(values, 0.99)).to.equal(99);
    expect(percentile(values, 0.5)).to.equal(50);
    expect(percentile([7], 0.99)).to.equal(7);
    expect(percentile([], 0.5)).to.equal(0);
  });

  it('sees when the table has caught up with what was acknowledged 3 s before', async () => {
    const acks = [0, 1000, 2000, 6000].map((at) => ({ at, entries: 10 }));
    const stored = [
      { at: 500, rows: 0 },
      { at: 5000, rows: 30 },
    ];
    const context = { load: { acks }, stored };
    expect(entriesPerSecond(context, 0, 2000)).to.equal(10);
    expect([rowsAt(context, 400), rowsAt(context, 4999), rowsAt(context, 5000)]).to.deep.equal([0, 0, 30]);
    expect(await caughtUp(context, 900)).to.equal(5000);
    const waiting = caughtUp({ load: { acks }, stored: [{ at: 3500, rows: 9 }] }, 0).then(() => 'caught up');
    stored.push({ at: 9000, rows: 39 }, { at: 9500, rows: 40 });
    expect(await caughtUp(context, 5001)).to.equal(9500);
    expect(await Promise.race([waiting, Promise.resolve('waiting')])).to.equal('waiting');
  });
});
