import { framesOf } from '../logs/columns/frames.ts';
import { columnHead, nativeString } from '../logs/columns/layout.ts';
import { CheckedColumns, isCount, isTime, readChecked, Wrong } from './checked-columns.ts';

/** A map of strings, in the order of its names, so that one map has one form. */
export type Pairs = readonly (readonly [string, string])[];

/** A column of a row: its name and ClickHouse type, and the member of the row that it is. */
export type RowColumn<Row> = {
  readonly name: string;
  readonly type: keyof typeof TYPES;
  readonly member: keyof Row & string;
  /** What a number must be in addition to what its type requires. */
  readonly isGood?: (value: number) => boolean;
  /** The member is a bigint: an id, which may need all 64 bits of a UInt64. */
  readonly isId?: true;
};

/** The values of a column as bytes, and back: as a function of the row. */
type Type = {
  encode(values: readonly unknown[]): Buffer;
  read(columns: CheckedColumns, column: string, bytes: Buffer, isGood?: (value: number) => boolean): (row: number) => unknown;
};

const numbers = (width: 1 | 2 | 4 | 8, write: (bytes: Buffer, value: number, at: number) => void, isOne = isCount): Type => ({
  encode(values) {
    const bytes = Buffer.alloc(width * values.length);
    values.forEach((value, row) => {
      write(bytes, value as number, width * row);
    });
    return bytes;
  },
  read(columns, column, _bytes, isGood = () => true) {
    const found = columns.numbers(column, width, (value) => isOne(value) && isGood(value));
    return (row) => found[row];
  },
});

const ids: Type = {
  encode(values) {
    const bytes = Buffer.alloc(8 * values.length);
    values.forEach((value, row) => bytes.writeBigUInt64LE(value as bigint, 8 * row));
    return bytes;
  },
  read(columns, column, bytes) {
    const from = columns.fixed(column, 8);
    return (row) => bytes.readBigUInt64LE(from + 8 * row);
  },
};

const strings: Type = {
  encode: (values) => Buffer.concat(values.map((value) => nativeString(value as string))),
  read(columns, column, bytes) {
    const { starts, ends } = columns.strings(column);
    return (row) => bytes.toString('utf8', starts[row], ends[row]);
  },
};

const floats: Type = {
  ...numbers(8, (bytes, value, at) => bytes.writeDoubleLE(value, at)),
  read(columns, column) {
    const found = columns.floats(column);
    return (row) => found[row];
  },
};

const maps: Type = {
  encode(values) {
    const all = values as readonly Pairs[];
    const ends = Buffer.alloc(8 * all.length);
    let end = 0;
    all.forEach((pairs, row) => ends.writeBigUInt64LE(BigInt((end += pairs.length)), 8 * row));
    return Buffer.concat([ends, ...[0, 1].flatMap((part) => all.flatMap((pairs) => pairs.map((pair) => nativeString(pair[part] ?? ''))))]);
  },
  read(columns, column, bytes) {
    const { ends, names, values } = columns.maps(column);
    const pair = (index: number): [string, string] => [
      bytes.toString('utf8', names.starts[index], names.ends[index]),
      bytes.toString('utf8', values.starts[index], values.ends[index]),
    ];
    return (row) => {
      const first = ends[row - 1] ?? 0;
      const own = Array.from({ length: (ends[row] ?? 0) - first }, (_none, index) => pair(first + index));
      if (own.some(([name], index) => index > 0 && name <= (own[index - 1] as [string, string])[0]))
        throw new Wrong(`column ${column} has a map that is not in the order of its names`);
      return own;
    };
  },
};

const TYPES = {
  UInt8: numbers(1, (bytes, value, at) => bytes.writeUInt8(value, at)),
  UInt16: numbers(2, (bytes, value, at) => bytes.writeUInt16LE(value, at)),
  UInt32: numbers(4, (bytes, value, at) => bytes.writeUInt32LE(value, at)),
  UInt64: numbers(8, (bytes, value, at) => bytes.writeBigUInt64LE(BigInt(value), at)),
  /** Seconds since 1970, from 1900 to 2262. */
  "DateTime64(0, 'UTC')": numbers(8, (bytes, value, at) => bytes.writeBigInt64LE(BigInt(value), at), isTime),
  Float64: floats,
  String: strings,
  'Map(String, String)': maps,
} as const satisfies Record<string, Type>;

const typeOf = ({ type, isId }: Pick<RowColumn<never>, 'type' | 'isId'>): Type => (isId === true ? ids : TYPES[type]);

/** Rows as the columns of a record's value: for each column its name, its type and its data in ClickHouse's Native format, in frames. */
export class RowColumns<Row extends object> {
  readonly names: readonly string[];
  /** The columns as `input()` declares them. */
  readonly structure: string;
  readonly columns: readonly RowColumn<Row>[];
  readonly #heads: Readonly<Record<string, Buffer>>;

  constructor(columns: readonly RowColumn<Row>[]) {
    this.columns = columns;
    this.names = columns.map(({ name }) => name);
    this.structure = columns.map(({ name, type }) => `${name} ${type}`).join(', ');
    this.#heads = Object.fromEntries(columns.map(({ name, type }) => [name, columnHead(name, type)]));
  }

  /** The value of a record with these rows. */
  encode(rows: readonly Row[]): Buffer {
    return framesOf((to) => {
      for (const column of this.columns) {
        to.put(this.#heads[column.name] as Buffer);
        to.put(typeOf(column).encode(rows.map((row) => row[column.member])));
      }
    });
  }

  /** Reads the value of a record, and checks all of it, so that it can be passed on as it is. Returns what is wrong as a string. */
  read(value: Buffer, count: number): Row[] | string {
    return readChecked(value, count, (bytes) => {
      const columns = new CheckedColumns(this.#heads, bytes, count);
      const read = this.columns.map((column) => [column.member, typeOf(column).read(columns, column.name, bytes, column.isGood)] as const);
      columns.end();
      return Array.from({ length: count }, (_none, row) => Object.fromEntries(read.map(([member, of]) => [member, of(row)])) as Row);
    });
  }
}
