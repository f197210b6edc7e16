/** How much one statement may hold. ClickHouse takes 128 KiB of text and as much for a value, and 1,000 values, in a form. */
import { join, sql, texts, type Param, type Sql } from '../../pipeline/core/sql.ts';
import type { Filter } from '../base/types.ts';

/** Parts of a filter that are looked at in one statement: more take longer to analyse than to check in memory. */
const MAX_LEAVES = 200;
const MAX_TEXT = 100_000;
const MAX_VALUES = 800;
/** Bytes of one value. */
export const MAX_VALUE = 100_000;
/** Bytes of all values together. */
const MAX_BYTES = 4_000_000;
/** What a placeholder `{p123:Array(String)}` takes. */
const PLACEHOLDER = 22;
/** What each string of a list takes in addition to its bytes: quotes, a comma and space for escapes. */
const PER_TEXT = 3;

/** Counts what a statement holds so far. */
export class StatementBudget {
  #leaves = 0;
  #text = 0;
  #values = 0;
  #bytes = 0;

  /** True, and counted, when a filter is not too big for a statement. */
  takeFilter(filter: Filter): boolean {
    const leaves = leavesOf(filter);
    if (this.#leaves + leaves > MAX_LEAVES) return false;
    this.#leaves += leaves;
    return true;
  }

  /** True, and counted, when this fits the rest of the budget. */
  take(part: Sql): boolean {
    const text = part.strings.reduce((sum, { length }) => sum + length, 0) + part.values.length * PLACEHOLDER;
    const sizes = part.values.map(({ value }) => sizeOf(value));
    const bytes = sizes.reduce((sum, size) => sum + size, 0);
    const fits =
      this.#text + text <= MAX_TEXT &&
      this.#values + part.values.length <= MAX_VALUES &&
      this.#bytes + bytes <= MAX_BYTES &&
      sizes.every((size) => size <= MAX_VALUE);
    if (!fits) return false;
    this.#text += text;
    this.#values += part.values.length;
    this.#bytes += bytes;
    return true;
  }
}

const leavesOf = ({ parts }: Filter): number => (parts === undefined ? 1 : parts.reduce((sum, part) => sum + leavesOf(part), 0));

/** Bytes of a value as it is sent. */
export function sizeOf(value: Param['value']): number {
  if (typeof value === 'string') return Buffer.byteLength(value);
  return typeof value === 'object'
    ? value.reduce<number>((sum, one) => sum + (typeof one === 'string' ? Buffer.byteLength(one) + PER_TEXT : 20), 0)
    : 20;
}

/** The strings in lists of which each can be one value. */
export function inChunks(values: readonly string[]): readonly (readonly string[])[] {
  const chunks: string[][] = [];
  let size = Infinity;
  for (const value of values) {
    const own = Buffer.byteLength(value) + PER_TEXT;
    if (size + own > MAX_VALUE) {
      chunks.push([]);
      size = 0;
    }
    chunks.at(-1)?.push(value);
    size += own;
  }
  return chunks;
}

/** A column has one of these strings, of which there may be more than one value holds. */
export const oneOf = (column: Sql, values: readonly string[]): Sql =>
  values.length === 0 ? sql`0` : sql`(${join(inChunks(values).map((chunk) => sql`${column} IN ${texts(chunk)}`), sql` OR `)})`; // prettier-ignore
