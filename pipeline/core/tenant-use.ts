/** What a process has taken of a tenant since it started. */
export type TenantUse = { readonly tenantId: number; readonly entries: number; readonly bytes: number };

/** Tenants that are counted; with more, the half that has sent the least is forgotten. */
const MOST_COUNTED = 10_000;

/** What each tenant has sent, for as many tenants as fit: a series for each of a million would end whoever scrapes it. */
export class TenantUses {
  readonly #most: number;
  #uses = new Map<number, { entries: number; bytes: number }>();

  constructor(most = MOST_COUNTED) {
    this.#most = most;
  }

  add(tenantId: number, entries: number, bytes: number): void {
    const use = this.#uses.get(tenantId) ?? { entries: 0, bytes: 0 };
    use.entries += entries;
    use.bytes += bytes;
    this.#uses.set(tenantId, use);
    if (this.#uses.size > this.#most) this.#uses = new Map(this.#sorted().slice(0, Math.ceil(this.#most / 2)));
  }

  /** So many tenants, those with the most bytes first. */
  top(count: number): TenantUse[] {
    return this.#sorted()
      .slice(0, count)
      .map(([tenantId, use]) => ({ tenantId, ...use }));
  }

  #sorted(): [number, { entries: number; bytes: number }][] {
    return [...this.#uses].sort(([idA, a], [idB, b]) => b.bytes - a.bytes || idA - idB);
  }
}
