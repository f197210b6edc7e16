import { setTimeout as sleep } from 'node:timers/promises';
import { clickhouseText } from './clickhouse-text.ts';
import type { Cluster } from './cluster.ts';
import type { SentTenant } from './sent-tenant.ts';
import type { Violation } from './verdict.ts';

/** A minute is counted when its segment ends, and what was killed begins again from its snapshot. */
const SETTLE_MS = 300_000;

/** Compares the requests that are counted of spans with the spans that are stored, each once however often it came. */
export async function recountSpans(cluster: Cluster, { tenant_id: id }: SentTenant): Promise<Violation[]> {
  const ofTenant = `WHERE tenant_id = ${String(id)}`;
  const segments = `SELECT any(spans) AS n FROM span_counts ${ofTenant} AND scope = 0 AND span = 60 GROUP BY service, operation, kind, time, log_part, segment`;
  const query = `SELECT (SELECT sum(n) FROM (${segments})), (SELECT uniqExact(trace_id, span_id, kind) FROM spans ${ofTenant})`;
  const deadline = Date.now() + SETTLE_MS;
  for (;;) {
    const [counted = 0, stored = 0] = (await clickhouseText(cluster, query)).trim().split('\t').map(Number);
    if (counted === stored) return [];
    // more than there are does not become less
    if (counted > stored || Date.now() > deadline)
      return [{ check: 'requests counted of spans are the spans that are stored', count: 1, examples: [{ counted, stored }] }];
    await sleep(1000);
  }
}
