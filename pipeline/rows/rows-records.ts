import type { Layout } from './layout.ts';
import { rowsHeaders } from './rows-signal.ts';

/** What a record may have before it is compressed, unless a single row has more. Bytes. */
const RECORD_BYTES = 256 * 1024;

/** Rows in their order, cut into those of one record each. */
function cutRows<Row>(rows: Iterable<Row>, sizeOf: (row: Row) => number): Row[][] {
  const records: Row[][] = [];
  let budget = 0;
  for (const row of rows) {
    budget -= sizeOf(row);
    if (budget < 0) {
      records.push([]);
      budget = RECORD_BYTES - sizeOf(row);
    }
    records.at(-1)?.push(row);
  }
  return records;
}

/** A record of rows of many tenants, as a writer takes it. */
type RowsRecord = {
  readonly topic: string;
  readonly partition: number;
  readonly key: null;
  readonly value: Buffer;
  readonly headers: Record<string, string>;
};

/** Where the records go, and the members that all rows of a record share, by its number. */
type Source<Shared> = { readonly partition: number; readonly shared?: (record: number) => Shared };

/**
 * The records of rows of many tenants, for a partition of their topic. `sizeOf`: what a row takes before it is compressed, about. Equal rows are
 * always the same records: where they are cut must not change, since a record may be written again by a later version.
 */
export const rowsRecords = <Row extends { readonly retentionDays: number }, Shared extends keyof Row = never>(
  layout: Layout<Row>,
  rows: Iterable<Omit<Row, Shared>>,
  sizeOf: (row: Omit<Row, Shared>) => number,
  { partition, shared }: Source<Pick<Row, Shared>>,
): RowsRecord[] =>
  cutRows(rows, sizeOf).map((together, record) => ({
    topic: `${layout.name}.v1`,
    partition,
    key: null,
    value: layout.encode(together, shared?.(record)),
    headers: rowsHeaders(layout, together.length),
  }));
