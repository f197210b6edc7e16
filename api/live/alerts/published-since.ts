import { sql } from '../../../pipeline/core/sql.ts';
import { ownOf, readAlerts } from '../../search/alerts.ts';
import { notBefore } from '../../search/time-bounds.ts';
import { timeOf } from '../../query/window.ts';
import type { Deps, Request } from '../../query/deps.ts';

/** Most alerts that a stream begins with, the newest. */
const MAX_ALERTS = 1000;

export type PublishedSince = { readonly since: string };

/** The last row of each alert that has changed since then, oldest first, and whether there are more. */
export async function publishedSince({ since }: PublishedSince, request: Request, deps: Deps): Promise<string> {
  const from = timeOf('since', since, deps.now()).start;
  const where = { fixed: await ownOf(request, deps), last: [notBefore(sql`updated_at`, from)] };
  const { items, total } = await readAlerts(where, { limit: MAX_ALERTS, offset: 0 }, request, deps);
  return JSON.stringify({ items: [...items].reverse(), cut: total > items.length });
}
