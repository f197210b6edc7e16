import type { ColumnType } from './column-type.ts';
import { putEnds } from './column-writer.ts';

const HALF = 4_294_967_296;

/** Lists of whole numbers below 2^53, each in any order. */
export const numberList: ColumnType<readonly number[]> = {
  name: 'Array(UInt64)',
  put(to, values) {
    const all = values.flat();
    let end = 0;
    putEnds(to, Uint32Array.from(values, ({ length }) => (end += length)), values.length); // prettier-ignore
    const bytes = new Uint8Array(8 * all.length);
    const data = new DataView(bytes.buffer);
    all.forEach((number, index) => {
      if (!Number.isSafeInteger(number) || number < 0) throw new Error(`BUG: ${String(number)} cannot be in a list of numbers.`);
      data.setUint32(8 * index, number % HALF, true);
      data.setUint32(8 * index + 4, Math.floor(number / HALF), true);
    });
    to.put(bytes);
  },
  read(from) {
    const ends = new Uint32Array(from.count);
    const total = from.ends(ends);
    const numbers = from.fixed(8, total);
    const { data } = from;
    const at = (index: number): number => data.getUint32(numbers + 8 * index + 4, true) * HALF + data.getUint32(numbers + 8 * index, true);
    for (let index = 0; index < total; index++) if (at(index) > Number.MAX_SAFE_INTEGER) throw from.wrong('has a value that cannot be');
    return (row) => {
      const first = row === 0 ? 0 : (ends[row - 1] as number);
      return Array.from({ length: (ends[row] as number) - first }, (_none, index) => at(first + index));
    };
  },
};
