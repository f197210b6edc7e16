import { expect } from 'chai';
import { RejectionLog, type RejectedEntry } from '../../../api/ingest/rejection-log.ts';
import { MAX_REJECTIONS } from '../../../pipeline/logs/rejections.ts';

const rejection = (index: number, change: Partial<RejectedEntry> = {}): RejectedEntry => ({
  time: '2026-11-20T10:00:00.000Z',
  format: 'lines',
  reason: 'not a line',
  sample: `line ${String(index)}`,
  index,
  request_id: 'r',
  ...change,
});
const indexes = (log: RejectionLog, tenant: number): (number | null)[] => log.of(tenant).map(({ index }) => index);
const range = (from: number, to: number): number[] => Array.from({ length: to - from }, (_, i) => from + i);

describe('the log of rejections', () => {
  it('gives the newest first, of each tenant by itself', () => {
    const log = new RejectionLog();
    log.add(1, [rejection(0), rejection(1)]);
    log.add(2, [rejection(7)]);
    log.add(1, [rejection(2)]);
    log.add(1, []);
    expect(indexes(log, 1)).to.deep.equal([2, 1, 0]);
    expect(indexes(log, 2)).to.deep.equal([7]);
    expect(log.of(3)).to.deep.equal([]);
  });

  it('keeps the last 100', () => {
    const log = new RejectionLog();
    for (const index of range(0, 250)) log.add(1, [rejection(index)]);
    expect(indexes(log, 1)).to.deep.equal(range(150, 250).reverse());
  });

  it('takes the first 100 of one request', () => {
    const log = new RejectionLog();
    log.add(1, [rejection(-1)]);
    log.add(
      1,
      range(0, 20_000).map((index) => rejection(index)),
    );
    expect(indexes(log, 1)).to.deep.equal(range(0, MAX_REJECTIONS).reverse());
  });

  it('forgets the tenant that was longest without one', () => {
    const log = new RejectionLog();
    for (const tenant of range(1, 501)) log.add(tenant, [rejection(0)]);
    log.add(1, [rejection(1)]);
    log.add(501, [rejection(0)]);
    expect(indexes(log, 1)).to.deep.equal([1, 0]);
    expect(log.of(2)).to.deep.equal([]);
    expect(indexes(log, 3)).to.deep.equal([0]);
  });

  it('cuts a reason that never ends', () => {
    const log = new RejectionLog();
    log.add(1, [rejection(0, { reason: 'x'.repeat(1_000_000) })]);
    expect(log.of(1)[0]?.reason).to.equal(`${'x'.repeat(300)}…`);
  });
});
