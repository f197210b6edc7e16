import { OVERFLOW_FINGERPRINT, OVERFLOW_TEMPLATE } from '../../../pipeline/clusterer/clusterer.ts';
import { ofTenant, sql } from '../../../pipeline/core/sql.ts';
import type { Deps, Request } from '../deps.ts';
import { tenantRows } from '../tenant-rows.ts';
import { numbersOf } from './counts.ts';

/** The template of a pattern, and a message of it; the example is empty where none was kept. */
export type PatternText = { readonly template: string; readonly example: string };

/** The template and example of patterns by their fingerprints. */
export async function textsOf(fingerprints: readonly string[], request: Request, deps: Deps): Promise<ReadonlyMap<string, PatternText>> {
  const found = new Map([[OVERFLOW_FINGERPRINT, { template: OVERFLOW_TEMPLATE, example: '' }]]);
  if (fingerprints.length === 0) return found;
  const rows = await tenantRows(
    sql`SELECT any(fingerprint), any(template), argMaxIf(example, version, example != '') FROM patterns WHERE ${ofTenant(request.tenantId)} AND template != '' AND pattern IN ${numbersOf(fingerprints)} GROUP BY pattern`,
    request,
    deps,
  );
  for (const [fingerprint, template, example] of rows)
    found.set(String(fingerprint), { template: String(template), example: String(example) });
  return found;
}
