/**
 * How a query runs: the longest beginning of it that ClickHouse can do exactly, as one SELECT, and the rest in memory over its rows.
 * Filters are in SQL nearly always; a filter pipe at the beginning joins them. `stats`, `uniq`, `top` and sorting by `_time` follow.
 */
import type { LogEntry } from '../../pipeline/core/entry.ts';
import { join, sql, uint32, uint64, type Sql } from '../../pipeline/core/sql.ts';
import { FieldSet, coversField } from '../base/fields.ts';
import { allOf } from '../filters/logic.ts';
import { momentSql } from '../sql/time.ts';
import { FieldsPipe } from '../pipes/fields.ts';
import { FilterPipe } from '../pipes/filter.ts';
import { LimitPipe, OffsetPipe } from '../pipes/limit.ts';
import { splitHead } from '../evaluation/head.ts';
import { startsNewest } from '../evaluation/pipeline.ts';
import { SortPipe } from '../pipes/sort.ts';
import { StatsPipe } from '../pipes/stats.ts';
import { UniqPipe } from '../pipes/uniq.ts';
import { computeRows } from '../pipes/computed-fields.ts';
import { conditionsOf, within } from './conditions.ts';
import { daysOf } from '../sql/days.ts';
import { hourlyCounts, type Counted } from './hourly.ts';
import { ENTRIES } from '../sql/counts.ts';
import { PLACE, POSITION, POSITION_COLUMNS, placeSql, positionAt } from '../sql/places.ts';
import { StatementBudget } from '../sql/statement-budget.ts';
import { fieldText, longerSql, or } from '../sql/text.ts';
import { volumeCounts, type VolumeCover } from './volume.ts';
import { narrowWindow } from '../evaluation/narrow-window.ts';
import type { StreamNames, Table } from '../base/table.ts';
import type { TimeWindow } from '../base/time-window.ts';
import type { QueryMemory } from '../base/memory.ts';
import type { AggregatePlan, EntriesPlan, ExpandPlan, GatherPlan, Plan, ReshapedPlan } from './plan.ts';
import type { Position } from '../base/position.ts';
import type { Counts, Filter, Pipe, QueryNode, RunContext, SqlContext, SqlInput, SqlPipe } from '../base/types.ts';

export type PlanOptions = {
  readonly table: Table;
  readonly tenantId: number;
  /** The window in nanoseconds, both ends included. */
  readonly start: bigint;
  readonly end: bigint;
  /** The widest window this tenant may see: the floor of its retention. No statement looks beyond it, whatever window is requested. */
  readonly widest: { readonly start: bigint; readonly end: bigint };
  /** What the query may hold. */
  readonly memory: QueryMemory;
  /** What every entry must match, also those of subqueries. */
  readonly extra?: Filter;
  /** How far the log is counted; null or absent: entries are counted each time. */
  readonly cover?: VolumeCover | null;
  /** Only entries before this place (or strictly before this time). */
  readonly before?: Position | bigint;
  /** Entries oldest first; a page then goes on with newer ones. */
  readonly oldestFirst?: true;
  /** Entries have `_stream_id` also where the query does not name it. */
  readonly streamIds?: true;
};

/** Plans a query whose subqueries are resolved. A query may have an option to read all times, not the window of the request. */
export function planQuery(query: QueryNode, options: PlanOptions): Plan {
  const inside = insideOf(query, options);
  const { start, end } = inside;
  const [first, ...rest] = query.pipes;
  if (first?.expand === undefined) return planPipes(query, inside);
  const own = { ...withoutCursor(options), start, end };
  const matching = planPipes({ ...query, pipes: [] }, own);
  if (matching.kind !== 'entries') throw new Error('BUG: entries that match have no plan of entries.');
  const expand: ExpandPlan = { kind: 'expand', matching, pipe: first, pipes: rest, run: { memory: options.memory, start, end } };
  // what is looked at beyond the matches would have to match the extra filter too
  const direct = options.extra === undefined ? planPipes(query, own) : null;
  return direct?.kind === 'gather' ? { ...direct, otherwise: expand } : expand;
}

/** The options with the window that a query looks at: its own, or all times. */
function insideOf(query: QueryNode, options: PlanOptions): PlanOptions {
  const { start, end } = query.options.ignoreGlobalTimeFilter === true ? options.widest : options;
  return { ...options, start, end };
}

/** The options for a query inside of another: the cursor, and how entries are given, are of the outer one alone. */
export function withoutCursor({ table, tenantId, start, end, widest, memory, cover = null, extra }: PlanOptions): PlanOptions {
  return { table, tenantId, start, end, widest, memory, cover, ...(extra === undefined ? {} : { extra }) };
}

function planPipes(query: QueryNode, options: PlanOptions): Exclude<Plan, { readonly kind: 'expand' }> {
  const { pipes, conditions, residual, quick, short, counts, context, run } = headOf(query, options);
  const where = { conditions, quick: residual === null ? quick() : null };
  const inMemory = planEntries(residual === null ? pipes : [new FilterPipe(residual), ...pipes], where, run, options);
  if (residual !== null) return inMemory;
  const sources = { entries: context.table.matching(conditions), short, counts, widest: options.widest };
  return planAggregate(pipes, sources, context, run, inMemory) ?? inMemory;
}

/** What a query reads, its window being that of the options, and the pipes that come then. */
function headOf(query: QueryNode, options: PlanOptions) {
  const { filter, pipes } = splitHead(query, options.extra);
  const window = windowFor(filter, options);
  const run: RunContext = { memory: options.memory, start: window.start, end: window.end };
  const context: SqlContext = { table: options.table, tenantId: options.tenantId, ...daysOf(window), indexed: true };
  const counts = (fields: readonly string[], span: number): Counts | null =>
    options.before === undefined ? countsOf(filter, { fields, span }, window, context, options.cover) : null;
  const { before } = options;
  const place = before === undefined || typeof before === 'bigint' ? [] : [beforeSql(before)];
  const { conditions, rest } = conditionsOf(filter, window, context, 'none');
  const quick = (): Quick | null => {
    const { conditions, rest, doubt } = conditionsOf(filter, window, context, 'inDoubt');
    return doubt === null || rest.length > 0 ? null : { conditions: [...conditions, ...place], doubt };
  };
  const short = (): Quick | null => {
    const { conditions, rest, doubt } = conditionsOf(filter, window, context, 'longer');
    return doubt === null || rest.length > 0 ? null : { conditions: [...conditions, ...place], doubt };
  };
  return {
    ...{ pipes, run, context, counts, quick, short },
    ...{ conditions: [...conditions, ...place], residual: rest.length === 0 ? null : allOf(rest) },
  };
}

/** A SELECT of the values of a field, each once, which fails where they exceed the query's memory; null where one SELECT cannot. */
export function planValues(query: QueryNode, field: string, options: PlanOptions): Sql | null {
  const { pipes, conditions, residual, counts, context, run } = headOf(query, insideOf(query, options));
  const before = residual === null ? beforeValues(pipes, field) : null;
  if (before === null) return null;
  const counted = before.length === 0 && field !== '_stream_id' ? counts([field], Infinity) : null;
  const { table } = context;
  const entries = table.matching(conditions);
  const rows = before.length === 0 ? { source: entries, context, doubt: null } : computeRows([...before, valuesOf(field)], entries, context, run); // prettier-ignore
  const value = rows === null || rows.doubt !== null ? null : fieldText(field, rows.context);
  if (rows === null || value === null) return null;
  const { maxRows, maxBytes } = options.memory.left;
  const short = fieldText(field, ofShort(context)) ?? value;
  // those in doubt are counted by their entries
  const ofRowsInDoubt = ({ source, doubt, inDoubt }: Counts): Sql | null =>
    doubt === undefined || inDoubt === undefined
      ? null
      : sql`v FROM (SELECT toString(${short}) AS v FROM ${source} WHERE NOT ${doubt} UNION ALL SELECT toString(${value}) AS v FROM ${table.matching([...conditions, inDoubt])})`;
  const ofEntries = sql`toString(${value}) FROM ${rows.source}`;
  const selected = counted === null ? ofEntries : counted.doubt === undefined ? sql`toString(${short}) FROM ${counted.source}` : (ofRowsInDoubt(counted) ?? ofEntries); // prettier-ignore
  return sql`SELECT DISTINCT ${selected} SETTINGS max_rows_in_distinct = ${uint64(maxRows)}, max_bytes_in_distinct = ${uint64(maxBytes)}, distinct_overflow_mode = 'throw'`;
}

/** Over columns of short values alone, where rows with longer ones are in doubt. */
const ofShort = (context: SqlContext): SqlContext => ({ ...context, longer: () => undefined });

const valuesOf = (field: string): UniqPipe => new UniqPipe([field], null, Infinity);

/** The pipes before those that give nothing but the values of a field; null where others do. */
function beforeValues(pipes: readonly Pipe[], field: string): readonly Pipe[] | null {
  const last = pipes.at(-1);
  const groups = pipes.at(-2);
  const isKey = groups instanceof StatsPipe && groups.by.some(({ name, bucket }) => name === field && bucket === null);
  if (last instanceof UniqPipe && last.limit < Infinity) return null;
  const before = pipes.slice(0, isKey && groups.calls.every(({ name }) => name !== field) ? -2 : -1);
  return before.some((pipe) => pipe.sql !== undefined) ? null : before;
}

/** What has counted the entries already, if anything. */
function countsOf(filter: Filter, counted: Counted, window: TimeWindow, context: SqlContext, cover: PlanOptions['cover']): Counts | null {
  if (!context.table.isCounted) return null;
  const volume = cover == null ? null : volumeCounts(filter, counted, window, context, cover);
  if (volume !== null && volume.doubt === undefined) return volume;
  const otherwise = hourlyCounts(filter, counted, window, context);
  return volume === null ? otherwise : { ...volume, otherwise };
}

/** The window cut down to what the tenant may see, by time filters that every entry must pass, and by the cursor. */
function windowFor(filter: Filter, { start, end, widest, before }: PlanOptions): TimeWindow {
  const window = narrowWindow(filter, { start: start > widest.start ? start : widest.start, end: end < widest.end ? end : widest.end });
  const last = typeof before === 'bigint' ? before - 1n : before === undefined ? window.end : BigInt(before.time);
  return last < window.end ? { ...window, end: last } : window;
}

/** Entries that come after this place in the order newest first. */
const beforeSql = (position: Position): Sql => sql`${PLACE} < ${placeSql(position)}`;
/** Entries that come after this place in the order oldest first. */
const afterSql = (position: Position): Sql => sql`${PLACE} > ${placeSql(position)}`;

/** The page that begins behind a place; by time alone first, which the primary key answers. */
const downwardsFrom = (place: Position): Sql => sql`${beforeSql(place)} AND _time <= ${momentSql(BigInt(place.time))}`;
const upwardsFrom = (place: Position): Sql => sql`${afterSql(place)} AND _time >= ${momentSql(BigInt(place.time))}`;

/** Cheaper conditions, and what is true for rows that meet them and may not match. */
type Quick = { readonly conditions: readonly Sql[]; readonly doubt: Sql };
type Where = { readonly conditions: readonly Sql[]; readonly quick: Quick | null };

/** What the SELECT of entries does in addition to reading them. */
type Cut = {
  readonly order: 'newest' | 'oldest';
  readonly offset: number;
  readonly limit: number;
  readonly pipes: readonly Pipe[];
  readonly isReshaped: boolean;
};

const MAX_UINT32 = 0xffffffff;

/** What gives the SELECT of some columns of rows that meet conditions; where there may be copies, each row once (`isOnce`). */
const selectOf =
  (table: Table, cut: Cut, isNewest: boolean) =>
  (list: readonly Sql[], where: readonly Sql[], limit: number | null, isOnce: boolean): Sql => {
    const most = Math.min(cut.limit, limit ?? Infinity);
    const top = most === Infinity ? sql`` : sql` LIMIT ${uint32(Math.min(most, MAX_UINT32))}`;
    const skip = cut.offset === 0 ? sql`` : sql` OFFSET ${uint32(Math.min(cut.offset, MAX_UINT32))}`;
    const rows = isOnce ? table.matching(where) : table.where(where);
    return sql`SELECT ${join(list, COMMA)} FROM ${rows}${isNewest ? NEWEST : OLDEST}${top}${skip}`;
  };

function planEntries(
  pipes: readonly Pipe[],
  { conditions, quick }: Where,
  run: RunContext,
  options: PlanOptions,
): EntriesPlan | ReshapedPlan {
  const cut = absorb(pipes);
  const fields = cut.pipes.reduceRight((output, pipe) => pipe.needs(output), FieldSet.all);
  const { table } = options;
  const { identity, render } = table;
  const columns = table.entryColumns(fields, options.tenantId, options.streamIds);
  const isPaged = !cut.isReshaped && cut.pipes.every((pipe) => pipe.rows === 'same' || pipe.rows === 'fewer') && keepsTime(cut.pipes);
  const isUpwards = isPaged && options.oldestFirst === true;
  const isNewest = cut.order === 'newest' && !isUpwards;
  const statement = selectOf(table, cut, isNewest);
  const keepsAll = cut.pipes.every((pipe) => pipe.rows === 'same');
  const common = { keepsAll, streamColumns: columns.streamColumns, pipes: cut.pipes, run };
  const decode = (row: readonly unknown[], streams: StreamNames): LogEntry => columns.decode(row, streams);
  if (!isPaged)
    return {
      kind: 'reshaped',
      ...common,
      decode,
      statement: (limit) => statement([columns.list], conditions, limit, identity !== undefined),
    };
  const isWhole = cut.pipes.length === 0 && fields === FieldSet.all && options.streamIds === undefined;
  const identityAt = columns.count + POSITION_COLUMNS;
  const doubtAt = identity === undefined ? identityAt : identityAt + 1;
  return {
    kind: 'entries',
    ...common,
    decode,
    ...(isWhole && render !== undefined
      ? { render: (texts: readonly string[], streams: StreamNames) => render(texts, streams, columns) }
      : {}),
    position: (row) => positionAt(row, columns.count),
    ...(identity === undefined ? {} : { identity: (row: readonly unknown[]) => String(row[identityAt]) }),
    statement: ({ limit, after, slice, isQuick }) => {
      const from = after === undefined ? [] : [isUpwards ? upwardsFrom(after) : downwardsFrom(after)];
      const inside = [...(slice === undefined ? [] : within(slice)), ...from];
      const isShort = isQuick === true && quick !== null;
      const where = isShort ? quick.conditions : conditions;
      const list = [
        columns.list,
        POSITION,
        ...(identity === undefined ? [] : [identity]),
        ...(isShort ? [sql`toUInt8(${quick.doubt})`] : []),
      ];
      // of copies in a page the first one counts: they are told by who reads it
      return statement(list, [...where, ...inside], limit, identity !== undefined && (limit === null || !isNewest));
    },
    ...(quick === null ? {} : { isInDoubt: (row: readonly unknown[]) => Number(row[doubtAt]) > 0 }),
    isNewestFirst: isNewest,
    look: table.look(quick?.conditions ?? conditions),
  };
}

const COMMA = sql`, `;
const NEWEST = sql` ORDER BY _time DESC, arrived DESC, kafka_part DESC, kafka_off DESC, kafka_idx DESC`;
const OLDEST = sql` ORDER BY _time, arrived, kafka_part, kafka_off, kafka_idx`;

/** Takes sorting by `_time`, limits and offsets at the beginning into the SELECT; `fields` may stand before them. */
function absorb(pipes: readonly Pipe[]): Cut {
  const first = pipes.findIndex((pipe) => !(pipe instanceof FieldsPipe));
  const kept = pipes.slice(0, first < 0 ? pipes.length : first);
  const rest = first < 0 ? [] : pipes.slice(first);
  let [order, offset, limit, taken]: ['newest' | 'oldest' | null, number, number, number] = [null, 0, Infinity, 0];
  for (const pipe of rest) {
    if (pipe instanceof SortPipe && taken === 0 && timeOrder(pipe) !== null) {
      order = timeOrder(pipe);
      ({ offset, limit } = pipe.options);
    } else if (pipe instanceof LimitPipe) limit = Math.min(limit, pipe.limit);
    else if (pipe instanceof OffsetPipe) {
      offset += pipe.offset;
      limit = Math.max(0, limit - pipe.offset);
    } else break;
    taken += 1;
  }
  const left = [...kept, ...rest.slice(taken)];
  const needsOrder = taken > 0 || startsNewest(left);
  return { order: order ?? (needsOrder ? 'newest' : 'oldest'), offset, limit, pipes: left, isReshaped: taken > 0 };
}

/** The order of a sort by nothing but `_time`, or null. */
function timeOrder({ options: { keys, isDescending, rank, partition } }: SortPipe): 'newest' | 'oldest' | null {
  const [key] = keys;
  if (key === undefined || keys.length > 1 || key.field !== '_time' || rank !== null || partition.length > 0) return null;
  return key.isDescending !== isDescending ? 'newest' : 'oldest';
}

/** True when `_time` comes through all pipes as it is. */
const keepsTime = (pipes: readonly Pipe[]): boolean => pipes.every((pipe) => pipe.dropsTime !== true);

/** What aggregates read: the entries, or where they only count and look at these fields alone, the hourly counts. */
type Sources = Pick<SqlInput, 'counts' | 'widest' | 'doubt'> & {
  readonly entries: Sql;
  /** The entries by the columns of short values alone; null where the others are not asked for. */
  readonly short?: () => Quick | null;
  /** Promoted fields have long values: both of their columns must be read. */
  readonly hasLong?: true;
};
const nothingCounted = (): null => null;

/** The first pipe that groups or counts, in SQL, if SQL can express it and nothing before it prevents that. */
function planAggregate(
  pipes: readonly Pipe[],
  sources: Sources,
  context: SqlContext,
  run: RunContext,
  otherwise: EntriesPlan | ReshapedPlan,
): AggregatePlan | GatherPlan | null {
  const at = pipes.findIndex((pipe) => !(pipe instanceof FieldsPipe));
  const pipe = pipes[at];
  if (pipe?.sql === undefined && pipe?.gather === undefined) {
    const rows = computeRows(pipes, sources.entries, context, run);
    return rows === null
      ? null
      : planAggregate(
          rows.pipes,
          { ...rows, entries: rows.source, counts: nothingCounted, widest: sources.widest },
          rows.context,
          run,
          otherwise,
        );
  }
  const rest = pipes.slice(at + 1);
  const output = rest.reduceRight((needed, next) => next.needs(needed), FieldSet.all);
  const patterns = pipes.slice(0, at).flatMap((before) => (before instanceof FieldsPipe ? [before.patterns] : []));
  const needed = pipe.needs(output).list();
  if (patterns.length > 0 && needed?.every((field) => patterns.every((list) => coversField(list, field))) !== true) return null;
  // the statement holds all of the pipe, also what no later pipe reads
  const span = pipe.countedSpan ?? 0;
  const looked = span > 0 ? pipe.needs(FieldSet.all).list() : null;
  const counts = looked === null ? null : sources.counts(looked, span);
  const entries = counts === null ? null : ENTRIES;
  const { short, longer } = counts === null ? shortOf(pipe, sources, context) : ALL_COLUMNS;
  const doubts = [counts?.doubt ?? sources.doubt ?? [], longer].flat();
  const input: SqlInput = {
    source: counts?.source ?? (short === null ? sources.entries : context.table.matching(short.conditions)),
    entries,
    counts: sources.counts,
    widest: sources.widest,
    doubt: doubts.length > 1 ? or(doubts) : (doubts[0] ?? null),
    context: counts === null && longer.length === 0 ? context : ofShort(context),
    run,
    output,
    rest,
  };
  const { gather } = pipe;
  if (gather !== undefined) return { kind: 'gather', pipes: rest, run, otherwise, gather: (runner) => gather.call(pipe, input, runner) };
  const entirely = (): AggregatePlan | EntriesPlan | ReshapedPlan => {
    if (counts?.doubt === undefined && longer.length === 0) return otherwise;
    const next = counts?.doubt === undefined ? {} : { counts: () => counts.otherwise ?? null };
    const hasLong = longer.length > 0 || counts?.inDoubt !== undefined ? ({ hasLong: true } as const) : {};
    const plan = planAggregate(pipes, { ...sources, ...next, ...hasLong }, context, run, otherwise);
    return plan?.kind === 'aggregate' ? plan : otherwise;
  };
  return aggregatePlan(pipe.sql?.(input) ?? null, rest, run, entirely);
}

const ALL_COLUMNS = { short: null, longer: [] };

/** What a pipe reads of columns of short values alone, and the rows for which that is not right; it must look at no other fields. */
function shortOf(pipe: Pipe, sources: Sources, context: SqlContext): { readonly short: Quick | null; readonly longer: readonly Sql[] } {
  const looked = pipe.needs(FieldSet.all).list();
  if (sources.hasLong !== undefined || pipe.gather !== undefined || looked === null) return ALL_COLUMNS;
  const short = sources.short?.() ?? null;
  return { short, longer: [short?.doubt ?? [], longerSql(looked, context) ?? []].flat() };
}

/** The plan of a pipe in SQL, and of each other form of it; `entirely` is its fallback where none holds for the data. */
function aggregatePlan(
  made: SqlPipe | null,
  rest: readonly Pipe[],
  run: RunContext,
  entirely: () => AggregatePlan['otherwise'],
): AggregatePlan | null {
  if (made === null || !new StatementBudget().take(made.statement)) return null;
  return {
    kind: 'aggregate',
    pipes: [...(made.order === undefined ? [] : [made.order]), ...(made.left ?? rest)],
    run,
    statement: made.statement,
    streamColumns: made.streamColumns,
    decode: (row, streams) => made.decode(row, streams),
    otherwise: aggregatePlan(made.otherwise ?? null, rest, run, entirely) ?? entirely(),
  };
}
