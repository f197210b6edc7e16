import type { ByteReader, ByteWriter } from '../../core/snapshot-bytes.ts';
import { seriesIdOf, type RuleValues } from '../exchange/rule-values.ts';
import type { FinalMinute } from './final-minutes.ts';

/** A rule that was not reported for this long is taken to be removed. Milliseconds, by append time. */
const FORGET_MS = 24 * 3_600_000;
const MOST_RULES = 1000;
const MOST_GROUPS = 1000;

/** A rule as reported last: since which version it is watched so, the last window, when that was reported, and the ids of its groups. */
type Known = { readonly began: number; readonly window: number; readonly publishedAt: number; readonly ids: ReadonlySet<string> };

/** What follows from the values of a window: points to look at, and removed series. */
export type RuleTaken = { readonly points: readonly FinalMinute[]; readonly removed: readonly string[] };

const NOTHING: RuleTaken = { points: [], removed: [] };

/** The groups of a tenant's rules that detectors of one's own watch: a window of a rule is reported as a whole, and taken once. */
export class RuleSeries {
  /** By slot. */
  readonly #rules = new Map<number, Known>();

  get size(): number {
    return [...this.#rules.values()].reduce((sum, { ids }) => sum + ids.size, 0);
  }

  has(id: string): boolean {
    return [...this.#rules.values()].some(({ ids }) => ids.has(id));
  }

  /** Takes a window; groups that are not known only as long as the tenant has no more than `most`. `appendedAt`: milliseconds. */
  take(values: RuleValues, appendedAt: number, most: number): RuleTaken {
    const { slot, began, window, groups } = values;
    const known = this.#rules.get(slot);
    if (known !== undefined && (began < known.began || (began === known.began && window <= known.window))) return NOTHING;
    const before = known?.ids ?? new Set<string>();
    let free = most - this.size;
    const taken = groups.slice(0, MOST_GROUPS).flatMap(([group, value, entries]) => {
      const id = seriesIdOf(values, group);
      if (!before.has(id) && free-- <= 0) return [];
      return [{ id, point: { id, minute: window, value, entries, errors: 0, isLate: false } }];
    });
    const ids = new Set(taken.map(({ id }) => id));
    this.#rules.set(slot, { began, window, publishedAt: appendedAt, ids });
    return {
      points: taken.map(({ point }) => point),
      removed: [...before].filter((id) => !ids.has(id)),
    };
  }

  /** Forgets rules that were not reported for a day; gives the series that are removed. `now`: append time, milliseconds. */
  forget(now: number): readonly string[] {
    const over = [...this.#rules].filter(([, { publishedAt }]) => publishedAt < now - FORGET_MS);
    for (const [slot] of over) this.#rules.delete(slot);
    return over.flatMap(([, { ids }]) => [...ids]);
  }

  write(to: ByteWriter): void {
    to.count(this.#rules.size);
    for (const [slot, { began, window, publishedAt, ids }] of this.#rules) {
      for (const number of [slot, began, window, publishedAt, ids.size]) to.count(number);
      for (const id of ids) to.text(id);
    }
  }

  /** What `write` wrote; throws CutOff where it is anything else. */
  static read(from: ByteReader): RuleSeries {
    const read = new RuleSeries();
    for (let left = from.count(MOST_RULES); left > 0; left--) {
      const [slot, began, window, publishedAt] = [from.count(MOST_RULES), from.count(), from.count(), from.count()];
      const ids = new Set<string>();
      for (let more = from.count(MOST_GROUPS); more > 0; more--) ids.add(from.text());
      read.#rules.set(slot, { began, window, publishedAt, ids });
    }
    return read;
  }
}
