import type { ColumnReader } from './column-reader.ts';
import type { FrameWriter } from './frames.ts';

/** How the values of a column lie in a record, and what they are in a row. */
export interface ColumnType<Value> {
  /** As ClickHouse spells it. */
  readonly name: string;
  /** Puts the column's values; the bytes that begin it were put before. Throws where one cannot be in such a column. */
  put(to: FrameWriter, values: readonly Value[]): void;
  /** Takes the values of a column, each of which it checks. Returns the value of a row, until the next record is read. */
  read(from: ColumnReader): (row: number) => Value;
}

/** A type whose values take `width` bytes each. */
export interface FixedType<Value> extends ColumnType<Value> {
  readonly width: number;
}
