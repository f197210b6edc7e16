import type { ColumnType } from './column-type.ts';
import { ColumnReader, readChecked } from './column-reader.ts';
import { framesOf, readFrames } from './frames.ts';
import { columnHead, type ColumnHead } from './native.ts';

/** A column as a table or `input()` declares it. */
export type Declared = { readonly name: string; readonly type: { readonly name: string } };

/** Columns as ClickHouse's `input()` declares them. */
export const structureOf = (columns: readonly Declared[]): string => columns.map(({ name, type }) => `${name} ${type.name}`).join(', ');

/** What a type gives of a member: which of the values it may have are found by the column's check. */
type Wide<Value> = Value extends number ? number : Value extends string ? string : Value;

/** The rows of a record where they lie: each member of a row, until the next record is read. */
export type View<Row> = { readonly [Member in keyof Row]: (row: number) => Row[Member] };

/** A column of a layout: its name and type, and the member of a row that it is. */
export type Column<Row> = {
  [Member in keyof Row & string]: {
    readonly name: string;
    readonly type: ColumnType<Wide<Row[Member]>>;
    readonly member: Member;
    /** What a value must be in addition to what its type requires; `view` has the columns before it. */
    isGood?(value: Wide<Row[Member]>, row: number, view: View<Row>): boolean;
  };
}[keyof Row & string];

/** The same of any member. */
type AnyColumn<Row> = Declared & {
  readonly type: ColumnType<unknown>;
  readonly member: keyof Row & string;
  isGood?(value: unknown, row: number, view: View<Row>): boolean;
};

/** A check of a column whose numbers begin with 1. */
export const isPositive = (number: number): boolean => number > 0;

/** Records are about 256 KiB; the content of a larger one is read into memory of its own. */
const scratch = Buffer.allocUnsafeSlow(512 * 1024);

/**
 * The columns of the records of a signal, in their order, as they stand in its value: for each its name, its type and its data in
 * ClickHouse's Native format (https://clickhouse.com/docs/interfaces/formats/Native), without a block header, in frames. docs/topics.md is
 * the specification.
 */
export class Layout<Row extends object> {
  /** That of the signal; its topic is `<name>.v1`. */
  readonly name: string;
  readonly columns: readonly AnyColumn<Row>[];
  readonly #heads: readonly ColumnHead[];
  readonly #reader = new ColumnReader();

  constructor(name: string, columns: readonly Column<Row>[]) {
    this.name = name;
    this.columns = columns;
    this.#heads = this.columns.map(({ name: column, type }) => ({ name: column, bytes: columnHead(column, type.name) }));
  }

  /** What begins a column. */
  head(column: string): ColumnHead {
    const head = this.#heads.find(({ name }) => name === column);
    if (head === undefined) throw new Error(`BUG: ${this.name} has no column ${column}.`);
    return head;
  }

  /** The value of a record with these rows, all of which have the members of `shared`. */
  encode<Shared extends keyof Row = never>(rows: readonly Omit<Row, Shared>[], shared?: Pick<Row, Shared>): Buffer {
    return framesOf((to) => {
      this.columns.forEach(({ type, member }, index) => {
        to.put((this.#heads[index] as ColumnHead).bytes);
        const common = (shared as Partial<Row> | undefined)?.[member];
        const values = common === undefined ? rows.map((row) => (row as Row)[member]) : rows.map(() => common);
        type.put(to, values);
      });
    });
  }

  /** Reads the value of a record, and checks all of it, so that it can be passed on as it is. Returns what is wrong as a string. */
  view(value: Buffer, count: number): View<Row> | string {
    return readChecked(
      count,
      () => readFrames(value, scratch),
      (bytes) => {
        const from = this.#reader;
        from.begin(bytes, count);
        const view = {} as { -readonly [Member in keyof Row]: (row: number) => Row[Member] };
        this.columns.forEach(({ type, member, isGood }, index) => {
          from.head(this.#heads[index] as ColumnHead);
          const of = type.read(from) as (row: number) => Row[typeof member];
          if (isGood !== undefined)
            for (let row = 0; row < count; row++) if (!isGood(of(row), row, view)) throw from.wrong('has a value that cannot be');
          view[member] = of;
        });
        from.end();
        return view;
      },
    );
  }

  /** What is wrong with the value of a record; null for nothing. */
  check(value: Buffer, count: number): string | null {
    const view = this.view(value, count);
    return typeof view === 'string' ? view : null;
  }

  /** The rows of a record, or what is wrong with it as a string. */
  read(value: Buffer, count: number): Row[] | string {
    const view = this.view(value, count);
    if (typeof view === 'string') return view;
    const members = this.columns.map(({ member }) => member);
    return Array.from(
      { length: count },
      (_none, row) => Object.fromEntries(members.map((member) => [member, owned(view[member](row))])) as Row,
    );
  }
}

/** Bytes of a view as their own. */
const owned = (value: unknown): unknown => (value instanceof Uint8Array ? Buffer.from(value) : value);
