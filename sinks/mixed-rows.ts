import { framesOf } from '../pipeline/rows/frames.ts';
import { putColumns } from '../pipeline/logs/columns/column-encoder.ts';
import { varint } from '../pipeline/rows/native.ts';
import type { LogColumns } from '../pipeline/logs/columns/log-columns.ts';
import { SHARED_COLUMNS, type SharedValues } from './shared-columns.ts';

/** Rows of several records in one block: records of few rows would else cost a block each. */
export type MixedRows = {
  readonly columns: LogColumns;
  /** Whose rows they are, in their order: `count` rows of a record, from its row `first` on. */
  readonly rows: readonly { readonly shared: SharedValues; readonly first: number; readonly count: number }[];
};

/** The frames of a block of mixed rows; `columns`: how many columns the block has in all. */
export function mixedFrames({ columns, rows }: MixedRows, columnCount: number): Buffer {
  const values: readonly ((shared: SharedValues, row: number) => number)[] = [
    ({ tenantId }) => tenantId,
    ({ arrived }) => arrived,
    ({ partition }) => partition,
    ({ offset }) => offset,
    ({ retentionDays }) => retentionDays,
    (_shared, row) => row,
  ];
  return framesOf((to) => {
    to.put(varint(columnCount));
    to.put(varint(columns.count));
    SHARED_COLUMNS.forEach(({ type, head }, column) => {
      to.put(head);
      to.put(perRow(rows, columns.count, type.width, values[column] as (typeof values)[number]));
    });
    putColumns(to, columns);
  });
}

function perRow(rows: MixedRows['rows'], total: number, width: number, value: (shared: SharedValues, row: number) => number): Uint8Array {
  const bytes = Buffer.alloc(total * width);
  let at = 0;
  for (const { shared, first, count } of rows) {
    for (let row = 0; row < count; row++, at += width) {
      const number = value(shared, first + row);
      if (width === 2) bytes.writeUInt16LE(number, at);
      else bytes.writeUInt32LE(number % 4_294_967_296, at);
      if (width === 8) bytes.writeUInt32LE(Math.floor(number / 4_294_967_296), at + 4);
    }
  }
  return bytes;
}
