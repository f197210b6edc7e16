/** What was stored, as points that detectors and rules are replayed over. */
import { freeName } from '../../logsql/base/arguments.ts';
import { StatsPipe, type StatsCall } from '../../logsql/pipes/stats.ts';
import { Query } from '../../logsql/base/query.ts';
import { ExactFilter } from '../../logsql/filters/exact.ts';
import { AndFilter, OrFilter } from '../../logsql/filters/logic.ts';
import type { Filter } from '../../logsql/base/types.ts';
import { parseQuery } from '../../logsql/parser/parser.ts';
import { textOf, type LogEntry } from '../../pipeline/core/entry.ts';
import { rowsOf, type Deps, type Request } from '../query/deps.ts';
import { retentionFloor } from '../query/window.ts';

const MINUTE_NS = 60_000_000_000n;
const MINUTE_MS = 60_000;

/** Minutes since 1970, the last one not inside. */
export type Minutes = { readonly from: number; readonly to: number };

/** The window that is replayed: whole steps up to now, no older than what is kept. `step`: minutes. */
export function minutesBefore(now: bigint, length: number, step: number, retentionDays: number): Minutes {
  const to = Math.floor(Number(now / MINUTE_NS) / step) * step;
  const floor = retentionFloor(now, retentionDays);
  const oldest = floor === null ? 0 : Math.ceil(Number(floor / MINUTE_NS) / step) * step;
  return { from: Math.min(to, Math.max(to - length, oldest)), to };
}

/** How a history is grouped, and what is counted. */
export type Wanted = {
  readonly filter: Filter;
  readonly by: readonly string[];
  /** Most groups, those with the most entries. */
  readonly most: number;
  readonly calls: readonly StatsCall[];
  readonly minutes: Minutes;
  readonly step: number;
};

/** A group by its values, and its rows by the minute at which they begin. */
export type Group = { readonly labels: readonly string[]; readonly rows: Map<number, LogEntry> };

const window = ({ from, to }: Minutes): { start: bigint; end: bigint; now: bigint } => {
  const end = BigInt(to) * MINUTE_NS;
  return { start: BigInt(from) * MINUTE_NS, end: end - 1n, now: end };
};

/** The rows of the groups with the most entries, and how many groups there are: at most one more than `most`. */
export async function historyOf(wanted: Wanted, request: Request, deps: Deps): Promise<{ groups: Group[]; hasMore: boolean }> {
  const { filter, by, most, calls, minutes, step } = wanted;
  const found = by.length === 0 ? [[]] : await largest(wanted, request, deps);
  const labels = found.slice(0, most);
  const groups = new Map(labels.map((values) => [values.join('\0'), { labels: values, rows: new Map<number, LogEntry>() }]));
  if (groups.size === 0 || minutes.from >= minutes.to) return { groups: [...groups.values()], hasMore: false };
  const own = labels.map((values) => new AndFilter(values.map((value, at) => new ExactFilter(by[at] ?? '', value))));
  const narrowed = by.length === 0 ? filter : new AndFilter([filter, new OrFilter(own)]);
  const bucket = bucketOf(step);
  const pipe = new StatsPipe([...by.map((name) => ({ name, bucket: null })), { name: '_time', bucket }], calls);
  const rows = await rowsOf(new Query({}, narrowed, [pipe]), window(minutes), request, deps);
  for (const row of rows) {
    const group = groups.get(by.map((name) => textOf(row.get(name))).join('\0'));
    group?.rows.set(Math.floor(Date.parse(textOf(row.get('_time'))) / MINUTE_MS), row);
  }
  return { groups: [...groups.values()], hasMore: found.length > most };
}

/** As it is written in a query. */
function bucketOf(step: number) {
  const [pipe] = parseQuery(`* | stats by (_time:${String(step)}m) count()`, { now: 0n }).pipes;
  const bucket = pipe instanceof StatsPipe ? pipe.by[0]?.bucket : null;
  if (bucket === null || bucket === undefined) throw new Error(`BUG: ${String(step)} minutes must be a bucket.`);
  return bucket;
}

/** The values of the groups with the most entries, the largest first. */
async function largest({ filter, by, most, minutes }: Wanted, request: Request, deps: Deps): Promise<string[][]> {
  if (minutes.from >= minutes.to) return [];
  const name = freeName('n', by);
  const { pipes } = parseQuery(`* | stats count() as ${name} | sort by (${name} desc) limit ${String(most + 1)}`, { now: 0n });
  const [stats, sort] = pipes;
  if (!(stats instanceof StatsPipe) || sort === undefined) throw new Error('BUG: the pipes of the largest groups.');
  const grouped = new StatsPipe(by.map((field) => ({ name: field, bucket: null })), stats.calls); // prettier-ignore
  const rows = await rowsOf(new Query({}, filter, [grouped, sort]), window(minutes), request, deps);
  return rows.map((row) => by.map((field) => textOf(row.get(field))));
}

export const isoOf = (minute: number): string => new Date(minute * MINUTE_MS).toISOString();
