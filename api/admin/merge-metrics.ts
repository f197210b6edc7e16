import { Registry, type MetricObjectWithValues, type MetricValue } from 'prom-client';

/** What a registry gives as JSON. */
export type MetricsJson = readonly MetricObjectWithValues<MetricValue<string>>[];

/**
 * One Prometheus exposition of the metrics of several processes, with HELP and TYPE once for each name. Their series differ by the label
 * `role`, so nothing is summed up. Values that are not numbers (NaN, which JSON loses) are left out.
 */
export async function mergeMetrics(parts: readonly MetricsJson[]): Promise<string> {
  const merged = new Map<string, MetricObjectWithValues<MetricValue<string>>>();
  for (const metric of parts.flat()) {
    const known = merged.get(metric.name);
    const values = metric.values.filter(({ value }) => typeof value === 'number' && !Number.isNaN(value));
    merged.set(metric.name, { ...metric, values: known === undefined ? values : [...known.values, ...values] });
  }
  const registry = new Registry();
  // a registry reads the values of each metric by get()
  for (const metric of merged.values())
    registry.registerMetric({ ...metric, get: () => metric } as unknown as Parameters<Registry['registerMetric']>[0]);
  return registry.metrics();
}

/** Takes a peer's answer for metrics only if it looks like them. */
export function asMetricsJson(body: unknown): MetricsJson {
  const isMetric = (item: unknown): boolean =>
    typeof item === 'object' && item !== null && 'name' in item && 'values' in item && Array.isArray(item.values);
  return Array.isArray(body) && body.every(isMetric) ? (body as MetricsJson) : [];
}
