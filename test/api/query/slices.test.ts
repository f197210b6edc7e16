import { expect } from 'chai';
import { Densities, firstSlice, nextSlice } from '../../../api/query/slices.ts';

const WINDOW = { start: 1000n, end: 1_000_999n };

describe('slices of a window', () => {
  it('are one, in order, where little is known or there are few rows', () => {
    for (const rows of [0, 1, 249_999]) expect(firstSlice(WINDOW, rows)).to.deep.equal({ ...WINDOW, isOrdered: true });
  });

  it('begin with the newest rows, in order', () => {
    const first = firstSlice(WINDOW, 640_000);
    expect(first).to.deep.equal({ start: WINDOW.end - 100_000n, end: WINDOW.end, isOrdered: true });
  });

  it('of a table that is not in the order of time begin with a small part also where nothing is known', () => {
    const first = firstSlice(WINDOW, 0, true);
    expect(first).to.deep.equal({ start: WINDOW.end - (WINDOW.end - WINDOW.start) / 64n, end: WINDOW.end, isOrdered: true });
    expect(nextSlice(first, WINDOW.start, 0, 10)).to.deep.equal({ start: WINDOW.start, end: first.start - 1n, isOrdered: false });
    for (const rows of [1, 249_999, 640_000]) expect(firstSlice(WINDOW, rows, true)).to.deep.equal(firstSlice(WINDOW, rows));
  });

  it('meet, and end at the start of the window', () => {
    const first = firstSlice(WINDOW, 640_000);
    const next = nextSlice(first, WINDOW.start, 0, 10);
    expect(next).to.deep.equal({ start: WINDOW.start, end: first.start - 1n, isOrdered: false });
    expect(nextSlice(next ?? first, WINDOW.start, 0, 10)).to.equal(null);
  });

  it('go on in order where enough is expected in what is left, so that the limit ends it', () => {
    const first = firstSlice(WINDOW, 640_000);
    expect(nextSlice(first, WINDOW.start, 2, 17)?.isOrdered).to.equal(true);
    expect(nextSlice(first, WINDOW.start, 2, 19)?.isOrdered).to.equal(false);
  });

  it('know the rows of a tenant as they were seen last', () => {
    const densities = new Densities();
    expect(densities.rowsIn(WINDOW, 1)).to.equal(0);
    densities.saw(500, { start: 1n, end: 1000n }, 1);
    expect(densities.rowsIn(WINDOW, 1)).to.be.closeTo(500_000, 1);
    expect(densities.rowsIn(WINDOW, 2)).to.equal(0);
    densities.saw(5, { start: 2n, end: 1n }, 2);
    expect(densities.rowsIn(WINDOW, 2)).to.equal(0);
  });
});
