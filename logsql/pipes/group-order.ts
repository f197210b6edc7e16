/** The order of groups: by their keys, one after another, times by time and all else by bytes; the same in memory and in ClickHouse. */
import { textOf, type LogEntry } from '../../pipeline/core/entry.ts';
import { join, sql, type Sql } from '../../pipeline/core/sql.ts';
import { FieldSet } from '../base/fields.ts';
import { compareBytes, compareTimes } from '../values/order.ts';
import { quote } from '../base/reserved.ts';
import type { Pipe, RunContext, Stage } from '../base/types.ts';
import type { GroupKey } from './group.ts';
import { Budget, sizeOfRow } from '../base/rows.ts';

/** Compares lists of values of these fields. */
export function compareGroups(fields: readonly string[]): (a: readonly string[], b: readonly string[]) => number {
  return (a, b) => {
    for (const [index, field] of fields.entries()) {
      const [x, y] = [a[index] ?? '', b[index] ?? ''];
      const order = x === y ? 0 : (field === '_time' ? compareTimes(x, y) : 0) || compareBytes(x, y);
      if (order !== 0) return order;
    }
    return 0;
  };
}

/** The same in SQL, after what comes before it; nothing where a key is a stream, whose labels are not at hand: see `GroupOrderPipe`. */
export function groupOrder(keys: readonly GroupKey[], before: readonly Sql[] = []): Sql {
  if (keys.length === 0 || keys.some(({ isStream }) => isStream)) return sql``;
  return sql` ORDER BY ${join([...before, ...keys.map(({ expression }) => expression)], sql`, `)}`;
}

/** Puts the rows of groups in their order, after a statement that could not, and gives the first ones. */
export class GroupOrderPipe implements Pipe {
  readonly liveTail = false;
  readonly rows = 'reshaped';
  readonly isOrdered = true;
  readonly #by: readonly string[];
  readonly #limit: number;
  constructor(by: readonly string[], limit = Infinity) {
    this.#by = by;
    this.#limit = limit;
  }
  toString(): string {
    return `order of groups by (${this.#by.map(quote).join(', ')})`;
  }
  needs(output: FieldSet): FieldSet {
    return output.plus(this.#by);
  }
  stage({ memory }: RunContext): Stage {
    const budget = new Budget(memory, 'The order of groups');
    const rows: { readonly row: LogEntry; readonly values: readonly string[] }[] = [];
    const compare = compareGroups(this.#by);
    return {
      push: (row) => {
        budget.take(1, sizeOfRow(row));
        rows.push({ row, values: this.#by.map((name) => textOf(row.get(name))) });
        return [];
      },
      flush: () =>
        memory
          .sort(rows, (a, b) => compare(a.values, b.values))
          .slice(0, this.#limit)
          .map(({ row }) => row),
    };
  }
}
