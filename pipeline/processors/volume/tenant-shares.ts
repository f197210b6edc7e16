import type { GroupTable } from '../base/group-table.ts';

/** Where tenants are left out, no more of a segment is left than this share of what it may hold. */
const KEPT_SHARE = 0.75;

/** What may be in a segment: how much of it there is, how much there may be, and how much of it each tenant has. */
export type Bounded = { readonly total: number; readonly most: number; readonly byTenant: ReadonlyMap<number, number> };

/**
 * The tenants that have most of what there is too much of, as many as must be left out; none that has less than a share of what there may be.
 * None where there is not too much.
 */
export function largestTenants({ total, most, byTenant }: Bounded, leastShare: number): number[] {
  if (total <= most) return [];
  const found: number[] = [];
  let left = total;
  for (const [tenant, size] of [...byTenant].sort(([a, more], [b, less]) => less - more || a - b)) {
    if (left <= most * KEPT_SHARE || size < most * leastShare) break;
    found.push(tenant);
    left -= size;
  }
  return found;
}

/** How many groups of these kinds each tenant has. */
export function groupsByTenant(groups: GroupTable, isCounted: (kind: number) => boolean): Map<number, number> {
  const sums = new Map<number, number>();
  for (let group = 0; group < groups.size; group++)
    if (isCounted(groups.kind(group))) sums.set(groups.tenant(group), (sums.get(groups.tenant(group)) ?? 0) + 1);
  return sums;
}

/** What the levels of each tenant add up to. */
export function levelsByTenant(groups: GroupTable, sizeOf: (level: number) => number): Map<number, number> {
  const seen = new Map<number, Set<number>>();
  for (let group = 0; group < groups.size; group++) {
    const levels = seen.get(groups.tenant(group)) ?? new Set();
    seen.set(groups.tenant(group), levels.add(groups.level(group)));
  }
  return new Map([...seen].map(([tenant, levels]) => [tenant, [...levels].reduce((sum, level) => sum + sizeOf(level), 0)]));
}
