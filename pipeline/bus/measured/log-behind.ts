import { boundsOf, committedBy, firstSince, type OffsetQueries } from '../reading/group-positions.ts';

/** Who reads a topic, and for which set. */
export type SetGroup = { readonly set: string; readonly topic: string; readonly groupId: string };

/** Where a set stands: how far it is behind (milliseconds), and the first topic of which Kafka has deleted what it had not stored; null: none. */
export type SetPosition = { readonly behindMs: number; readonly missed: string | null };

/** Ends of the partitions of every topic at one time, by `topic:partition`. */
type Look = { readonly at: number; readonly ends: ReadonlyMap<string, number> };

/** The time that looks are kept for; what is further behind is as far behind as that. Milliseconds. */
const KEPT_MS = 3_600_000;
/** Looks that are kept: of older ones every second is discarded. */
const MAX_LOOKS = 240;
/** Before the first look, the log is asked where it ended so long ago. Milliseconds. */
const BEFORE_MS = [KEPT_MS - 1, 600_000, 60_000, 20_000];

/**
 * How far sets are behind the log, by time: the age of the newest look at which the log ended where the set is now, in the partition that is
 * furthest behind. A set that has stored all is not behind.
 */
export class LogBehind {
  readonly #groups: readonly SetGroup[];
  readonly #topics: readonly string[];
  readonly #now: () => number;
  #looks: Look[] = [];

  /** `now`: milliseconds. */
  constructor(groups: readonly SetGroup[], now: () => number = Date.now) {
    this.#groups = groups;
    this.#topics = [...new Set(groups.map(({ topic }) => topic))];
    this.#now = now;
  }

  /** Where each set stands now, by name. Rejects where Kafka does not answer. */
  async look(admin: OffsetQueries): Promise<ReadonlyMap<string, SetPosition>> {
    if (this.#looks.length === 0) this.#looks = await this.#before(admin);
    // what is committed first: it is in the log then
    const committed = await Promise.all(this.#groups.map(({ groupId, topic }) => committedBy(admin, groupId, topic)));
    const bounds = new Map(await Promise.all(this.#topics.map(async (topic) => [topic, await boundsOf(admin, topic)] as const)));
    const at = this.#now();
    this.#keep({ at, ends: endsOf([...bounds].map(([topic, own]) => [topic, new Map([...own].map(([one, { end }]) => [one, end]))])) });
    const found = new Map<string, SetPosition>();
    this.#groups.forEach(({ set, topic }, index) => {
      let { behindMs, missed } = found.get(set) ?? { behindMs: 0, missed: null };
      for (const [partition, { low, end }] of bounds.get(topic) ?? []) {
        const offset = committed[index]?.get(partition)?.offset ?? -1;
        if (offset > 0 && offset < low) missed ??= topic;
        if (Math.max(low, offset) < end) behindMs = Math.max(behindMs, at - this.#reachedAt(`${topic}:${String(partition)}`, offset));
      }
      found.set(set, { behindMs, missed });
    });
    return found;
  }

  /** Where the log ended some time ago, the oldest first. */
  #before(admin: OffsetQueries): Promise<Look[]> {
    const now = this.#now();
    return Promise.all(
      BEFORE_MS.map(async (ms) => {
        const firsts = this.#topics.map(async (topic) => [topic, await firstSince(admin, topic, now - ms)] as const);
        return { at: now - ms, ends: endsOf(await Promise.all(firsts)) };
      }),
    );
  }

  /** When the partition ended at this offset last; of what is older than all looks, the oldest time that is known. */
  #reachedAt(partition: string, offset: number): number {
    const look = this.#looks.findLast(({ ends }) => (ends.get(partition) ?? 0) <= offset);
    return look?.at ?? this.#now() - KEPT_MS;
  }

  #keep(look: Look): void {
    this.#looks = [...this.#looks.filter(({ at }) => look.at - at < KEPT_MS && at <= look.at), look];
    if (this.#looks.length <= MAX_LOOKS) return;
    const half = MAX_LOOKS / 2;
    this.#looks = this.#looks.filter((_look, index) => index >= half || index % 2 === 0);
  }
}

/** Offsets of partitions by `topic:partition`. */
function endsOf(topics: readonly (readonly [string, ReadonlyMap<number, number>])[]): ReadonlyMap<string, number> {
  return new Map(topics.flatMap(([topic, own]) => [...own].map(([partition, end]) => [`${topic}:${String(partition)}`, end] as const)));
}
