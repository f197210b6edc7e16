/** What a segment knows of a tenant that it does not count: between which spans of time its entries lie, and the class that keeps longest. */
export type Unpublished = { readonly first: number; readonly last: number; readonly retentionDays: number };

/** Adds that a tenant has entries of a class in a span of time. */
export function extend(unpublished: Map<number, Unpublished>, tenantId: number, retentionDays: number, time: number): void {
  const { first, last, retentionDays: before } = unpublished.get(tenantId) ?? { first: time, last: time, retentionDays };
  if (time < first || time > last || retentionDays !== before || !unpublished.has(tenantId))
    unpublished.set(tenantId, {
      first: Math.min(first, time),
      last: Math.max(last, time),
      retentionDays: longer(before, retentionDays),
    });
}

/** Of two classes the one that keeps longer; 0 keeps for ever. */
const longer = (a: number, b: number): number => (a === 0 || b === 0 ? 0 : Math.max(a, b));
