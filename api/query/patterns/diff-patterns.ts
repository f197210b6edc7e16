import { invalidParameter } from '../../../pipeline/core/errors.ts';
import { float64, int64, sql, uint32, type Sql } from '../../../pipeline/core/sql.ts';
import { formatTime } from '../../../pipeline/core/time.ts';
import type { Deps, Request } from '../deps.ts';
import { tenantRows } from '../tenant-rows.ts';
import { readWindow, type Window } from '../window.ts';
import { latestPatterns, ofService, patternCounts, ROOT, type CountedWindow } from './counts.ts';
import type { PatternDiffParameters } from './parameters.ts';
import { textsOf } from './texts.ts';

const MINUTE = 60_000_000_000n;
/** What became of a pattern from the first window to the second. */
const KINDS = ['new', 'gone', 'changed'] as const;

/**
 * `GET /patterns/diff`: which patterns are in the second window alone, which in the first one alone, and which have changed most between them, by how
 * many were to be expected from the first window's rate. Throws HttpError 400.
 */
export async function diffPatterns(parameters: PatternDiffParameters, request: Request, deps: Deps): Promise<string> {
  const [a, b] = comparedWindows(parameters, request, deps);
  const ratio = Number(b.end - b.start) / Number(a.end - a.start);
  const rows = await tenantRows(statement([a, b], ratio, parameters, request.tenantId), request, deps);
  const texts = await textsOf(rows.map(([, root]) => String(root)), request, deps); // prettier-ignore
  const shown = (kind: string): object[] =>
    rows
      .filter(([of]) => of === kind)
      .map(([, root, before, after]) => ({
        fingerprint: String(root),
        normalized_message: texts.get(String(root))?.template ?? '',
        ...{ a: Number(before), b: Number(after), expected: Math.round(Number(before) * ratio * 100) / 100 },
      }));
  const lists = Object.fromEntries(KINDS.map((kind) => [kind, shown(kind)]));
  const shownWindow = ({ start, end }: CountedWindow): object => ({ start: formatTime(start), end: formatTime(end) });
  return JSON.stringify({ ...lists, a: shownWindow(a), b: shownWindow(b) });
}

/** The two windows that are compared. Throws HttpError 400. */
export const comparedWindows = (
  parameters: Pick<PatternDiffParameters, 'a' | 'b'>,
  request: Request,
  deps: Deps,
): readonly [CountedWindow, CountedWindow] => [windowOf('a', parameters.a, request, deps), windowOf('b', parameters.b, request, deps)];

/** A window from `start..end`. */
function windowOf(name: string, given: string, request: Request, deps: Deps): CountedWindow {
  const [start, end, ...more] = given.split('..');
  if (start === undefined || end === undefined || more.length > 0)
    throw invalidParameter(`${name} must be two times with ".." between them, as in -2h..-1h (got ${JSON.stringify(given)}).`);
  const now = deps.now();
  const window: Window = readWindow(start, end, now, request.retentionDays);
  if (window.end - window.start < MINUTE) throw invalidParameter(`${name} must be a minute or longer (got ${JSON.stringify(given)}).`);
  return { start: window.start, end: window.end, isOpen: window.end > now - MINUTE };
}

function statement(
  windows: readonly [CountedWindow, CountedWindow],
  ratio: number,
  parameters: PatternDiffParameters,
  tenantId: number,
): Sql {
  const { service, limit } = parameters;
  const only = service === null ? [] : [ofService(tenantId, service)];
  const [before, after] = windows.map(
    (window, index) =>
      sql`SELECT pattern, ${int64(index)} AS w, sum(entries) AS n, max(arrived) AS arrived FROM ${patternCounts(tenantId, window, only)} GROUP BY pattern`,
  ) as [Sql, Sql];
  const counts = sql`SELECT ${ROOT} AS root, sumIf(n, w = 0) AS a, sumIf(n, w = 1) AS b FROM (${before} UNION ALL ${after}) AS c LEFT JOIN ${latestPatterns(tenantId)} AS words ON c.pattern = words.number GROUP BY root HAVING root != ''`;
  const kind = sql`multiIf(a = 0, 'new', b = 0, 'gone', 'changed')`;
  // on this scale counts of any size vary by the same
  const change = sql`abs(sqrt(b) - sqrt(a * ${float64(ratio)}))`;
  return sql`SELECT ${kind} AS kind, root, toString(a), toString(b) FROM (${counts}) WHERE kind != 'changed' OR ${change} >= 1 ORDER BY ${change} DESC, root LIMIT ${uint32(limit)} BY kind`;
}
