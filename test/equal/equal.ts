/** Random queries over random entries, in memory and in ClickHouse: the property that both back ends of LogsQL are equal. */
import { renderEntry, textOf, type LogEntry } from '../../pipeline/core/entry.ts';
import { LOGS } from '../../logsql/sql/logs-table.ts';
import { SPANS } from '../../logsql/sql/spans-table.ts';
import { Random } from '../fuzz/random.ts';
import { LogsqlStore } from '../e2e/logsql-store.ts';
import { ALWAYS, Comparison, MANY, parsed, type DataSet, type Difference, type How, type Window } from './compare.ts';
import { randomEntries, wideEntries } from './entries.ts';
import { randomFilter, type Source } from './filters.ts';
import { PROMOTED_NAMES, longEntries } from './long-entries.ts';
import { randomPipes, type RandomPipes } from './pipes.ts';
import { shrinkList, shrinkQuery } from './shrink.ts';
import { SPAN_NAMES, randomSpanRows } from './spans.ts';

export type EqualOptions = {
  /** How many queries are compared, each over the entries of one set. */
  readonly pairs: number;
  readonly seed: number;
  /** One in so many queries has pipes and runs through the planner; the rest are filters, many in one statement. */
  readonly wholeOneIn: number;
  /** Which entries are asked for: of all kinds where it is absent, or those of promoted fields of any length alone; or spans. */
  readonly kind?: 'long' | 'spans';
  /** Is called once the entries are there, before any query. */
  readonly loaded?: (own: LogsqlStore) => Promise<void>;
  /** Where the entries lie; in tables of their own by default. */
  readonly open?: () => Promise<LogsqlStore>;
  /** Is called before the entries are there. */
  readonly prepared?: (own: LogsqlStore) => Promise<void>;
  /** The pipes of those that have some; `randomPipes` where none is given. */
  readonly pipes?: (source: Source) => RandomPipes;
  readonly progress: (line: string) => void;
};
/** What was compared, and the counterexamples, made small. */
export type EqualReport = { readonly filters: number; readonly queries: number; readonly counterexamples: readonly string[] };

const SETS = 3;
const ENTRIES = 300;
/** In the set where limits on different values bite, which is asked once in so many rounds. */
const WIDE_ENTRIES = 2500;
const WIDE_ONE_IN = 8;
const LONG_ENTRIES = 250;
/** Filters in one statement. */
const BATCH = 24;
const MOST_COUNTEREXAMPLES = 10;

/** Compares until so many pairs are done or too many differ. */
export async function checkEqual({ pairs, seed, wholeOneIn, pipes = randomPipes, progress, ...how }: EqualOptions): Promise<EqualReport> {
  const own = await (how.open ?? (() => LogsqlStore.start()))();
  try {
    await how.prepared?.(own);
    const comparison = new Comparison(own, how.kind === 'spans' ? SPANS : LOGS);
    const random = new Random(seed);
    const { sets, wide } = await loadSets(comparison, random, how.kind);
    await how.loaded?.(own);
    const counterexamples: string[] = [];
    let [filters, queries, shown] = [0, 0, 0];
    while (filters + queries < pairs && counterexamples.length < MOST_COUNTEREXAMPLES) {
      const set = wide !== null && random.below(WIDE_ONE_IN) === 0 ? wide : random.pick(sets);
      const source: Source = { random, entries: set.entries, names: set.names, isWhole: false };
      const found = await compareRound(comparison, set, source, { wholeOneIn, pipes });
      filters += found.filters;
      queries += found.queries;
      counterexamples.push(...found.counterexamples);
      for (const text of found.counterexamples) progress(text);
      if (filters + queries - shown >= 5000) progress(`${String((shown = filters + queries))} of ${String(pairs)} pairs`);
    }
    return { filters, queries, counterexamples };
  } finally {
    await own.stop();
  }
}

/** Those that are asked mostly, and the wide one, where there is one. */
async function loadSets(
  comparison: Comparison,
  random: Random,
  kind: EqualOptions['kind'],
): Promise<{ readonly sets: readonly DataSet[]; readonly wide: DataSet | null }> {
  const sets: DataSet[] = [];
  if (kind === undefined) for (let index = 0; index < SETS; index += 1) sets.push(await comparison.load(randomEntries(random, ENTRIES)));
  if (kind === 'spans') {
    for (let index = 0; index < SETS; index += 1)
      sets.push({ ...(await comparison.load(randomSpanRows(random, ENTRIES))), names: SPAN_NAMES });
    return { sets, wide: null };
  }
  const wide = kind === undefined ? await comparison.load(wideEntries(random, WIDE_ENTRIES)) : null;
  sets.push({ ...(await comparison.load(longEntries(random, LONG_ENTRIES))), names: PROMOTED_NAMES });
  return { sets, wide };
}

/** One statement of filters, and as many whole queries as its share is. */
async function compareRound(
  comparison: Comparison,
  set: DataSet,
  source: Source,
  { wholeOneIn, pipes: pipesOf }: Required<Pick<EqualOptions, 'wholeOneIn' | 'pipes'>>,
): Promise<EqualReport> {
  const texts = Array.from({ length: BATCH }, () => randomFilter(source, source.random.below(3)));
  const batch = comparison.filters(set, texts, source.random.below(4) === 0);
  const counterexamples: string[] = [];
  let queries = 0;
  for (let left = Math.max(1, Math.round(BATCH / wholeOneIn)); left > 0; left -= 1) {
    const whole = { ...source, isWhole: true };
    const { text: pipes, isOrdered } = pipesOf(whole);
    const options = source.random.below(10) === 0 ? 'options(ignore_global_time_filter=true) ' : '';
    const text = options + randomFilter(whole, 2) + pipes;
    if (parsed(text) === null) continue;
    queries += 1;
    const how: How = {
      isOrdered,
      window: windowOf(source),
      limit: isOrdered && source.random.below(4) === 0 ? source.random.below(20) + 1 : MANY,
    };
    if ((await comparison.query(set, text, how)) !== null) counterexamples.push(await shrinkWhole(comparison, set, text, how));
  }
  const { compared, differences } = await batch;
  for (const { query } of differences) counterexamples.push(await shrinkFilter(comparison, set, query));
  return { filters: compared, queries, counterexamples };
}

/** All times, or a few minutes of those that most entries have. */
function windowOf({ random, entries }: Source): Window {
  if (random.below(3) > 0) return ALWAYS;
  const at = (): bigint => BigInt(Date.parse(textOf(random.pick(entries).get('_time')))) * 1_000_000n;
  const [a, b] = [at(), at()];
  return a < b ? { start: a, end: b } : { start: b, end: a };
}

async function shrinkFilter(comparison: Comparison, set: DataSet, text: string): Promise<string> {
  const differs = async (query: string): Promise<Difference | null> =>
    (await comparison.filters(set, [query], true)).differences[0] ?? null;
  const query = await shrinkQuery(text, async (shorter) => (await differs(shorter)) !== null);
  const { memory, clickHouse } = (await differs(query)) ?? { memory: [], clickHouse: [] };
  return describe('filter', query, [`only in memory:     ${shortened(memory)}`, `only in ClickHouse: ${shortened(clickHouse)}`]);
}

async function shrinkWhole(comparison: Comparison, set: DataSet, text: string, { window, limit, isOrdered }: How): Promise<string> {
  // Where the rows themselves differ their order is left aside: a shorter query may promise none.
  const isStrict = isOrdered && (limit < MANY || (await comparison.query(set, text, { window, limit, isOrdered: false })) === null);
  const how = { window, limit, isOrdered: isStrict };
  const fails = async (data: DataSet, query: string): Promise<boolean> => (await comparison.query(data, query, how)) !== null;
  const entries = await shrinkList<LogEntry>(set.entries, async (fewer) => fails(await comparison.load(fewer), text));
  const few = await comparison.load(entries);
  const query = await shrinkQuery(text, (shorter) => fails(few, shorter));
  const { memory, clickHouse } = (await comparison.query(few, query, how)) ?? { memory: ['(gone)'], clickHouse: ['(gone)'] };
  return describe('query', query, [
    ...entries.slice(0, 5).map((entry) => `entry:      ${renderEntry(entry)}`),
    ...(entries.length > 5 ? [`… ${String(entries.length)} entries`] : []),
    ...(window === ALWAYS ? [] : [`window:     ${String(window.start)} to ${String(window.end)} ns`]),
    ...(limit === MANY ? [] : [`limit:      ${String(limit)}`]),
    `memory:     ${shortened(memory)}`,
    `ClickHouse: ${shortened(clickHouse)}`,
  ]);
}

const describe = (kind: string, query: string, lines: readonly string[]): string =>
  [`${kind}: ${query}`, ...lines.map((line) => `    ${line}`)].join('\n');
const shortened = (rows: readonly string[]): string =>
  `${String(rows.length)} rows ${rows.slice(0, 3).join(' ').slice(0, 700)}${rows.length > 3 ? ' …' : ''}`;
