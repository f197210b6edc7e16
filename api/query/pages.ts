/** Page after page of a plan of entries, until there are enough: over the whole window, or slice after slice of it. */
import type { Sql } from '../../pipeline/core/sql.ts';
import type { QueryOptions } from '../../pipeline/store/client.ts';
import type { EntriesPlan } from '../../logsql/planner/plan.ts';
import type { Position } from '../../logsql/base/position.ts';
import type { TimeWindow } from '../../logsql/base/time-window.ts';
import type { Chunk, Runner, Wanted } from './runner.ts';
import { firstSlice, isPlanned, nextSlice, type Slice } from './slices.ts';

/** First page when rows may be dropped in memory, and how pages grow until enough are found. */
const FIRST_PAGE = 1000;
const PAGE_GROWTH = 4;
const MAX_PAGE = 64_000;
/** ClickHouse ends a page early that takes this much of its memory; one that has an eighth of it here may have been ended. */
const PAGE_BYTES = 48 * 1024 * 1024;
const MAYBE_CUT_BYTES = PAGE_BYTES / 8;
/** A part of a page: its rows, how many entries were read for it, the place of the last one; cut before one in doubt. */
export type Part<T> = Chunk<T> & { readonly read: number; readonly bytes: number; readonly isCut: boolean; last(): Position };
export type ReadPage<T> = (statement: Sql, size: number, options: QueryOptions) => AsyncIterable<Part<T>>;

/** How far the reading of a plan has come. */
type Progress = { left: number; place: Position | undefined; size: number; isQuick: boolean };

/** Page after page of entries until there are enough. */
export async function* pages<T>(
  plan: EntriesPlan,
  runner: Runner,
  { limit = Infinity, after }: Wanted,
  readPage: ReadPage<T>,
): AsyncGenerator<Chunk<T>> {
  const { densities, options } = runner;
  const size = plan.keepsAll ? limit : Math.max(FIRST_PAGE, limit);
  const progress: Progress = { left: limit, place: after, size, isQuick: plan.isInDoubt !== undefined };
  if (limit === Infinity || !plan.isNewestFirst) yield* pagesOf(plan, progress, options, readPage);
  else if (plan.look === 'texts' || plan.look === 'scattered') yield* slices(plan, progress, runner, readPage);
  else if (plan.look === 'columns') yield* noted(plan, progress, runner, readPage);
  else {
    const atOnce = isPlanned(densities?.rowsIn(plan.run, options.tenantId) ?? 0) ? { use_skip_indexes_on_data_read: 0 } : {};
    yield* pagesOf(plan, progress, { ...options, settings: { ...options.settings, ...atOnce } }, readPage);
  }
}

/** The same, slice after slice of the window. */
async function* slices<T>(
  plan: EntriesPlan,
  progress: Progress,
  { densities, options }: Runner,
  readPage: ReadPage<T>,
): AsyncGenerator<Chunk<T>> {
  const { tenantId } = options;
  const rows = densities?.rowsIn(plan.run, tenantId) ?? 0;
  const isScattered = plan.look === 'scattered';
  for (let slice: Slice | null = firstSlice(windowOf(plan, progress.place), rows, isScattered); slice !== null;) {
    const { left, place } = progress;
    const within: Slice = slice;
    const reads: number[] = [];
    const own = { ...withOrder(options, within), onRead: (rows: number) => void reads.push(rows) };
    yield* pagesOf(plan, progress, own, readPage, within);
    const isWhole = progress.left > 0 || isScattered;
    const [read, ...more] = reads;
    // the rows of further pages are only a part of the slice
    if (isWhole && read !== undefined && more.length === 0 && place === undefined) densities?.saw(read, within, tenantId);
    if (progress.left <= 0) return;
    slice = nextSlice(within, plan.run.start, left - progress.left, progress.left);
    progress.place = undefined;
  }
}

/** The same of a plan that looks at all entries until there are enough: how many that were is noted. */
async function* noted<T>(
  plan: EntriesPlan,
  progress: Progress,
  { densities, options }: Runner,
  readPage: ReadPage<T>,
): AsyncGenerator<Chunk<T>> {
  const { end } = windowOf(plan, progress.place);
  const reads: number[] = [];
  try {
    yield* pagesOf(plan, progress, { ...options, onRead: (rows) => void reads.push(rows) }, readPage);
  } finally {
    const [rows, ...more] = reads;
    const start = progress.left <= 0 && progress.place !== undefined ? BigInt(progress.place.time) : plan.run.start;
    if (rows !== undefined && more.length === 0) densities?.saw(rows, { start, end }, options.tenantId);
  }
}

/** The pages of a slice, or of the whole window. */
async function* pagesOf<T>(
  plan: EntriesPlan,
  progress: Progress,
  options: QueryOptions,
  readPage: ReadPage<T>,
  slice?: Slice,
): AsyncGenerator<Chunk<T>> {
  if (plan.keepsAll) progress.size = progress.left;
  for (;;) {
    const { size, place, isQuick } = progress;
    let [count, bytes, isCut] = [0, 0, false];
    const statement = plan.statement({ limit: size === Infinity ? null : size, after: place, slice, isQuick });
    for await (const part of readPage(statement, size, options)) {
      count += part.read;
      bytes += part.bytes;
      if (part.read > 0) progress.place = part.last();
      const kept = part.rows.length > progress.left ? part.rows.slice(0, progress.left) : part.rows;
      progress.left -= kept.length;
      if (kept.length > 0) yield { rows: kept, placeOf: part.placeOf };
      if (progress.left <= 0) return;
      isCut = part.isCut;
      if (isCut) break;
    }
    const isWhole = count < size && bytes < MAYBE_CUT_BYTES;
    if (isCut) progress.isQuick = false;
    else if (size === Infinity || count === 0 || isWhole) return;
    progress.size = plan.keepsAll ? progress.left : Math.min(MAX_PAGE, size * PAGE_GROWTH);
  }
}

/** The window of a plan from a place on. */
const windowOf = ({ run: { start, end } }: EntriesPlan, after: Position | undefined): TimeWindow => ({
  start,
  end: after !== undefined && BigInt(after.time) < end ? BigInt(after.time) : end,
});

/** Without the order of the table a statement is read in all threads; what it has found so far would not leave out enough of the rest. */
const UNORDERED_SETTINGS = { optimize_read_in_order: 0, use_top_k_dynamic_filtering: 0, use_skip_indexes_for_top_k: 0 };
export const withOrder = (options: QueryOptions, { isOrdered }: Pick<Slice, 'isOrdered'>): QueryOptions =>
  isOrdered ? options : { ...options, settings: { ...options.settings, ...UNORDERED_SETTINGS } };

/** A page ends where it takes much of ClickHouse's memory. */
export const withinPage = (options: QueryOptions): QueryOptions => ({
  ...options,
  settings: { ...options.settings, max_result_bytes: String(PAGE_BYTES), result_overflow_mode: 'break' },
});
/** Entries without an end come as they are found, not after all of them. */
export const asFound = (options: QueryOptions): QueryOptions => ({ ...options, settings: { ...options.settings, wait_end_of_query: 0 } });
