import type { Cluster } from '../cluster.ts';

/** How many answers came within each bound (seconds; the last is infinite), as the service counts them. */
export type Served = ReadonlyMap<number, number>;

const BUCKET = /^logweir_http_request_seconds_bucket\{([^}]*)\} (\d+)/;

/** What each API process tells of itself. The figures of its event loop are those since it was last asked. */
export const apiMetrics = ({ apis }: Pick<Cluster, 'apis'>): Promise<string[]> =>
  Promise.all(apis.map(async ({ adminUrl }) => (await fetch(`${adminUrl}/metrics?self=1`)).text()));

/** The answers 2xx to POST of all APIs so far. */
export function servedPosts(metrics: readonly string[]): Served {
  const counts = new Map<number, number>();
  for (const text of metrics) {
    for (const line of text.split('\n')) {
      const [, labels = '', count] = BUCKET.exec(line) ?? [];
      if (!labels.includes('method="POST"') || !labels.includes('status="2')) continue;
      const le = /le="([^"]+)"/.exec(labels)?.[1] ?? '';
      const bound = le === '+Inf' ? Infinity : Number(le);
      counts.set(bound, (counts.get(bound) ?? 0) + Number(count));
    }
  }
  return counts;
}

/** The share of the answers between two looks that took at most so many seconds, which must be a bucket's bound; percent. */
export function percentWithin(before: Served, after: Served, seconds: number): number {
  const between = (bound: number): number => (after.get(bound) ?? 0) - (before.get(bound) ?? 0);
  const all = between(Infinity);
  return all === 0 ? 0 : (100 * between(seconds)) / all;
}

/** The lag of the event loop that 99 % of the time was not exceeded, in the process where it was worst; milliseconds, NaN where none tells. */
export const worstLagMs = (metrics: readonly string[]): number =>
  1000 * Math.max(...metrics.map((text) => Number(/^nodejs_eventloop_lag_p99_seconds(?:\{[^}]*\})? (\S+)$/m.exec(text)?.[1])));
