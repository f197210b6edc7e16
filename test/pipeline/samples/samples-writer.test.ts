import { expect } from 'chai';
import fc from 'fast-check';
import { HttpError } from '../../../pipeline/core/errors.ts';
import { KeyBytes } from '../../../pipeline/samples/key-bytes.ts';
import { viewOf } from '../../../pipeline/samples/hash-words.ts';
import { KnownSeries } from '../../../pipeline/samples/known-series.ts';
import { SamplesCodec } from '../../../pipeline/samples/sample-chunk.ts';
import type { SamplesWriter } from '../../../pipeline/samples/samples-writer.ts';
import { extent } from '../../extent.ts';
import { rowsOf, writerOf } from './take-samples.ts';

const AT = 1_795_269_600_000;

function use(writer: SamplesWriter, labels: Readonly<Record<string, string>>): void {
  const key = new KeyBytes();
  for (const [name, value] of Object.entries(labels)) key.text(name, value);
  writer.useSeries(key.bytes, 0, key.length);
}
const add = (writer: SamplesWriter, labels: Readonly<Record<string, string>>, time = AT): void => {
  use(writer, labels);
  writer.number(time, 0, 0x3ff00000);
};
const series = (n: number): Record<string, string> => ({ __name__: 'up', pod: `p${String(n)}` });

describe('the writer of samples', () => {
  it('writes every bit of a value, and labels in the order of their names', () => {
    const bits = fc.bigInt({ min: 0n, max: 2n ** 64n - 1n });
    fc.assert(
      fc.property(fc.array(bits, { minLength: 1, maxLength: 20 }), (values) => {
        const writer = writerOf();
        use(writer, { b: '2', __name__: 'x', a: '1' });
        for (const value of values) writer.number(AT, Number(value & 0xffffffffn), Number(value >> 32n));
        const shown = new Float64Array(BigUint64Array.from(values).buffer);
        expect(rowsOf(writer).map((row) => [row['series'], row['value']])).to.deep.equal(
          values.map((value, index) => {
            const number = shown[index] as number;
            return ['x{a="1",b="2"}', Number.isFinite(number) && !Object.is(number, -0) ? number : `0x${value.toString(16)}`];
          }),
        );
      }),
      { numRuns: extent(50, 1000) },
    );
  });

  it('takes any time within the bounds, in any order, and none outside', () => {
    const writer = writerOf({ retentionDays: 14 });
    const day = 86_400_000;
    for (const time of [AT, AT - 14 * day, AT + 2 * day, AT - 14 * day - 1, AT + 2 * day + 1000, NaN]) add(writer, series(1), time);
    expect(rowsOf(writer).map((row) => row['time'])).to.deep.equal([AT, AT - 14 * day, AT + 2 * day]);
    expect([...writer.rejected.reasons]).to.deep.equal([
      ['a time older than the retention of 14 days', 1],
      ['a time more than 2 days ahead', 2],
    ]);
  });

  it('rejects new series over the ceiling of a day, names the label that has grown most, and lets known ones go on', () => {
    const codec = new SamplesCodec();
    const first = writerOf({ codec, seriesPerDay: 50 });
    for (let n = 0; n < 60; n++) add(first, { ...series(n), job: n % 2 === 0 ? 'a' : 'b' });
    expect(first.accepted).to.equal(50);
    expect(first.rejected.count).to.equal(10);
    expect(first.rejected.first[0]?.reason).to.equal('more than 50 active series of a day: the label "pod" has grown most');
    const second = writerOf({ codec, seriesPerDay: 50 });
    for (let n = 0; n < 50; n++) add(second, { ...series(n), job: n % 2 === 0 ? 'a' : 'b' });
    expect([second.accepted, second.rejected.count]).to.deep.equal([50, 0]);
    const other = writerOf({ codec, seriesPerDay: 50, tenantId: 2 });
    for (let n = 50; n < 60; n++) add(other, { ...series(n), job: n % 2 === 0 ? 'a' : 'b' });
    expect(other.accepted, 'another tenant').to.equal(10);
  });

  it('takes 500,000 samples of a request and no more', () => {
    const writer = writerOf();
    use(writer, series(1));
    for (let n = 0; n < 500_000; n++) writer.number(AT + n, 0, 0);
    expect(() => writer.number(AT, 0, 0))
      .to.throw(HttpError, 'The request has too many samples; the cap is 500000.')
      .with.property('status', 413);
    const counts = writer.chunks().map(({ count }) => count);
    expect(counts.reduce((sum, count) => sum + count, 0)).to.equal(500_000);
    expect(Math.max(...counts)).to.be.at.most(60_000);
  });

  it('has a definition once in a record, also where rows of several requests become one', () => {
    const codec = new SamplesCodec();
    const chunksOf = (from: number): ReturnType<SamplesWriter['chunks']> => {
      const writer = writerOf({ codec });
      for (let n = from; n < from + 300; n++) add(writer, series(n), AT + n);
      return writer.chunks();
    };
    const [[one], [two]] = [chunksOf(0), chunksOf(150)];
    if (one === undefined || two === undefined) throw new Error('no chunk');
    const alone = one.size;
    expect(one.fits(two)).to.equal(true);
    one.append(two);
    expect(one.count).to.equal(600);
    expect(one.size - alone).to.be.below(0.8 * alone);
    const rows = rowsOf({ chunks: () => [one] } as unknown as SamplesWriter);
    expect(rows.slice(295, 305).map((row) => row['series'])).to.deep.equal(
      [...[295, 296, 297, 298, 299], ...[150, 151, 152, 153, 154]].map((n) => `up{pod="p${String(n)}"}`),
    );
  });

  it('spreads series over the partitions of the shard, each always to the same', () => {
    const partitions = [4, 7, 9];
    const of = (): Map<string, number> => {
      const writer = writerOf({ partitions });
      for (let n = 0; n < 200; n++) add(writer, series(n));
      return new Map(
        writer.chunks().flatMap((chunk) => {
          const { partition } = chunk;
          return rowsOf({ chunks: () => [chunk] } as unknown as SamplesWriter).map((row) => [String(row['series']), partition] as const);
        }),
      );
    };
    const [first, second] = [of(), of()];
    expect([...first]).to.deep.equal([...second]);
    expect(new Set(first.values())).to.deep.equal(new Set(partitions));
  });

  it('bounds what the definitions of a request take', () => {
    const writer = writerOf({ maxRowBytes: 5000 });
    for (let n = 0; n < 10; n++) add(writer, { ...series(n), long: 'x'.repeat(1000) });
    expect(writer.accepted).to.equal(5);
    expect(writer.rejected.first[0]?.reason).to.equal('the rows before it take more than 5000 bytes as they are stored');
  });
});

describe('series that are known', () => {
  it('are found by their bytes as long as they are used, in bounded memory', () => {
    const known = new KnownSeries(10_000);
    const native = Buffer.alloc(100);
    const tokens = Array.from({ length: 1000 }, (_none, n) => Buffer.from(`labels of the series number ${String(n)}`));
    const used = tokens[0] as Buffer;
    known.add(used, viewOf(used), 0, used.length, { low: -1, high: 7, native, isPlain: true });
    for (const [n, token] of tokens.entries()) {
      if (n === 0) continue;
      expect(known.find(viewOf(token), 0, token.length), String(n)).to.equal(-1);
      known.add(token, viewOf(token), 0, token.length, { low: n, high: n, native, isPlain: false });
      const at = known.find(viewOf(used), 0, used.length);
      expect([known.table.entries[at + 5], known.table.entries[at + 6]], String(n)).to.deep.equal([-1, 7]);
      expect(known.table.length).to.be.below(10_400);
    }
    const old = tokens[1] as Buffer;
    expect(known.find(viewOf(old), 0, old.length), 'not used').to.equal(-1);
  });
});
