/** What a record may have before it is compressed, unless a single row has more. Bytes. */
const RECORD_BYTES = 256 * 1024;

/** Rows in their order, cut into those of one record each. */
export function cutRows<Row>(rows: Iterable<Row>, sizeOf: (row: Row) => number): Row[][] {
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
