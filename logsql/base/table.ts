/** What planner, filters and pipes know of a table of which rows are queried. Each table states it once (logsql/sql/logs-table.ts, spans-table.ts). */
import type { LogEntry } from '../../pipeline/core/entry.ts';
import type { Sql } from '../../pipeline/core/sql.ts';
import type { FieldSet } from './fields.ts';

/** The labels `{app="web"}` of a stream id. */
export type StreamNames = { get(id: string): string | undefined };

/** The columns of a promoted field. Parts that a migration has not reached yet may have longer values in `short` too. */
export type Promoted = {
  /** The string, '' where an entry lacks the field; where it is long, some string that is long too. */
  readonly short: Sql;
  /** The string where it is long, else ''. */
  readonly long: Sql;
  /** Whether it is long. */
  readonly isLong: Sql;
  /** The string, out of both. */
  readonly whole: Sql;
};

/** The columns of a SELECT over a table, and its rows as entries. */
export type EntryColumns = {
  readonly list: Sql;
  readonly count: number;
  readonly streamColumns: readonly number[];
  decode(row: readonly unknown[], streams: StreamNames): LogEntry;
};

/**
 * Which rows are read until there are enough: those that an index does not leave out; or all, by columns that are quick to read, or by strings.
 * `scattered`: the table does not have them in the order of time, so that all of a window are read.
 */
export type Look = 'indexed' | 'columns' | 'texts' | 'scattered';

/** A field that has one of few strings, by which its filters are decided while a statement is planned. */
export type FewWords = { readonly words: readonly string[]; isOneOf(words: readonly string[]): Sql };

/** Fields that lie together in one string, which few rows do not share: the string, and the array of their names and values out of it. */
export type SharedFields = { readonly of: Sql; pairs(shared: Sql): Sql };

/** How facets and names of fields are found. */
export type FieldLists = {
  /** Columns that are counted at once, and those that often have too many values; together all fields but those of the map. */
  readonly common: readonly string[];
  readonly wide: readonly string[];
  /** What a sample of rows reads: the map and the wide columns. */
  readonly sampled: Sql;
  /** The field that every row has. */
  readonly everywhere: string;
  /** Facets of the search page: those that are kept however many values they have, and those that are not shown. */
  readonly always: readonly string[];
  readonly never: readonly string[];
  /** Of each field but those of the map, how many rows have it. */
  readonly counts: readonly (readonly [name: string, count: Sql])[];
  readonly shared?: SharedFields;
};

/** The stream of a row: by what rows are grouped by it, and its labels. `isId`: an id, whose labels lie in the table `streams`. */
export type StreamOfRow = {
  readonly key: Sql;
  readonly isId: boolean;
  /** The string of the stream, by its key. */
  text(key: string, streams: StreamNames): string;
  /** The value of a label, in the table that has it. */
  labels(label: string): Sql;
};

export interface Table {
  /** What answers call a row, `entry`, and the member that lists rows. */
  readonly row: string;
  readonly member: string;
  /** What stands after FROM for all rows. They have the columns of their tenant and place, `tenant_id`, `_time`, `arrived`, `kafka_part`, `kafka_off`, `kafka_idx`, and the map `fields`. */
  readonly from: Sql;
  /** What stands after FROM for all rows that meet conditions, also where there are copies; no more conditions follow it. */
  where(conditions: readonly Sql[]): Sql;
  /** All columns that conditions and pipes look at. */
  readonly columns: Sql;
  /** What stands after FROM for rows that meet conditions, each once; more conditions may follow it. */
  matching(conditions: readonly Sql[]): Sql;
  /** What copies of a row share, where there may be copies: a string. Of copies the first one newest first counts. */
  readonly identity?: Sql;
  look(conditions: readonly Sql[]): Look;
  /** What a statement uses that narrows down what is read: a name, and how its text shows it. */
  readonly indexes: readonly { readonly name: string; readonly parts: readonly string[] }[];
  /** The string of a field, '' where a row lacks it; null for the stream. */
  text(field: string): Sql | null;
  /** Whether a field lies in the map. */
  isMapField(field: string): boolean;
  promoted(field: string): Promoted | undefined;
  /** The same of fields whose short column the hourly counts have. */
  promotedLabel(field: string): Promoted | undefined;
  /** Look-ups of words in an index of a field's text, to go before a dearer condition. */
  indexedWords(field: string, words: readonly string[]): readonly Sql[];
  /** A condition in place of comparing the string of a field with these, none of them empty; undefined where there is none better. */
  isOneOf(field: string, values: readonly string[]): Sql | undefined;
  /** The field has one word at most, so that a word or phrase in it is its whole value. */
  isOneWord(field: string): boolean;
  /** The number (Float64) that a field always has; undefined where it is a string, or missing somewhere. */
  number(field: string): Sql | undefined;
  fewWords(field: string): FewWords | undefined;
  /** Names and values of the map's fields, two arrays; and the names where nothing else of a row is read. */
  readonly names: Sql;
  readonly values: Sql;
  readonly namesAlone: Sql;
  readonly lists: FieldLists;
  readonly stream: StreamOfRow;
  /** Rows are counted in `volume` and by the hour, and have the column `pattern`. */
  readonly isCounted: boolean;
  readonly hasPatterns: boolean;
  entryColumns(fields: FieldSet, tenantId: number, withStreamId?: boolean): EntryColumns;
  /** The JSON string of a whole entry out of the JSON strings of its columns; absent: entries are read first. */
  readonly render?: (texts: readonly string[], streams: StreamNames, columns: EntryColumns) => string;
}
