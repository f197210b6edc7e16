import type { Range } from '../pipeline/bus/consumer/range.ts';
import { structureOf, type Declared } from '../pipeline/rows/layout.ts';
import { unlessFenced } from './insert-fence.ts';
import { missingOnly } from './missing-rows.ts';
import { literalFrame } from './shared-columns.ts';
import type { Insert, InsertOptions } from './sink.ts';

/** ClickHouse takes a body of frames, whose checksums are not filled in. */
const SETTINGS = { decompress: 1, http_native_compression_disable_checksumming_on_decompress: 1 };

/** A table that takes blocks of columns: their names in order, and these as `input()` declares them. */
type ColumnsTable = {
  readonly key?: string | undefined;
  readonly table: string;
  readonly names: readonly string[];
  readonly structure: string;
};

/** A table and the columns of a block for it, in their order. `key`: what identifies a row in a block, where it is not the usual columns. */
export const columnsTable = (table: string, columns: readonly Declared[], key?: string): ColumnsTable => ({
  ...{ table, key },
  names: columns.map(({ name }) => name),
  structure: structureOf(columns),
});

/**
 * The statement for ranges whose rows come as blocks of columns, and its body. Only where a part of the rows may be stored already does
 * ClickHouse have to look at each; then it is one range.
 */
export function columnsInsert(
  { table, names, structure, key }: ColumnsTable,
  ranges: readonly Range[],
  blocks: Iterable<Buffer>,
  { table: into = table, fence }: InsertOptions = {},
): Insert {
  const missing = ranges.map((range) => missingOnly(range, table, key)).filter((condition) => condition !== '');
  if (ranges.length > 1 && missing.length > 0) throw new Error('BUG: several ranges of which one is in doubt.');
  const conditions = [...missing, ...(fence === undefined ? [] : [unlessFenced(fence)])];
  const list = names.join(', ');
  const declared = structure.replaceAll("'", "\\'");
  const select = conditions.length === 0 ? '' : `SELECT ${list} FROM input('${declared}') WHERE ${conditions.join(' AND ')}\n`;
  return {
    text: `INSERT INTO ${into} (${list})`,
    body: [literalFrame(Buffer.from(`${select}FORMAT Native\n`)), ...blocks],
    settings: SETTINGS,
  };
}
