/** Bytes by UTC day (days since the epoch) and tenant. Nothing is kept for a count of zero. */
export type DayCounts = Map<number, Map<number, number>>;

/** The same as JSON: `[[day, [[tenant, bytes], …]], …]`. */
export type DayCountsJson = readonly (readonly [number, readonly (readonly [number, number])[]])[];

const DAY_MS = 86_400_000;

/** The UTC day of a time in milliseconds. */
export const dayOf = (ms: number): number => Math.floor(ms / DAY_MS);

/** A day as `2026-01-31`. */
export const dayText = (day: number): string => new Date(day * DAY_MS).toISOString().slice(0, 10);

export const countOf = (counts: DayCounts, day: number, tenantId: number): number => counts.get(day)?.get(tenantId) ?? 0;

/** Adds bytes, or subtracts them where they are negative. */
export function addCount(counts: DayCounts, day: number, tenantId: number, bytes: number): void {
  const tenants = counts.get(day) ?? new Map<number, number>();
  const sum = (tenants.get(tenantId) ?? 0) + bytes;
  if (sum === 0) tenants.delete(tenantId);
  else tenants.set(tenantId, sum);
  if (tenants.size === 0) counts.delete(day);
  else counts.set(day, tenants);
}

/** Adds all of `more`, or with sign -1 subtracts it. */
export function addCounts(counts: DayCounts, more: DayCounts, sign: 1 | -1 = 1): void {
  for (const [day, tenants] of more) for (const [tenantId, bytes] of tenants) addCount(counts, day, tenantId, sign * bytes);
}

export const countsToJson = (counts: DayCounts): DayCountsJson => [...counts].map(([day, tenants]) => [day, [...tenants]]);

/** Reads counts; null where they are none. */
export function countsFromJson(json: unknown): DayCounts | null {
  const counts: DayCounts = new Map();
  if (!Array.isArray(json)) return null;
  for (const item of json as unknown[]) {
    if (!Array.isArray(item)) return null;
    const [day, pairs] = item as unknown[];
    const tenants = pairsFromJson(pairs);
    if (!isCount(day) || tenants === null) return null;
    counts.set(day, tenants);
  }
  return counts;
}

/** Reads `[[tenant, count], …]`; null where it is none. */
export function pairsFromJson(json: unknown): Map<number, number> | null {
  if (!Array.isArray(json)) return null;
  const pairs = new Map<number, number>();
  for (const pair of json as unknown[]) {
    if (!Array.isArray(pair)) return null;
    const [tenantId, count] = pair as unknown[];
    if (!isCount(tenantId) || !isCount(count)) return null;
    pairs.set(tenantId, count);
  }
  return pairs;
}

/** True for a whole number from 0 to 2^53 - 1. */
export const isCount = (value: unknown): value is number => Number.isSafeInteger(value) && (value as number) >= 0;
