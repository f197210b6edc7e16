import { expect } from 'chai';
import { renderSql } from '../../../pipeline/core/sql.ts';
import { Numbers } from '../../../api/metrics/numbers.ts';
import { SampleBlocks } from '../../../api/metrics/sample-blocks.ts';
import { nativeString, varint } from '../../../pipeline/rows/native.ts';
import { Random } from '../../fuzz/random.ts';
import { extent } from '../../extent.ts';

type Row = readonly [series: bigint, time: number, bits: bigint];

const column = (name: string, type: string, bytes: ArrayBufferLike): Buffer => Buffer.concat([nativeString(name), nativeString(type), Buffer.from(bytes)]); // prettier-ignore

/** Times of short blocks are since this one. */
const SINCE = 1000;

/** `isShort`: times as four bytes. */
function blockOf(rows: readonly Row[], isShort = false): Buffer {
  const times = isShort ? Uint32Array.from(rows, ([, time]) => time - SINCE) : Float64Array.from(rows, ([, time]) => time);
  const heads = Buffer.concat([varint(3), varint(rows.length)]);
  return Buffer.concat([
    heads,
    column('series', 'UInt64', BigUint64Array.from(rows, ([series]) => series).buffer),
    column('t', isShort ? 'UInt32' : 'Float64', times.buffer),
    column('value', 'Float64', BigUint64Array.from(rows, ([, , bits]) => bits).buffer),
  ]);
}

/** Bytes in chunks that end anywhere. */
async function* cut(bytes: Buffer, random: Random): AsyncGenerator<Buffer> {
  for (let at = 0; at < bytes.length;) {
    const to = Math.min(bytes.length, at + 1 + random.below(200));
    yield await Promise.resolve(bytes.subarray(at, to));
    at = to;
  }
}

const STALE = 0x7ff0000000000002n;

describe('blocks of samples', () => {
  it('give the samples of each series, bit for bit, wherever blocks and chunks end, and however long times are', async () => {
    const random = new Random(2);
    for (let round = 0; round < extent(100, 2000); round++) {
      const bySeries = Array.from(
        { length: 1 + random.below(6) },
        (_none, at) =>
        Array.from({ length: 1 + random.below(40) }, (_sample, time): Row => [BigInt(at * 3) << 40n, SINCE + time, random.below(4) === 0 ? STALE : BigInt(random.below(1000))]), // prettier-ignore
      );
      const rows = bySeries.flat();
      const blocks: Buffer[] = [];
      for (let at = 0; at < rows.length;) {
        const to = at + random.below(30);
        blocks.push(blockOf(rows.slice(at, to), random.below(2) === 0));
        at = to;
      }
      const source = new SampleBlocks(cut(Buffer.concat(blocks), random), SINCE);
      for (let id = 0n; id < 18n; id++) {
        const own = await source.of(id << 40n);
        const right = rows.filter(([series]) => series === id << 40n);
        const bits = own === null ? [] : [...new BigUint64Array(own.values.buffer, own.values.byteOffset, own.values.length)];
        expect([...(own?.times ?? [])]).to.deep.equal(right.map(([, time]) => time));
        expect(bits).to.deep.equal(right.map(([, , value]) => value));
      }
      await source.end();
    }
  });

  it('end in an error where they are cut off', async () => {
    const whole = blockOf([[1n, 1, 1n]]);
    const source = new SampleBlocks(cut(whole.subarray(0, whole.length - 1), new Random(1)), SINCE);
    let message = '';
    await source.of(1n).catch((error: unknown) => (message = String(error)));
    expect(message).to.contain('ends before its last row');
  });
});

describe('numbers of which some came twice', () => {
  /** Series of which every `each`th has two equal times. By time alone the earlier arrival is the last one. */
  function opened(count: number, each: number): { numbers: Numbers; statements: string[] } {
    const statements: string[] = [];
    const numbers = new Numbers((ids, byArrival) => {
      const conditions = ids.map((one) => renderSql(one));
      statements.push(`${byArrival ? 'arrival' : 'time'} ${conditions.map(({ text, params }) => `${text.split(' ')[1] ?? ''}${String([...params.values()][0]?.value)}`).join()}`); // prettier-ignore
      const [, sign = '', id = ''] = /^\w+ (>?=)?(\d*)$/.exec(statements.at(-1) ?? '') ?? [];
      const rows = Array.from({ length: count }, (_none, at): Row[] => {
        const series = BigInt(at);
        if (at % each !== 0) return [[series, 5, 7n]];
        return byArrival ? [[series, 5, 1n], [series, 5, 2n]] : [[series, 5, 2n], [series, 5, 1n]]; // prettier-ignore
      }).flat();
      const wanted = rows.filter(([series]) => sign === '' || (sign === '=' ? series === BigInt(id) : series >= BigInt(id)));
      return new SampleBlocks(cut(blockOf(wanted), new Random(3)), SINCE);
    });
    return { numbers, statements };
  }

  for (const [count, each] of [
    [50, 7],
    [50, 1],
    [9, 1],
    [30, 100],
  ] as const)
    // prettier-ignore
    it(`have the later arrival, ${String(count)} series of which each ${String(each)}th is one`, async () => {
      const { numbers, statements } = opened(count, each);
      for (let at = 0; at < count; at++) {
        const own = await numbers.of(BigInt(at));
        const bits = own === null ? [] : [...new BigUint64Array(own.values.buffer, own.values.byteOffset, own.values.length)];
        expect(bits, String(at)).to.deep.equal([at % each === 0 ? 2n : 7n]);
      }
      await numbers.end();
      const ties = Math.ceil(count / each);
      expect(statements).to.have.length(ties > 8 ? 10 : ties + 1);
      expect(statements[0]).to.equal('time ');
      if (ties > 8) expect(statements.at(-1)).to.match(/^arrival >=/);
    });
});
