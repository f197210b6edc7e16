import type { ColumnReader } from './column-reader.ts';
import type { ColumnType } from './column-type.ts';
import { putEnds } from './column-writer.ts';

/** Counts by bin, in the order of the bins, each once. */
export type Bins = readonly (readonly [bin: number, count: number])[];

const HALF = 4_294_967_296;

/** A histogram of few filled bins: counts below 2^53 by the numbers of bins. */
export const bins: ColumnType<Bins> = {
  name: 'Map(UInt16, UInt64)',
  put(to, values) {
    const all = values.flat();
    let end = 0;
    putEnds(to, Uint32Array.from(values, ({ length }) => (end += length)), values.length); // prettier-ignore
    const bytes = new Uint8Array(10 * all.length);
    const data = new DataView(bytes.buffer);
    all.forEach(([bin, count], index) => {
      data.setUint16(2 * index, bin, true);
      const at = 2 * all.length + 8 * index;
      data.setUint32(at, count % HALF, true);
      data.setUint32(at + 4, Math.floor(count / HALF), true);
    });
    to.put(bytes);
  },
  read(from) {
    const ends = new Uint32Array(from.count);
    const total = from.ends(ends);
    const [numbers, counts] = [from.fixed(2, total), from.fixed(8, total)];
    const { data } = from;
    const binAt = (index: number): number => data.getUint16(numbers + 2 * index, true);
    const countAt = (index: number): number =>
      data.getUint32(counts + 8 * index + 4, true) * HALF + data.getUint32(counts + 8 * index, true);
    checkBins(from, ends, binAt, countAt);
    return (row) => {
      const first = row === 0 ? 0 : (ends[row - 1] as number);
      return Array.from(
        { length: (ends[row] as number) - first },
        (_none, index) => [binAt(first + index), countAt(first + index)] as const,
      );
    };
  },
};

/** One histogram has one form. */
function checkBins(from: ColumnReader, ends: Uint32Array, binAt: (index: number) => number, countAt: (index: number) => number): void {
  let index = 0;
  for (const end of ends)
    for (let before = -1; index < end; index++) {
      const bin = binAt(index);
      if (bin <= before) throw from.wrong('has bins that are not in their order');
      if (countAt(index) > Number.MAX_SAFE_INTEGER) throw from.wrong('has a value that cannot be');
      before = bin;
    }
}
