/** What a query is that is ready to run: which statements, and what is left to do in memory. */
import type { LogEntry } from '../../pipeline/core/entry.ts';
import type { Sql } from '../../pipeline/core/sql.ts';
import type { StatementRunner, Pipe, RunContext } from '../base/types.ts';
import type { Look, StreamNames } from '../base/table.ts';
import type { Position } from '../base/position.ts';
import type { TimeWindow } from '../base/time-window.ts';

/** What is left to do in memory, in order, over the rows of the statements. */
type Left = { readonly pipes: readonly Pipe[]; readonly run: RunContext };

/** How the rows of a SELECT are read as entries. */
type Columns = {
  /** Those that hold ids of streams, whose labels `decode` needs. */
  readonly streamColumns: readonly number[];
  decode(row: readonly unknown[], streams: StreamNames): LogEntry;
  /** True when each entry gives one row: a limit on the answer is one on the SELECT. */
  readonly keepsAll: boolean;
};

/** What of a plan of entries one statement reads. */
export type Page = {
  /** At most this number of entries; null: all. */
  readonly limit: number | null;
  /** Those behind this place. */
  readonly after?: Position | undefined;
  /** Those of a part of the window. */
  readonly slice?: TimeWindow | undefined;
  /** Sooner, with rows that may not match (`isDoubtful`): what comes from the first of them on is to be read without it. */
  readonly isQuick?: boolean;
};

/** Rows are entries in the order of their places, so that a page goes on where another one ended. */
export type EntriesPlan = Left &
  Columns & {
    readonly kind: 'entries';
    statement(page: Page): Sql;
    position(row: readonly unknown[]): Position;
    /** True for a row of a quick statement that may not match; absent where no statement is quicker. */
    readonly isInDoubt?: ((row: readonly unknown[]) => boolean) | undefined;
    readonly isNewestFirst: boolean;
    /** What copies of an entry share, of which the first one counts; absent where there are none in a statement with a limit. */
    readonly identity?: (row: readonly unknown[]) => string;
    /** Which entries are looked at until there are enough that match. */
    readonly look: Look;
    /** For a plan of whole entries: the entry's JSON string out of the JSON strings of a row. */
    readonly render?: (texts: readonly string[], streams: StreamNames) => string;
  };

/** Entries of which pipes make rows that have no place any more. */
export type ReshapedPlan = Left & Columns & { readonly kind: 'reshaped'; statement(limit: number | null): Sql };

/** One SELECT that groups or counts. */
export type AggregatePlan = Left & {
  readonly kind: 'aggregate';
  readonly statement: Sql;
  readonly streamColumns: readonly number[];
  /** The rows that a row stands for; null when this plan does not hold for the data. */
  decode(row: readonly unknown[], streams: StreamNames): LogEntry | readonly LogEntry[] | null;
  /** The plan for data that this one does not hold for. */
  readonly otherwise: AggregatePlan | EntriesPlan | ReshapedPlan;
};

/** Several statements, one after another. */
export type GatherPlan = Left & {
  readonly kind: 'gather';
  /** The rows; null when this plan does not hold for the data. */
  gather(runner: StatementRunner): Promise<readonly LogEntry[] | null>;
  readonly otherwise: EntriesPlan | ReshapedPlan | ExpandPlan;
};

/** Entries that match, and what a pipe makes of them by querying more. */
export type ExpandPlan = Left & {
  readonly kind: 'expand';
  readonly matching: EntriesPlan | ReshapedPlan;
  readonly pipe: Pipe;
};

export type Plan = EntriesPlan | ReshapedPlan | AggregatePlan | GatherPlan | ExpandPlan;
