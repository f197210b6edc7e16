/** The parts of a query and what each kind of extension must be able to do. */
import type { FieldValue, LogEntry } from '../../pipeline/core/entry.ts';
import type { Sql } from '../../pipeline/core/sql.ts';
import type { FieldSet } from './fields.ts';
import type { Lexer } from './lexer.ts';
import type { StreamNames, Table } from './table.ts';
import type { QueryMemory } from './memory.ts';
import type { Regexp, RegexpKind } from '../values/regexp.ts';

/** Where a piece of SQL will stand, the table that it looks at, and the tenant and days (`YYYY-MM-DD`) it is for. */
export type SqlContext = {
  readonly table: Table;
  readonly tenantId: number;
  readonly firstDay: string;
  readonly lastDay: string;
  /** In WHERE, where the text indexes answer; false elsewhere, where plain comparisons are faster. */
  readonly indexed: boolean;
  /** Fields that pipes have worked out, in place of those of the table: their strings; null for none, undefined where the table's holds. */
  readonly computed?: (field: string) => Sql | null | undefined;
  /** Is given the rows that a cheaper condition leaves in doubt. Absent: conditions must decide every row. */
  readonly doubt?: (rows: Sql) => void;
  /** Of promoted fields the columns of short values are there alone, or are tried first: is given the rows whose value was looked at and is longer. */
  readonly longer?: (rows: Sql) => void;
};

/** A condition on an entry. Prints itself so that it reads back as the same; missing fields are the empty string. */
export interface Filter {
  toString(): string;
  /** The fields whose values decide. */
  readonly fields: readonly string[];
  /** The parts of a composed filter. */
  readonly parts?: readonly Filter[];
  /** The same composed filter with other parts. */
  withParts?(parts: readonly Filter[]): Filter;
  /** A query whose values must be known before the filter can be used. */
  readonly subquery?: Subquery;
  matches(entry: LogEntry): boolean;
  /** The condition over the table of entries, never NULL; null when SQL cannot express it exactly. */
  sql(context: SqlContext): Sql | null;
}

/** A query inside a filter, the one field whose values it selects, and the filter once they are known. */
export type Subquery = {
  /** The name of the filter: `in`. */
  readonly name: string;
  readonly query: QueryNode;
  readonly field: string;
  resolve(values: readonly string[]): Filter;
  /** The filter with a SELECT of one column for the values: its SQL holds, and in memory it must be resolved as before. Absent where SQL has no such form. */
  readonly select?: (values: Sql) => Filter;
  /** The SELECT, where the filter has one. */
  readonly selected?: Sql;
};

/** A step of a pipeline at work: rows in, rows out; `flush` gives what was held back. `done`: no further row can matter. */
export interface Stage {
  push(row: LogEntry): Iterable<LogEntry>;
  flush(): Iterable<LogEntry>;
  readonly done?: boolean;
}

/** Runs another query, with its own subqueries, and gives its rows, entries newest first. */
export type RunRows = (query: QueryNode) => Promise<readonly LogEntry[]>;

/** What stages and plans need to know of the request: what it may hold, and its window in nanoseconds, both ends included. */
export type RunContext = { readonly memory: QueryMemory; readonly start: bigint; readonly end: bigint };

/** A step of a query after its filter. */
export interface Pipe {
  toString(): string;
  /** Rows can be sent on as they come, one by one: allowed in live tail. */
  readonly liveTail: boolean;
  /**
   * What becomes of rows: each gives one with maybe other fields (`same`), one or none (`fewer`), or several, in order (`more`); or
   * rows are not entries any more.
   */
  readonly rows: 'same' | 'fewer' | 'more' | 'reshaped';
  /** True for a pipe that reshapes nothing but which rows there are, by their order. */
  readonly isOrdered?: boolean;
  /** True when rows lose `_time`, or get another one. */
  readonly dropsTime?: boolean;
  /** The fields it needs of its input when these of its output are needed. */
  needs(output: FieldSet): FieldSet;
  stage(context: RunContext): Stage;
  /** For a pipe that looks beyond the rows it is given, and can only be the first: its rows, of the entries that match. */
  expand?(rows: readonly LogEntry[], run: RunRows, context: RunContext): Promise<LogEntry[]>;
  /** What becomes of each row in SQL, for a pipe that changes rows one by one; null (or absent) when SQL cannot express it exactly. */
  computes?(input: RowInput): RowChange | null;
  /** The whole pipe in SQL over the rows of `source`; null (or absent) when SQL cannot express it exactly. */
  sql?(input: SqlInput): SqlPipe | null;
  /**
   * `sql` holds too over rows that stand for several entries each, with `_time` cut down to a span of this many seconds; 0 or absent: it
   * must see each entry.
   */
  readonly countedSpan?: number;
  /** The same for a pipe that takes several statements: its rows, or null when SQL cannot express it exactly after all. */
  readonly gather?: ((input: SqlInput, runner: StatementRunner) => Promise<readonly LogEntry[] | null>) | undefined;
  /** How to make it hold less, for the error that a query took too much. */
  readonly advice?: string | undefined;
  /** The one field that `fields` or `uniq by` names, for a query inside a filter. */
  readonly singleField?: string | undefined;
  /** Queries whose rows it needs before it can start, and the pipe with these rows, one list for each. */
  readonly queries?: readonly QueryNode[];
  withRows?(rows: readonly (readonly LogEntry[])[]): Pipe;
  /** Filters inside it, for subqueries. */
  readonly filters?: readonly Filter[];
  withFilters?(filters: readonly Filter[]): Pipe;
}

/** What a pipe that changes rows stands on, in SQL. */
export interface RowInput {
  /** For conditions over the rows as they come in. */
  readonly context: SqlContext;
  readonly run: RunContext;
  /** The value of a field as a string ('' when missing); null where SQL has none. */
  text(field: string): Sql | null;
  /** A name for an expression that is needed more than once. */
  name(expression: Sql): Sql;
  /** Takes the rows for which the expressions are not right: where there are any, all is done in memory. */
  doubt(rows: Sql): void;
}

/** The strings of the fields that a pipe writes, and which of the others it keeps: all by default. */
export type RowChange = { readonly written: ReadonlyMap<string, Sql>; keeps?(field: string): boolean };

/** What a pipe that runs in ClickHouse stands on. */
export type SqlInput = {
  /** What stands after FROM: the table and its conditions. */
  readonly source: Sql;
  /** The column with the number of entries that a row of `source` stands for; null where each is one. */
  readonly entries: Sql | null;
  /** The same entries counted by these fields, and by spans of at most `span` seconds; null where nothing has counted them. */
  counts(fields: readonly string[], span: number): Counts | null;
  readonly context: SqlContext;
  /** The widest window that may be looked at, for a pipe that looks beyond the entries of `source`. */
  readonly widest: { readonly start: bigint; readonly end: bigint };
  /** True for rows of `source` of which the fields are not right; absent or null where all are. If one is true `decode` must give null. */
  readonly doubt?: Sql | null;
  readonly run: RunContext;
  /** Of the fields it gives, these are needed. */
  readonly output: FieldSet;
  /** The pipes that follow: rows that they leave out need not be given. Absent: none. */
  readonly rest?: readonly Pipe[];
};

/** Entries that are counted: what stands after FROM, with ENTRIES as `entries` (logsql/sql/counts.ts); where there is `doubt`, as SqlInput has it, another way. */
export type Counts = {
  readonly source: Sql;
  readonly doubt?: Sql;
  readonly otherwise?: Counts | null;
  /** A condition over entries: true for those that the rows in doubt count, which are right but for them. Absent: not known. */
  readonly inDoubt?: Sql;
};

/** A pipe as one SELECT, and its rows read back. */
export type SqlPipe = {
  readonly statement: Sql;
  /** The rows of the pipe's output that a row stands for, or null where all must be done in memory (see `otherwise` of the plan). */
  decode(row: readonly unknown[], streams: StreamNames): LogEntry | readonly LogEntry[] | null;
  /** Which columns hold stream ids whose labels `decode` needs. */
  readonly streamColumns: readonly number[];
  /** Puts its rows in their order, where SQL cannot. */
  readonly order?: Pipe;
  /** What of `SqlInput.rest` is left to do with its rows; absent: all of it. */
  readonly left?: readonly Pipe[];
  /** Another statement for the same, to run where `decode` gave null. */
  readonly otherwise?: SqlPipe;
};

/** Runs statements for a pipe. */
export type StatementRunner = {
  /** All rows; more bytes of them than the query may hold are an error. */
  rows(statement: Sql): Promise<readonly (readonly unknown[])[]>;
  /** The rows as they come, to be held by who takes them. */
  chunks(statement: Sql): AsyncIterable<readonly (readonly unknown[])[]>;
  /** The same over the first entries alone, about `entries`, of those that would be read. */
  sample(statement: Sql, entries: number): Promise<readonly (readonly unknown[])[]>;
  streams(ids: readonly string[]): Promise<StreamNames>;
};

/** A function of `stats` that can be worked out of parts in bounded space, as rules do (docs/rules.md); `phi` of a quantile, from 0 to 1. */
export type Measure = {
  readonly kind: 'count' | 'rate' | 'sum' | 'avg' | 'min' | 'max' | 'count_uniq' | 'quantile';
  readonly phi?: number;
};

/** A function of `stats`. */
export interface Stats {
  /** What it measures, where that can be worked out of parts. */
  readonly measure?: Measure | undefined;
  /** True when `sql` holds too over rows that stand for several entries each. */
  readonly onlyCounts?: boolean;
  /** `sum(a, b)`: also the default name of its result. */
  toString(): string;
  readonly fields: readonly string[];
  accumulator(context: StatsContext): Accumulator;
  /** Aggregates in SQL; null (or absent) when SQL cannot express it exactly. */
  sql?(input: StatsSqlInput): StatsSql | null;
}

/** What an accumulator knows of the request; `hold` counts the bytes it keeps from now on (below 0: keeps no more), and throws when they are too many. */
export type StatsContext = RunContext & {
  hold(bytes: number): void;
  /** Seconds that the group covers: those of its `_time` bucket, else of the window. */
  readonly seconds: number;
};

/** Gathers rows. */
export interface Accumulator {
  add(row: LogEntry): void;
  value(): FieldValue;
}

export type StatsSqlInput = {
  readonly context: SqlContext;
  readonly run: RunContext;
  /** The condition of `if (…)`. */
  readonly condition: Sql | null;
  readonly entries: SqlInput['entries'];
  /** Gives names to expressions over the rows that are needed more than once. */
  readonly layers: Pick<RowInput, 'name'>;
};
/**
 * Aggregate expressions, and how their values become the result of a group that covers `seconds` seconds. Null from `decode` means that
 * `otherwise` must compute it, which holds for more values and costs more, or where it is absent, memory.
 */
export type StatsSql = {
  readonly columns: readonly Sql[];
  decode(values: readonly unknown[], seconds: number): FieldValue | null;
  readonly otherwise?: (input: StatsSqlInput) => StatsSql | null;
  /** Where the result is a whole number: the expression of it, by which groups may be sorted. */
  readonly number?: Sql;
};

/** What parsers of parts may use of the parser of the whole. */
export interface Parser {
  readonly lexer: Lexer;
  /** What `now` means, in nanoseconds. */
  readonly now: bigint;
  /** A filter that begins something: not with the bare name of a pipe. */
  topFilter(): Filter;
  /** A filter up to `|`, `)` or the end. */
  filter(field: string): Filter;
  /** One filter without AND and OR around it. */
  single(field: string): Filter;
  /** A word or phrase that was read, as a filter: of `field`, or of the field that it names itself when `:` follows. */
  phrase(text: string, field: string): Filter;
  /** `(filter)` after `if`. */
  condition(): Filter;
  /** A whole query in parentheses. */
  query(): QueryNode;
  /** The regexp that was read at this place (`Lexer.save`), within what the regexps of a query may take together. */
  regexp(source: string, at: number, kind: RegexpKind): Regexp;
}

/** An example: a query (or what follows `* |`), entries, and the rows it gives, as plain objects. */
export type Example = {
  readonly query: string;
  readonly input: readonly Readonly<Record<string, string | number | boolean>>[];
  readonly output: readonly Readonly<Record<string, string | number | boolean>>[];
};

export interface FilterSpec {
  /** Names of functions (`in`), used only when `(` follows; operators (`=`); fields with a grammar of their own (`_time`). */
  readonly names: readonly string[];
  readonly kind: 'function' | 'operator' | 'field';
  /** What may follow a function's name; `(` alone by default. */
  readonly opens?: readonly string[];
  readonly examples: readonly Example[];
  /** Reads from the name on. `field` is '' where none was written (it means `_msg`). */
  parse(parser: Parser, field: string): Filter;
}

export interface PipeSpec {
  readonly names: readonly string[];
  readonly examples: readonly Example[];
  parse(parser: Parser): Pipe;
}

export interface StatsSpec {
  readonly names: readonly string[];
  readonly examples: readonly Example[];
  parse(parser: Parser): Stats;
}

/** Options in front of a query. */
export type QueryOptions = { readonly concurrency?: number; readonly ignoreGlobalTimeFilter?: boolean };

/** A parsed query. */
export interface QueryNode {
  readonly options: QueryOptions;
  readonly filter: Filter;
  readonly pipes: readonly Pipe[];
  toString(): string;
}
