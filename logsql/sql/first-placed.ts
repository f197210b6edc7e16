/**
 * The first entries of a sort in any order that memory knows, in two steps: the keys and the places of all rows, of which a few are held,
 * and then the entries at these places alone. So an entry that is not among the first costs the strings of its keys.
 */
import type { LogEntry } from '../../pipeline/core/entry.ts';
import { join, ofTenant, sql, type Sql } from '../../pipeline/core/sql.ts';
import type { FieldSet } from '../base/fields.ts';
import { FirstItems } from '../base/first-items.ts';
import type { Position } from '../base/position.ts';
import { Budget, sizeOfText } from '../base/rows.ts';
import type { StatementRunner, SqlInput } from '../base/types.ts';
import { PLACE, POSITION, comparePlaces, placeSet, positionAt } from './places.ts';
import { fieldText } from './text.ts';

export type FirstPlaced = {
  readonly keys: readonly string[];
  /** The order, of the values of the keys. */
  compare(a: readonly string[], b: readonly string[]): number;
  /** Of equal ones the newest comes first, else the oldest. */
  readonly isNewestFirst: boolean;
  /** How many are wanted. */
  readonly most: number;
  /** The fields that the entries have. */
  readonly fields: FieldSet;
};

/** Where more are wanted, whole entries are read. */
export const MOST_PLACED = 1000;
/** What a place takes in memory, about. */
const PLACE_BYTES = 400;

/** The string of a stream is not in the table of entries. */
export const hasKeyText = (field: string): boolean => field !== '_stream' && field !== '_stream_id';

/** The strings of the keys, and the row, which has the place behind them. */
type Placed = { readonly texts: readonly string[]; readonly row: readonly unknown[] };

/** The first entries of the sort, in the order in which equal ones are; null where SQL cannot express a key. Throws LogsqlLimitError. */
export async function firstPlaced(input: SqlInput, wanted: FirstPlaced, runner: StatementRunner): Promise<LogEntry[] | null> {
  const { context } = input;
  // fields that are worked out are in no entry
  if (context.computed !== undefined) return null;
  const keys = wanted.keys.map((field) => keyText(field, input));
  const known = keys.filter((key) => key !== null);
  if (known.length < keys.length) return null;
  const places = await firstPlaces(input, known, wanted, runner);
  if (places.length === 0) return [];
  const columns = context.table.entryColumns(wanted.fields, context.tenantId);
  const read = await runner.rows(
    sql`SELECT ${columns.list} FROM ${context.table.where([ofTenant(context.tenantId), sql`${PLACE} IN ${placeSet(places)}`])} ORDER BY ${PLACE}`,
  );
  const streams = await runner.streams(columns.streamColumns.flatMap((column) => read.map((row) => String(row[column]))));
  const entries = read.map((row) => columns.decode(row, streams));
  return wanted.isNewestFirst ? entries.reverse() : entries;
}

/** Times compare as the nanoseconds that they are. */
function keyText(field: string, { context }: SqlInput): Sql | null {
  return field === '_time' ? sql`toString(toUnixTimestamp64Nano(_time))` : fieldText(field, context);
}

async function firstPlaces(
  { source, run }: SqlInput,
  keys: readonly Sql[],
  { compare, most, isNewestFirst }: FirstPlaced,
  runner: StatementRunner,
): Promise<readonly Position[]> {
  const budget = new Budget(run.memory, 'The sort pipe');
  const first = new FirstItems<Placed>({
    ...{ most, memory: run.memory },
    compare: (a, b) => compare(a.texts, b.texts) || (isNewestFirst ? -1 : 1) * comparePlaces(placeOf(a), placeOf(b)),
    onDropped: (dropped) => budget.give(dropped.length, sizeOfAll(dropped)),
  });
  for await (const read of runner.chunks(sql`SELECT ${join(keys, sql`, `)}, ${POSITION} FROM ${source}`))
    for (const row of read) {
      const texts = keys.map((_key, index) => String(row[index]));
      run.memory.step(texts.reduce((sum, text) => sum + text.length, 0));
      const placed = { texts, row };
      if (!first.mayBeFirst(placed)) continue;
      budget.take(1, sizeOf(placed));
      first.push(placed);
    }
  const places = first.inOrder();
  budget.give(places.length, sizeOfAll(places));
  return places.map(placeOf);
}

const placeOf = ({ texts, row }: Placed): Position => positionAt(row, texts.length);

const sizeOf = ({ texts }: Placed): number => texts.reduce((sum, text) => sum + sizeOfText(text), PLACE_BYTES);
const sizeOfAll = (list: readonly Placed[]): number => list.reduce((sum, placed) => sum + sizeOf(placed), 0);
