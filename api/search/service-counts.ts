import { parseQuery } from '../../logsql/parser/parser.ts';
import { Query } from '../../logsql/base/query.ts';
import { textOf } from '../../pipeline/core/entry.ts';
import { rowsOf, type Deps, type Request } from '../query/deps.ts';
import { readWindow } from '../query/window.ts';

/** The entries of a day by service, those with most first, as JSON: `[["web",12]]`. `day`: as `2026-01-31`. */
export async function serviceCounts(
  { day, most }: { readonly day: string; readonly most: number },
  request: Request,
  deps: Deps,
): Promise<string> {
  const window = readWindow(day, day, deps.now(), request.retentionDays);
  const text = `* | stats by (service) count() as entries | sort by (entries desc, service) | limit ${String(most)}`;
  const { options, filter, pipes } = parseQuery(text, { now: window.now });
  const rows = await rowsOf(new Query(options, filter, pipes), window, request, deps);
  return JSON.stringify(rows.map((row) => [textOf(row.get('service')), Number(textOf(row.get('entries')))]));
}
