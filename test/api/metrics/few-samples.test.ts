import { expect } from 'chai';
import { fewSamples } from '../../../api/metrics/few-samples.ts';
import type { Samples } from '../../../api/metrics/sample-rows.ts';
import { nativeString, varint } from '../../../pipeline/rows/native.ts';
import { extent } from '../../extent.ts';
import { Random } from '../../fuzz/random.ts';

type Row = { readonly type: 0 | 1; readonly series: bigint; readonly time: number; readonly bits: bigint; readonly payload: string };
const STALE = 0x7ff0000000000002n;

const column = (name: string, type: string, bytes: Uint8Array | ArrayBuffer): Buffer[] => [nativeString(name), nativeString(type), Buffer.from(bytes as Uint8Array)]; // prettier-ignore

function blockOf(rows: readonly Row[]): Buffer {
  return Buffer.concat([
    ...[varint(5), varint(rows.length)],
    ...column(
      'type',
      'UInt8',
      Uint8Array.from(rows, ({ type }) => type),
    ),
    ...column('series', 'UInt64', BigUint64Array.from(rows, ({ series }) => series).buffer),
    ...column('t', 'Float64', Float64Array.from(rows, ({ time }) => time).buffer),
    ...column('value', 'Float64', BigUint64Array.from(rows, ({ bits }) => bits).buffer),
    ...column('payload', 'String', Buffer.concat(rows.map(({ payload }) => nativeString(payload)))),
  ]);
}

async function* cut(bytes: Buffer, most: number): AsyncGenerator<Buffer> {
  for (let at = 0; at < bytes.length; at += most) yield await Promise.resolve(bytes.subarray(at, at + most));
}

const shown = (samples: Samples | null): unknown =>
  samples === null
    ? []
    : [...samples.times].map((time, at) => [
        time,
        new BigUint64Array(samples.values.buffer, samples.values.byteOffset, samples.values.length)[at],
        samples.payloads[at]?.toString() ?? '',
      ]);

describe('samples of a few series', () => {
  it('are those of each series and type, bit for bit, of equal times the last, wherever blocks and chunks end', async () => {
    const random = new Random(5);
    for (let round = 0; round < extent(100, 2000); round++) {
      const rows: Row[] = [];
      for (const type of [0, 1] as const)
        for (let series = 0n; series < 4n; series++)
          for (let time = 0; time < random.below(9); time += random.below(2))
            rows.push({
              ...{ type, series: series << 61n, time, bits: random.below(4) === 0 ? STALE : BigInt(random.below(1000)) },
              payload: type === 1 ? 'x'.repeat(random.below(300)) : '',
            });
      const blocks: Buffer[] = [];
      for (let at = 0; at < rows.length;) {
        const to = at + 1 + random.below(20);
        blocks.push(blockOf(rows.slice(at, to)));
        at = to;
      }
      const found = await fewSamples(cut(Buffer.concat(blocks), 1 + random.below(400)));
      for (let series = 0n; series < 4n; series++) {
        const rightOf = (wanted: number): unknown =>
          [...new Map(rows.filter(({ type, series: own }) => type === wanted && own === series << 61n).map((row) => [row.time, row])).values()] // prettier-ignore
            .map(({ time, bits, payload }) => [time, bits, payload]);
        const own = found?.get(series << 61n);
        expect(shown(own?.numbers ?? null)).to.deep.equal(rightOf(0));
        expect(shown(own?.histograms ?? null)).to.deep.equal(rightOf(1));
      }
    }
  });

  it('are not read as a whole where they are many, and the statement ends', async () => {
    let isEnded = false;
    async function* endless(): AsyncGenerator<Buffer> {
      try {
        for (;;) yield await Promise.resolve(Buffer.alloc(65_536));
      } finally {
        isEnded = true;
      }
    }
    expect(await fewSamples(endless())).to.equal(null);
    expect(isEnded).to.equal(true);
  });

  it('end in an error where they are cut off', async () => {
    const bytes = blockOf([{ type: 0, series: 1n, time: 1, bits: 1n, payload: '' }]);
    const failed = await fewSamples(cut(bytes.subarray(0, bytes.length - 3), 100)).catch((error: unknown) => String(error));
    expect(failed).to.match(/ends before its last row/);
  });
});
