import { sql, uint64s, type Sql } from '../../../pipeline/core/sql.ts';
import type { Filter } from '../../../logsql/base/types.ts';
import type { LogVector } from './log-place.ts';

/** Entries of the table from one place in the log on (null: from its beginning), and before another one. */
export class PlaceFilter implements Filter {
  readonly fields: readonly string[] = [];
  readonly #from: LogVector | null;
  readonly #until: LogVector;

  constructor(from: LogVector | null, until: LogVector) {
    this.#from = from;
    this.#until = until;
  }

  toString(): string {
    return '*';
  }

  /** Always true: its entries come from the table, where SQL has filtered them. */
  matches(): boolean {
    return true;
  }

  sql(): Sql {
    const before = sql`${HERE} < ${placeOf(this.#until)}`;
    if (this.#from === null) return before;
    const least = Math.min(...this.#from.map(([offset]) => offset), Infinity);
    const first = uint64s([Number.isFinite(least) ? least : 0]);
    return sql`${before} AND ${HERE} >= ${placeOf(this.#from)} AND kafka_off >= arrayElement(${first}, 1)`;
  }
}

const HERE = sql`(kafka_off, toUInt64(kafka_idx))`;

/** The place in the partition of a row; a partition that is not known begins there. */
const placeOf = (vector: LogVector): Sql =>
  sql`(arrayElement(${uint64s(vector.map(([offset]) => offset))}, kafka_part + 1), arrayElement(${uint64s(vector.map(([, index]) => index))}, kafka_part + 1))`;
