import { wordsFrom } from '../../pipeline/core/severity.ts';
import type { Point } from '../../pipeline/detectors/custom.ts';
import { request, type Target } from '../client.ts';
import { UsageError } from '../output.ts';

/** What is queried: which entries, by which field, and which stats function is the value. */
export type HistoryOptions = {
  readonly query: string;
  readonly by: string | null;
  readonly stats: string | null;
  /** Minutes since 1970, the last one not inside. */
  readonly from: number;
  readonly to: number;
  /** Series at most, those with the most entries. */
  readonly most: number;
};

/** A series by its value of the field; `points` has each minute of the window. */
export type History = { readonly name: string; readonly points: Point[] };

/** Minutes of one request. */
const SLICE = 360;
/** Errors, by level, as `error_rate` counts them. */
const ERRORS = `level:~"(?i)^(${wordsFrom(5).join('|')})$"`;

type Row = Readonly<Record<string, string | undefined>>;

/** Reads what was stored, slice by slice; `onProgress` is given how much of it is read, from 0 to 1. */
export async function readHistory(target: Target, options: HistoryOptions, onProgress: (part: number) => void): Promise<History[]> {
  const { by, stats, from, to, most } = options;
  const names = by === null ? ['all'] : await seriesOf(target, options, by);
  const found = new Map(names.slice(0, most).map((name) => [name, emptyPoints(from, to)]));
  const values = [...found.keys()].map((name) => JSON.stringify(name)).join(',');
  const filter = by === null ? '' : ` | filter ${JSON.stringify(by)}:in(${values})`;
  const groups = by === null ? '_time:1m' : `_time:1m, ${JSON.stringify(by)}`;
  const value = stats === null ? '' : `, ${stats} value`;
  const query = `${options.query}${filter} | stats by (${groups}) count() entries, count() if (${ERRORS}) errors${value}`;
  for (let begin = from; begin < to && found.size > 0; begin += SLICE) {
    const end = Math.min(to, begin + SLICE);
    for (const row of await rows(target, query, begin, end)) {
      const points = found.get(by === null ? 'all' : (row[by] ?? ''));
      const minute = Math.floor(Date.parse(row['_time'] ?? '') / 60_000);
      const [entries, errors] = [Number(row['entries'] ?? 0), Number(row['errors'] ?? 0)];
      const own = stats === null ? entries : Number(row['value'] === '' ? NaN : (row['value'] ?? NaN));
      if (points?.[minute - from] !== undefined) points[minute - from] = { minute, entries, errors, value: Number.isNaN(own) ? null : own };
    }
    onProgress((end - from) / (to - from));
  }
  // a value that is not a count is null where nothing came
  return [...found].map(([name, points]) => ({
    name,
    points: stats === null ? points : points.map((point) => (point.entries === 0 ? { ...point, value: null } : point)),
  }));
}

const emptyPoints = (from: number, to: number): Point[] =>
  Array.from({ length: to - from }, (_none, index) => ({ minute: from + index, value: 0, entries: 0, errors: 0 }));

/** The values of the field, those with the most entries first. */
async function seriesOf(target: Target, { query, from, to, most }: HistoryOptions, by: string): Promise<string[]> {
  const found = await rows(
    target,
    `${query} | stats by (${JSON.stringify(by)}) count() n | sort by (n desc) limit ${String(most)}`,
    from,
    to,
  );
  return found.map((row) => row[by] ?? '');
}

async function rows({ appUrl, key }: Target, query: string, from: number, to: number): Promise<Row[]> {
  const iso = (minute: number): string => new Date(minute * 60_000).toISOString();
  // the end is inside
  const body = new URLSearchParams({ query, start: iso(from), end: new Date(to * 60_000 - 1).toISOString() }).toString();
  const answer = await request(`${appUrl}/select/logsql/query`, key, {
    ...{ method: 'POST', headers: { 'Content-Type': 'application/x-www-form-urlencoded' }, body },
  });
  const lines = answer.toString().trim();
  return lines === '' ? [] : lines.split('\n').map((line) => JSON.parse(line) as Row);
}

const [MOST_DAYS, DAY] = [31, 1440];

/** The minutes of a window. Throws UsageError where it is empty, or longer than 31 days. */
export function minutesOf(fromMs: number, toMs: number): { readonly from: number; readonly to: number } {
  const [from, to] = [Math.floor(fromMs / 60_000), Math.ceil(toMs / 60_000)];
  if (to <= from) throw new UsageError('--since must be before --until.');
  if (to - from > MOST_DAYS * DAY) throw new UsageError(`At most ${String(MOST_DAYS)} days are replayed.`);
  return { from, to };
}
