import { expect } from 'chai';
import type { Json } from '../../../../pipeline/core/setting.ts';
import { readRecord } from '../../../../pipeline/bus/records/record.ts';
import { countersSignal } from '../../../../pipeline/counters/counters-signal.ts';
import type { SegmentRow } from '../../../../pipeline/counters/volume-layout.ts';
import type { AbsoluteRecord } from '../../../../pipeline/bus/producer/absolute-record.ts';
import type { Input } from '../../../../pipeline/processors/base/processor.ts';
import { createVolume } from '../../../../pipeline/processors/volume/volume.ts';
import { allRowsIn, batchOf, bytesOf, rowsIn, type PlainEntry } from '../../../fakes/volume-rows.ts';

const SECOND = 1_000_000_000n;
const NOON = 1_795_003_200n;
const at = (second: bigint, more: Partial<PlainEntry> = {}): PlainEntry => ({ time: (NOON + second) * SECOND, stream: 7n, ...more });
const tick = (offset: number, appendedAt: number): Input => ({ kind: 'tick', partition: 3, offset, appendedAt });

/** Folds inputs, which are made one by one: a view is valid until the next. */
function fold(inputs: readonly (() => Input)[], maxGroups?: number): AbsoluteRecord[][] {
  const volume = createVolume(maxGroups === undefined ? {} : { maxGroups });
  const state = volume.init();
  return inputs.map((make) => [...volume.fold(state, make())]);
}

const brief = ({ span, scope, time, streamId, level, entries, segment, until }: SegmentRow): string =>
  `${String(span)}s ${scope === 0 ? 'all' : String(streamId)} +${String(time - Number(NOON))} ${level.toString() || '-'} ${String(entries)} [${String(segment)},${String(until)})`;

describe('the volume', () => {
  it('closes minutes a minute after their first record, and counts streams, and all of them', () => {
    const entries = [at(1n, { level: 'info' }), at(61n, { level: 'info' }), at(2n, { level: 'info', stream: 8n }), at(3n)];
    const outputs = fold([
      () => batchOf(entries, { offset: 10, appendedAt: 1000 }),
      () => tick(11, 60_999),
      () => batchOf([at(0n)], { offset: 12, appendedAt: 61_000 }),
      () => tick(13, 121_000),
    ]);
    expect(outputs.slice(0, 2)).to.deep.equal([[], []]);
    expect(rowsIn(outputs[2] ?? []).map(brief)).to.deep.equal([
      '60s 7 +0 info 1 [10,12)',
      '60s 7 +60 info 1 [10,12)',
      '60s 8 +0 info 1 [10,12)',
      '60s 7 +0 - 1 [10,12)',
      '60s all +0 info 2 [10,12)',
      '60s all +60 info 1 [10,12)',
      '60s all +0 - 1 [10,12)',
    ]);
    expect(rowsIn(outputs[3] ?? []).map(brief)).to.deep.equal(['60s 7 +0 - 1 [12,13)', '60s all +0 - 1 [12,13)']);
  });

  it('closes hours and days after theirs, from the shortest on', () => {
    const [, , day = []] = fold([
      () => batchOf([at(3700n)], { offset: 1, appendedAt: 0 }),
      () => tick(2, 3_599_999),
      () => tick(3, 86_400_000),
    ]);
    const dayStart = Number(NOON) - Math.floor(Number(NOON) / 86_400) * 86_400;
    expect(rowsIn(day).map(brief)).to.deep.equal([
      '3600s 7 +3600 - 1 [1,3)',
      '3600s all +3600 - 1 [1,3)',
      `86400s 7 +${String(-dayStart)} - 1 [1,3)`,
      `86400s all +${String(-dayStart)} - 1 [1,3)`,
    ]);
  });

  it('writes records of the topic that its signal reads, into the partition that was counted', () => {
    const [, [output] = []] = fold([() => batchOf([at(0n)]), () => tick(1, 60_000)]);
    expect(output).to.include({ topic: 'counters.v1', partition: 3, key: null });
    const message = { ...{ key: null, value: output?.value ?? null, headers: output?.headers ?? {}, timestamp: '5' }, offset: '4', attributes: 0 }; // prettier-ignore
    const record = readRecord(countersSignal, 3, message);
    expect(record).to.include({ fault: null, count: 3, tenantId: 0, retentionDays: 0, bytes: 0 });
    expect(countersSignal.check(record)).to.equal(null);
  });

  it('tells tenants and retention classes apart', () => {
    const outputs = fold([
      () => batchOf([at(0n)], { tenantId: 1 }),
      () => batchOf([at(0n)], { tenantId: 4_294_967_295, offset: 1 }),
      () => batchOf([at(0n)], { retentionDays: 65_535, offset: 2 }),
      () => batchOf([at(0n)], { retentionDays: 0, offset: 3 }),
      () => tick(4, 60_000),
    ]);
    expect(rowsIn(outputs[4] ?? []).map(({ tenantId, retentionDays, scope }) => [tenantId, retentionDays, scope])).to.deep.equal([
      ...[[1, 30, 1], [1, 30, 0]], // prettier-ignore
      ...[[4_294_967_295, 30, 1], [4_294_967_295, 30, 0]], // prettier-ignore
      ...[[1, 65_535, 1], [1, 65_535, 0]], // prettier-ignore
      ...[[1, 0, 1], [1, 0, 0]], // prettier-ignore
    ]);
  });

  it('begins spans of times before 1970, and the first and last that there are, where they begin', () => {
    const first = -2_208_988_800n * SECOND;
    const times = [-1n, 0n, -60n * SECOND, -60n * SECOND - 1n, 60n * SECOND - 1n, first, 2n ** 63n - 1n];
    const [, rows = []] = fold([() => batchOf(times.map((time, index) => ({ time, stream: BigInt(index) }))), () => tick(1, 60_000)]).map(
      rowsIn,
    );
    expect(rows.filter(({ scope }) => scope === 1).map(({ time }) => time)).to.deep.equal([
      ...[-60, 0, -60, -120, 0, -2_208_988_800],
      Math.floor(9_223_372_036 / 60) * 60,
    ]);
  });

  it('counts the bytes of all texts of an entry, in UTF-8', () => {
    const entries = [
      at(0n, { level: 'é', service: 'shop', message: 'x'.repeat(300), fields: { größe: '☃', empty: '', host: 'h1' } }),
      at(0n, { level: 'é', message: '', fields: {} }),
      at(0n, { level: 'é', fields: { host: 'y'.repeat(500) } }),
    ];
    const [, rows = []] = fold([() => batchOf(entries), () => tick(1, 60_000)]).map(rowsIn);
    expect(rows[0]).to.include({ entries: 3, bytes: entries.reduce((sum, entry) => sum + bytesOf(entry), 0) });
    expect(rows[0]?.level.toString()).to.equal('é');
  });

  it('opens no segment with records that have no entries, and closes by them', () => {
    const outputs = fold([
      () => batchOf([], { offset: 5, appendedAt: 0 }),
      () => tick(6, 100_000),
      () => batchOf([at(0n)], { offset: 7, appendedAt: 200_000 }),
      () => batchOf([], { offset: 8, appendedAt: 260_000 }),
    ]).map(rowsIn);
    expect(outputs.slice(0, 3)).to.deep.equal([[], [], []]);
    expect(outputs[3]?.map(brief)[0]).to.equal('60s 7 +0 - 1 [7,8)');
  });

  it('does not close while the broker’s clock is behind', () => {
    const outputs = fold([
      () => batchOf([at(0n)], { offset: 1, appendedAt: 500_000 }),
      () => batchOf([at(0n)], { offset: 2, appendedAt: 100_000 }),
      () => tick(3, 559_999),
      () => tick(4, 560_000),
    ]).map(rowsIn);
    expect(outputs.map((rows) => rows.length)).to.deep.equal([0, 0, 0, 2]);
    expect(brief(outputs[3]?.[0] as SegmentRow)).to.equal('60s 7 +0 - 2 [1,4)');
  });

  it('counts all streams together alone, in a segment that has too many', () => {
    const streams = (from: number): PlainEntry[] => Array.from({ length: 3 }, (_, n) => at(0n, { stream: BigInt(from + n) }));
    const outputs = fold([() => batchOf(streams(0), { offset: 1 }), () => batchOf(streams(3), { offset: 2 }), () => tick(3, 90_000_000)], 5).map(rowsIn); // prettier-ignore
    expect(outputs.map((rows) => rows.length)).to.deep.equal([0, 0, 3]);
    for (const row of outputs[2] ?? []) expect([row.scope, row.entries, row.segment, row.until]).to.deep.equal([2, 6, 1, 3]);
  });

  it('keeps the streams of those that have few, where another tenant has too many', () => {
    const streams = (count: number): PlainEntry[] => Array.from({ length: count }, (_, n) => at(0n, { stream: BigInt(n) }));
    const [, , rows = []] = fold(
      [() => batchOf(streams(2), { tenantId: 2 }), () => batchOf(streams(50), { offset: 1, tenantId: 1 }), () => tick(2, 60_000)],
      20,
    ).map(rowsIn);
    expect(rows.map(({ tenantId, scope, entries }) => [tenantId, scope, entries])).to.deep.equal([
      ...[[2, 1, 1], [2, 1, 1], [2, 0, 2]], // prettier-ignore
      [1, 2, 50],
    ]);
  });

  it('counts streams as far as its setting says, from where that lies on the log', () => {
    const volume = createVolume();
    const scopesAfter = (value: Json): Set<number> => {
      const state = volume.init();
      volume.configure?.(state, { processor: 'volume', tenantId: 0, key: 'max_groups', value, version: 1 });
      const streams = Array.from({ length: 1500 }, (_, n) => at(0n, { stream: BigInt(n) }));
      volume.fold(state, batchOf(streams, { offset: 1 }));
      return new Set(rowsIn(volume.fold(state, tick(2, 60_000))).map(({ scope }) => scope));
    };
    expect(scopesAfter(1000)).to.deep.equal(new Set([2]));
    for (const value of [2000, null, 999, 'many']) expect(scopesAfter(value), JSON.stringify(value)).to.deep.equal(new Set([0, 1]));
  });

  it('says each minute how far is counted, also where nothing comes', () => {
    const outputs = fold([
      () => tick(0, 100_000),
      () => tick(1, 159_999),
      () => tick(2, 160_000),
      () => batchOf([at(0n)], { offset: 3, appendedAt: 230_000 }),
      () => tick(4, 290_000),
      () => tick(5, 349_999),
    ]).map((records) => allRowsIn(records).filter(({ scope }) => scope === 3));
    expect(outputs.map((rows) => rows.map(({ span, segment, until, time }) => [span, segment, until, time]))).to.deep.equal([
      ...[[[60, 0, 0, 100]], [], [[60, 2, 2, 160]], [[60, 3, 3, 230]], [[60, 3, 4, 290]], []], // prettier-ignore
    ]);
  });

  it('begins anew where records are missing, or offsets come twice, and says so', () => {
    const outputs = fold([
      () => batchOf([at(0n)], { offset: 0, appendedAt: 1000 }),
      () => batchOf([at(0n)], { offset: 5, appendedAt: 2000 }),
      () => batchOf([at(0n)], { offset: 2, appendedAt: 3000 }),
      () => tick(3, 90_000_000),
    ]).map((records) => allRowsIn(records).filter(({ span }) => span === 60));
    const told = outputs.map((rows) => rows.map(({ scope, segment, until, run, entries }) => [scope, segment, until, run, entries]));
    expect(told).to.deep.equal([
      [],
      [[1, 0, 1, 0, 1], [0, 0, 1, 0, 1], [3, 0, 1, 0, 0]], // prettier-ignore
      [[1, 5, 6, 2000, 1], [0, 5, 6, 2000, 1], [3, 5, 6, 2000, 5]], // prettier-ignore
      [[1, 2, 3, 3000, 1], [0, 2, 3, 3000, 1], [3, 2, 3, 3000, 2]], // prettier-ignore
    ]);
  });

  const many = (count: number, of: (n: number) => Partial<PlainEntry>): PlainEntry[] =>
    Array.from({ length: count }, (_, n) => at(0n, of(n)));
  const excessive: readonly [string, PlainEntry[]][] = [
    ['levels', many(5000, (n) => ({ level: `level ${String(n)}` }))],
    ['long levels', many(3, (n) => ({ level: String(n).repeat(100_000) }))],
    ['times', many(60_000, (n) => ({ time: (NOON + BigInt(n - 40_000) * 86_400n) * SECOND }))],
  ];
  for (const [what, entries] of excessive)
    it(`does not count a tenant with too many ${what}, says so, and closes no segment for it`, () => {
      const other = at(5n, { level: 'info' });
      const outputs = fold([
        () => batchOf([other], { offset: 0, tenantId: 2 }),
        () => batchOf(entries, { offset: 1, tenantId: 1, retentionDays: 7 }),
        () => batchOf([at(86_400n)], { offset: 2, tenantId: 1, retentionDays: 90 }),
        () => batchOf([other], { offset: 3, tenantId: 2 }),
        () => tick(4, 90_000_000),
      ]).map((records) => allRowsIn(records).filter(({ scope }) => scope !== 3));
      expect(outputs.slice(0, 4)).to.deep.equal([[], [], [], []]);
      const rows = outputs[4] ?? [];
      expect(
        rows.filter(({ tenantId }) => tenantId > 0).map(({ tenantId, span, entries: count }) => [tenantId, span, count]),
      ).to.deep.equal(
        [60, 3600, 86_400].flatMap((span) => [[2, span, 2], [2, span, 2]]), // prettier-ignore
      );
      const unpublished = rows.filter(({ tenantId }) => tenantId === 0);
      expect(unpublished.map(({ span, scope, streamId, retentionDays }) => [span, scope, Number(streamId), retentionDays])).to.deep.equal(
        [60, 3600, 86_400].map((span) => [span, 4, 1, 90]),
      );
      for (const { span, time, entries: width } of unpublished) {
        const begin = (second: bigint): number => Math.floor(Number(second) / span) * span;
        const seconds = [...entries.map((entry) => entry.time / SECOND), NOON + 86_400n].sort((a, b) => Number(a - b));
        expect([time - width, time]).to.deep.equal([begin(seconds[0] ?? 0n), begin(seconds.at(-1) ?? 0n)]);
      }
    });

  it('closes a segment that is full of tenants of which none has much', () => {
    const levels = (tenant: number): PlainEntry[] => many(60, (n) => ({ level: `level ${String(n)} of ${String(tenant)}` }));
    const outputs = fold(Array.from({ length: 70 }, (_, n) => () => batchOf(levels(n), { offset: n, tenantId: n + 1 }))).map(allRowsIn);
    const closing = outputs.findIndex((rows) => rows.length > 0);
    expect(closing).to.equal(68);
    expect(outputs[closing]?.filter(({ scope }) => scope === 4)).to.deep.equal([]);
    expect(outputs[closing]?.filter(({ scope }) => scope === 0)).to.have.length(69 * 60 * 3);
  });

  it('writes records of a quarter of a mebibyte at most, but for a row that has more', () => {
    const streams = Array.from({ length: 20_000 }, (_, n) => at(0n, { stream: BigInt(n) }));
    const [, outputs = []] = fold([() => batchOf(streams), () => tick(1, 60_000)]);
    expect(rowsIn(outputs)).to.have.length(20_001);
    for (const { headers } of outputs) expect(Number(headers['count']) * 69).to.be.below(256 * 1024);
    const [, [one] = []] = fold([() => batchOf([at(0n, { level: 'x'.repeat(260_000) })]), () => tick(1, 60_000)]);
    expect(one?.headers['count']).to.equal('1');
  });
});
