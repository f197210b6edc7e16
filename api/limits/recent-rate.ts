/** Over how many seconds a rate is taken. */
const SECONDS = 10;
const SECOND_MS = 1000;
/** Tenants that are kept whatever they did; beyond them those that were counted longest ago are forgotten. */
const KEPT_TENANTS = 10_000;

/** What was counted of a tenant in each of its last seconds; `last` is the latest of them. */
type Counts = { last: number; readonly bySecond: number[] };

/** What tenants were charged a second, over the last ten seconds. Times are monotonic milliseconds. */
export class RecentRate {
  /** The one counted longest ago first. */
  readonly #tenants = new Map<number, Counts>();

  /** Counts so much; what is negative was given back. */
  add(tenantId: number, count: number, now: number): void {
    const counts = this.#tenants.get(tenantId) ?? { last: 0, bySecond: Array.from({ length: SECONDS }, () => 0) };
    const second = this.#forward(counts, now);
    counts.bySecond[second % SECONDS] = (counts.bySecond[second % SECONDS] ?? 0) + count;
    this.#tenants.delete(tenantId);
    this.#tenants.set(tenantId, counts);
    for (const [oldest] of this.#tenants) {
      if (this.#tenants.size <= KEPT_TENANTS) break;
      this.#tenants.delete(oldest);
    }
  }

  /** The mean of the last ten seconds, of which the one that runs now is the last. */
  perSecond(tenantId: number, now: number): number {
    const counts = this.#tenants.get(tenantId);
    if (counts === undefined) return 0;
    this.#forward(counts, now);
    const sum = counts.bySecond.reduce((all, one) => all + one, 0);
    return Math.max(0, sum / SECONDS);
  }

  /** Empties the seconds that have passed, and gives the one of now. */
  #forward(counts: Counts, now: number): number {
    const second = Math.max(counts.last, Math.floor(now / SECOND_MS));
    if (second - counts.last >= SECONDS) counts.bySecond.fill(0);
    else for (let at = counts.last + 1; at <= second; at += 1) counts.bySecond[at % SECONDS] = 0;
    counts.last = second;
    return second;
  }
}
