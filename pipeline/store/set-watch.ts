import type { Logger } from 'pino';
import { reasonOf } from '../core/connection-reason.ts';
import { storeUnavailable } from '../core/errors.ts';
import { repeat } from '../core/repeat.ts';
import type { Service } from '../core/service.ts';
import { isUnavailable, type Store } from './client.ts';
import { migrated } from './migrations.ts';
import { missingPolicies } from './row-policies.ts';
import { inOrder } from './set-choice.ts';

/** What a set is watched through. */
export type WatchedStore = Pick<Store, 'ping' | 'ownerRows' | 'rows'>;

/** A set that requests choose among. */
export type WatchedSet = {
  readonly name: string;
  /** What its queries go to. */
  readonly store: WatchedStore;
  /** Why its servers are not those that its rows were stored in, as the end of a sentence about it; null: they are, or it has no rows yet. */
  readonly serversFault: (signal: AbortSignal) => Promise<string | null>;
  /** Its shards, where it has several. */
  readonly shards?: WatchedShards;
  /** Its queries run as a user of their own, behind row policies. */
  readonly hasReader: boolean;
  /** An operator says that it has all that the others have. */
  readonly isWhole: boolean;
};

/** Each shard by itself; `fault`: why they are no whole set, as the end of a sentence about it; null: they are. */
export type WatchedShards = { readonly all: readonly WatchedStore[]; readonly fault: (signal: AbortSignal) => Promise<string | null> };

/** Where a set stands on the log: how far it is behind, milliseconds, and a topic whose records it has missed; null: none. */
export type SetPlace = { readonly behindMs: number; readonly missed: string | null };

/** What is shown of a set. */
export type SetState = {
  readonly name: string;
  readonly isReady: boolean;
  readonly behindMs: number;
  /** Tables whose row policy is missing. */
  readonly unguarded: readonly string[];
};

export type SetWatchOptions = {
  readonly sets: readonly WatchedSet[];
  /** Where each set stands on the log, by name. */
  readonly places: () => Promise<ReadonlyMap<string, SetPlace>>;
  readonly log: Logger;
  /** Is given every set at each look. */
  readonly onLook?: (states: readonly SetState[]) => void;
  readonly everyMs?: number;
  readonly placesEveryMs?: number;
  readonly policiesEveryMs?: number;
  /** Milliseconds. */
  readonly now?: () => number;
};

const EVERY_MS = 1000;
const PLACES_EVERY_MS = 5000;
/** Row policies are looked at this often, and whenever a set has been unavailable. Milliseconds. */
const POLICIES_EVERY_MS = 60_000;
/** A set that answered is unavailable when it did not answer so often. */
const FEW_SILENCES = 2;
const DEADLINE_MS = 5000;
/** Row policies of a set that serves are known for so many times as long as between two looks at them. */
const FEW_UNKNOWN = 5;
/** Sets made within this time have the same: the log has all of it. It is shorter than every topic's retention. Milliseconds. */
const SAME_AGE_MS = 2 * 86_400_000;
const NOT_LOOKED_AT = 'was not looked at yet';
const UNAVAILABLE = 'is unavailable';

type Known = {
  readonly set: WatchedSet;
  /** Why it does not serve; null: it does. */
  why: string | null;
  silences: number;
  /** It is being looked at since a request found it unavailable. */
  isSuspect: boolean;
  /** When its row policies were looked at; null: not since it was unavailable. */
  policiesAt: number | null;
  unguarded: readonly string[];
  place: SetPlace;
  /** When its tables were made; null: unknown. */
  since: number | null;
  readonly onLost: Set<() => void>;
};

/** Watches sets, and says which of them serve: those that answer from the servers they were stored in, with the tables of this version, and whose row policies stand. */
export class SetWatch implements Service {
  readonly name = 'sets';
  readonly #options: SetWatchOptions;
  readonly #sets: readonly Known[];
  readonly #now: () => number;
  readonly #stop = new AbortController();
  #running: Promise<unknown> = Promise.resolve();
  #last: string | null = null;

  constructor(options: SetWatchOptions) {
    this.#options = options;
    this.#now = options.now ?? Date.now;
    this.#sets = options.sets.map((set) => ({
      ...{
        set,
        why: NOT_LOOKED_AT,
        silences: 0,
        isSuspect: false,
        policiesAt: null,
        unguarded: [],
        since: null,
        onLost: new Set<() => void>(),
      },
      place: { behindMs: Infinity, missed: null },
    }));
  }

  /** Resolves when every set was looked at once, or the first look of one has failed. */
  async start(): Promise<void> {
    const { everyMs = EVERY_MS, placesEveryMs = PLACES_EVERY_MS } = this.#options;
    const { signal } = this.#stop;
    // a set that is silent delays no look at another
    const loops = this.#sets.map((known) => repeat(everyMs, signal, () => this.#look(known)));
    this.#running = Promise.all([...loops, repeat(placesEveryMs, signal, () => this.#lookAtPlaces())]);
    await Promise.all([...this.#sets.map((known) => this.#look(known)), this.#lookAtPlaces()]);
  }

  async stop(): Promise<void> {
    this.#stop.abort();
    await this.#running;
  }

  /** The sets that may serve now, the best one first. */
  get ready(): readonly string[] {
    const order = inOrder(
      this.#sets.map((known) => ({
        ...{ name: known.set.name, isReady: known.why === null, isWhole: this.#lacks(known) === null },
        behindMs: known.place.behindMs,
      })),
      this.#last,
    );
    this.#last = order[0] ?? this.#last;
    return order;
  }

  /** Tries the sets that may serve, one after the other, until one of them has not been unavailable. Throws HttpError 503 where none is left. */
  async first<Answer>(use: (set: string) => Promise<Answer>): Promise<Answer> {
    let reason: unknown;
    for (const name of this.ready)
      try {
        return await use(name);
      } catch (error) {
        if (!isUnavailable(error)) throw error;
        reason = error;
        this.suspect(name);
      }
    throw reason instanceof Error ? reason : storeUnavailable(reason);
  }

  /** A request has found the set unavailable: where it does not answer now either, it serves when a look finds it well. */
  suspect(name: string): void {
    const known = this.#sets.find(({ set }) => set.name === name);
    if (known === undefined || known.why !== null || known.isSuspect) return;
    known.isSuspect = true;
    void this.#answers(known).then((answers) => {
      known.isSuspect = false;
      if (!answers) this.#ends(known, UNAVAILABLE);
    });
  }

  /** Calls back once when the set stops serving; what is returned takes that back. */
  whenLost(name: string, onLost: () => void): () => void {
    const known = this.#sets.find(({ set }) => set.name === name);
    known?.onLost.add(onLost);
    return () => void known?.onLost.delete(onLost);
  }

  /** Sentences about the sets that do not serve, or lack something; null where all is well. */
  get warning(): string | null {
    const sentences = this.#sets.flatMap((known) => {
      const reason = known.why ?? this.#lacks(known);
      if (reason === null) return [];
      return [`The set ${known.set.name} ${known.why === null ? 'serves only where no other does: it' : 'does not serve: it'} ${reason}.`];
    });
    return sentences.length === 0 ? null : sentences.join(' ');
  }

  /** What it lacks that another set has; null: nothing. */
  #lacks({ set, place, since }: Known): string | null {
    if (place.missed !== null) return `has missed records of ${place.missed}, which Kafka deleted before they were stored`;
    const oldest = Math.min(...this.#sets.map((known) => known.since ?? Infinity));
    if (set.isWhole || since === null || since - oldest <= SAME_AGE_MS) return null;
    return `was made on ${new Date(since).toISOString().slice(0, 10)} and lacks what the log did not have then`;
  }

  async #look(known: Known): Promise<void> {
    if (this.#stop.signal.aborted) return;
    const why = await this.#whyNot(known).catch((error: unknown) => `cannot be used: ${reasonOf(error)}`);
    if (why === null) this.#serves(known);
    else this.#ends(known, why);
    this.#options.onLook?.(
      this.#sets.map((one) => ({
        ...{ name: one.set.name, isReady: one.why === null, behindMs: one.place.behindMs, unguarded: one.unguarded },
      })),
    );
  }

  /** Why a set must not serve now; null: it may. */
  async #whyNot(known: Known): Promise<string | null> {
    if (!(await this.#answers(known))) {
      known.silences += 1;
      return known.why === null && known.silences < FEW_SILENCES ? null : UNAVAILABLE;
    }
    known.silences = 0;
    const { policiesEveryMs = POLICIES_EVERY_MS } = this.#options;
    const age = known.policiesAt === null ? Infinity : this.#now() - known.policiesAt;
    if (known.why === null && age < policiesEveryMs) return null;
    const found = await this.#inspect(known).catch((error: unknown) => ({ why: `cannot be used: ${reasonOf(error)}`, isKnown: false }));
    // one that is busy serves on for some looks that end without an answer
    if (!found.isKnown && known.why === null && age < FEW_UNKNOWN * policiesEveryMs) return null;
    if (found.why === null) known.policiesAt = this.#now();
    return found.why;
  }

  /** Why the servers, the tables or the row policies of a set do not let it serve, and whether that is known. */
  async #inspect(known: Known): Promise<{ readonly why: string | null; readonly isKnown: boolean }> {
    const { store, hasReader, shards, serversFault } = known.set;
    const signal = AbortSignal.timeout(DEADLINE_MS);
    // first: one that has lost its tables cannot tell when they were made
    const strange = await serversFault(signal);
    if (strange !== null) return { why: strange, isKnown: true };
    const tables = await Promise.all((shards?.all ?? [store]).map((one) => migrated(one, signal)));
    known.since = tables[0]?.since ?? null;
    if (!tables.every(({ isWhole }) => isWhole))
      return { why: 'lacks tables of this version, which its sinks or a start make', isKnown: true };
    const fault = (await shards?.fault(signal)) ?? null;
    if (fault !== null) return { why: fault, isKnown: true };
    if (!hasReader) {
      const othersHave = this.#options.sets.some((one) => one.hasReader);
      return { why: othersHave ? 'has no reader of its own, as another set has' : null, isKnown: true };
    }
    const { missing, unknown } = await policiesOf(known.set);
    known.unguarded = missing;
    if (missing.length > 0) return { why: `has no row policy on ${missing.join(', ')}, and would show rows of all tenants`, isKnown: true };
    return { why: unknown.length > 0 ? `did not show its row policies on ${unknown.join(', ')}` : null, isKnown: unknown.length === 0 };
  }

  /** Every shard must: a query that lacks one has no answer. */
  async #answers({ set: { store, shards } }: Known): Promise<boolean> {
    const answers = (shards?.all ?? [store]).map((one) => one.ping().catch(() => false));
    return (await Promise.all(answers)).every(Boolean);
  }

  #serves(known: Known): void {
    if (known.why === null) return;
    known.why = null;
    this.#options.log.info({ set: known.set.name }, 'The set serves.');
  }

  #ends(known: Known, why: string): void {
    known.policiesAt = null;
    if (known.why !== why) this.#options.log.warn({ set: known.set.name, why }, 'The set does not serve.');
    known.why = why;
    const waiting = [...known.onLost];
    known.onLost.clear();
    for (const onLost of waiting) onLost();
  }

  /** Where Kafka does not answer, sets stay where they were. */
  async #lookAtPlaces(): Promise<void> {
    if (this.#stop.signal.aborted) return;
    try {
      const places = await this.#options.places();
      for (const known of this.#sets) {
        const place = places.get(known.set.name);
        // what it has missed stays missed
        if (place !== undefined) known.place = { ...place, missed: place.missed ?? known.place.missed };
      }
    } catch (error) {
      this.#options.log.debug({ err: error }, 'How far sets are behind is unknown.');
    }
  }
}

/** What is missing where queries go, and in each shard: what one of them shows without a policy, all would. */
async function policiesOf({ store, shards }: WatchedSet): ReturnType<typeof missingPolicies> {
  const own = await missingPolicies(store);
  const others = await Promise.all((shards?.all ?? []).map((shard) => missingPolicies(shard)));
  const all = (of: (look: typeof own) => readonly string[]): readonly string[] => [
    ...of(own),
    ...others.flatMap((look, index) => of(look).map((table) => `${table} in shard ${String(index + 1)}`)),
  ];
  return { missing: all(({ missing }) => missing), unknown: all(({ unknown }) => unknown) };
}
