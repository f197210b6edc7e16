import { floatBits, nanoseconds } from '../../../pipeline/rows/fixed-types.ts';
import { Layout } from '../../../pipeline/rows/layout.ts';
import { tenantRowsSignal } from '../../../pipeline/rows/rows-signal.ts';
import { string } from '../../../pipeline/rows/string-types.ts';

/** A point in time with a name and a number. `time`: nanoseconds since 1970; `number`: the bits of a Float64. */
export type Mark = { readonly time: bigint; readonly name: string; readonly number: bigint };

/** The columns of a record of `marks.v1`. */
export const markLayout = new Layout<Mark>('marks', [
  { name: 'time', type: nanoseconds, member: 'time' },
  { name: 'name', type: string, member: 'name' },
  { name: 'number', type: floatBits, member: 'number' },
]);

export const marksSignal = tenantRowsSignal(markLayout, ({ time }, row) => Number(time(row) / 1_000_000_000n));
