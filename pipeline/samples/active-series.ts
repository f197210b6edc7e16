import { LRUCache } from 'lru-cache';
import { StreamCeilings } from '../intake/day-streams.ts';
import type { Labels } from './definition.ts';
import { LabelGrowth } from './label-growth.ts';

/** Tenants and days whose labels are watched. */
const MAX_GROWTHS = 1000;

/** The series that tenants have sent on each day, as far as this process has seen, and the labels that made them many. */
export class ActiveSeries {
  readonly #seen = new StreamCeilings();
  readonly #growths = new LRUCache<string, LabelGrowth>({ max: MAX_GROWTHS });

  /** True for a series that is active on this day, and for a new one while there are fewer than `ceiling`. `labels` are read of a new one. */
  admit(
    tenantId: number,
    day: number,
    id: { readonly low: number; readonly high: number },
    ceiling: number,
    labels: () => Labels,
  ): boolean {
    const seen = this.#seen.of(tenantId, day);
    const before = seen.count;
    if (!seen.admit(id.high, id.low, ceiling)) return false;
    if (seen.count > before) this.#growthOf(tenantId, day).add(labels());
    return true;
  }

  /** The label that has got the most values today; empty where there is none. */
  largestLabel(tenantId: number, day: number): string {
    return this.#growthOf(tenantId, day).largest;
  }

  #growthOf(tenantId: number, day: number): LabelGrowth {
    const key = `${String(tenantId)}/${String(day)}`;
    let growth = this.#growths.get(key);
    if (growth === undefined) {
      growth = new LabelGrowth();
      this.#growths.set(key, growth);
    }
    return growth;
  }
}
