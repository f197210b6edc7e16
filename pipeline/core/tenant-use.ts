/** Tenants that are counted; with more, the half that has used the least is forgotten. */
const MOST_COUNTED = 10_000;

/** What a process has counted of a tenant since it started. */
export type TenantUse<Name extends string> = { readonly tenantId: number } & Readonly<Record<Name, number>>;

/** What each tenant uses, for a bounded number of tenants: a series for each of a million would overload a scraper. */
export class TenantUses<Name extends string> {
  readonly #rank: Name;
  readonly #most: number;
  #uses = new Map<number, Record<Name, number>>();

  /** The tenants with the most of `rank` come first. */
  constructor(rank: Name, most = MOST_COUNTED) {
    this.#rank = rank;
    this.#most = most;
  }

  add(tenantId: number, amounts: Readonly<Record<Name, number>>): void {
    const use = this.#uses.get(tenantId);
    if (use === undefined) this.#uses.set(tenantId, { ...amounts });
    else for (const name of Object.keys(amounts) as Name[]) use[name] += amounts[name];
    if (this.#uses.size > this.#most) this.#uses = new Map(this.#sorted().slice(0, Math.ceil(this.#most / 2)));
  }

  /** The first `count` tenants. */
  top(count: number): TenantUse<Name>[] {
    return this.#sorted()
      .slice(0, count)
      .map(([tenantId, use]) => ({ ...use, tenantId }));
  }

  #sorted(): [number, Record<Name, number>][] {
    return [...this.#uses].sort(([idA, a], [idB, b]) => b[this.#rank] - a[this.#rank] || idA - idB);
  }
}
