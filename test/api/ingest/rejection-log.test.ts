import { expect } from 'chai';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { pino } from 'pino';
import { RejectionFile } from '../../../api/ingest/rejection-file.ts';
import { RejectionLog, type RejectedEntry } from '../../../api/ingest/rejection-log.ts';
import { MAX_REJECTIONS } from '../../../pipeline/intake/rejections.ts';

const rejection = (index: number, change: Partial<RejectedEntry> = {}): RejectedEntry => ({
  time: '2026-11-20T10:00:00.000Z',
  format: 'lines',
  reason: 'not a line',
  sample: `line ${String(index)}`,
  index,
  request_id: 'r',
  ...{ status: 200, path: '/lines', client: 'curl/8' },
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

  it('counts a request that is refused again and again as one, of each reason, path and client by itself', () => {
    const log = new RejectionLog();
    const whole = (more: Partial<RejectedEntry>): RejectedEntry => rejection(0, { index: null, status: 429, reason: 'too many', ...more });
    for (let n = 0; n < 5; n++) {
      log.add(1, [whole({ request_id: `a${String(n)}` })]);
      log.add(1, [whole({ client: 'other' })]);
    }
    log.add(1, [whole({ status: 413 })]);
    expect(log.of(1).map(({ status, client, count, request_id: id }) => [status, client, count, id])).to.deep.equal([
      [413, 'curl/8', undefined, 'r'],
      [429, 'other', 5, 'r'],
      [429, 'curl/8', 5, 'a4'],
    ]);
  });

  it('forgets those of others rather than to take more bytes than it may', () => {
    const log = new RejectionLog();
    const long = (index: number): RejectedEntry => rejection(index, { sample: 'x'.repeat(200), reason: 'r'.repeat(300), path: 'p'.repeat(200), client: 'c'.repeat(200) }); // prettier-ignore
    for (const tenant of range(1, 400)) log.add(tenant, range(0, 100).map(long)); // prettier-ignore
    const kept = log.all.flatMap(([, rejections]) => rejections);
    const bytes = kept.reduce((sum, one) => sum + 2 * JSON.stringify(one).length, 0);
    expect(bytes).to.be.within(8_000_000, 24_000_000);
    expect(indexes(log, 399)).to.have.length(100);
    expect(log.of(1)).to.deep.equal([]);
  });
});

describe('the file of rejections', () => {
  const folder = mkdtempSync(path.join(os.tmpdir(), 'logweir-rejections-'));
  after(() => rmSync(folder, { recursive: true, force: true }));
  const log = pino({ level: 'silent' });

  it('brings them over a restart, and a broken one is passed over', async () => {
    const file = path.join(folder, 'of', 'ingest.json');
    const before = new RejectionLog();
    const writing = new RejectionFile({ file, rejections: before, log });
    await writing.start();
    before.add(2, [rejection(1)]);
    before.add(1, [rejection(0, { index: null, status: 413, count: 3 }), rejection(5)]);
    await writing.stop();
    const rejections = new RejectionLog();
    const reading = new RejectionFile({ file, rejections, log });
    await reading.start();
    await reading.stop();
    expect(rejections.all).to.deep.equal(before.all);
    for (const broken of ['', '{', '[[1,[{"time":5}]]]', '{"__proto__":1}']) {
      writeFileSync(file, broken);
      const none = new RejectionLog();
      const damaged = new RejectionFile({ file, rejections: none, log });
      await damaged.start();
      await damaged.stop();
      expect(none.all, broken).to.deep.equal([]);
    }
  });
});
