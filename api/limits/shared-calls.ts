import { LRUCache } from 'lru-cache';

/** Calls of a key by the other nodes. `total` only grows while the key is called, so callers use differences; `recent`: those of the last minute, about. */
export type OthersCalls = { readonly total: number; readonly recent: number };

/** What all API nodes have counted together of calls that have a rate a minute; in memory, answers at once. */
export interface SharedCalls {
  byOthers(key: string): OthersCalls;
  /** Notes a call that this node has let through, for the other nodes to see. */
  called(key: string): void;
}

/** Of more keys the one that was called longest ago is forgotten: it is counted by each node alone, until it is called again. */
const MAX_SHARED_KEYS = 20_000;
const MINUTE_MS = 60_000;
const NONE: OthersCalls = { total: 0, recent: 0 };

/** A node that is alone. */
export const ALONE: SharedCalls = { byOthers: () => NONE, called: () => undefined };

/** `minute`: the one that `inMinute` counts; `before` counts the one before it. */
type Known = { readonly total: number; readonly minute: number; readonly inMinute: number; readonly before: number };

/** The calls that were counted here and by others. Times are monotonic milliseconds. */
export class CallCounts implements SharedCalls {
  readonly #now: () => number;
  readonly #others = new LRUCache<string, Known>({ max: MAX_SHARED_KEYS });
  #own = new Map<string, number>();

  constructor(now: () => number) {
    this.#now = now;
  }

  byOthers(key: string): OthersCalls {
    const known = this.#others.get(key);
    if (known === undefined) return NONE;
    const at = this.#now() / MINUTE_MS;
    const { total, inMinute, before } = turned(known, Math.floor(at));
    return { total, recent: Math.round(inMinute + before * (1 - (at % 1))) };
  }

  called(key: string): void {
    const count = this.#own.get(key);
    if (count !== undefined || this.#own.size < MAX_SHARED_KEYS) this.#own.set(key, (count ?? 0) + 1);
  }

  /** What was counted here and not told yet. */
  take(): ReadonlyMap<string, number> {
    const taken = this.#own;
    this.#own = new Map();
    return taken;
  }

  /** What another node has counted lately. */
  fold(calls: ReadonlyMap<string, number>): void {
    const minute = Math.floor(this.#now() / MINUTE_MS);
    for (const [key, count] of calls) {
      const { total, inMinute, before } = turned(this.#others.get(key) ?? { total: 0, minute, inMinute: 0, before: 0 }, minute);
      this.#others.set(key, { total: total + count, minute, inMinute: inMinute + count, before });
    }
  }
}

/** The same, as of a later minute. */
const turned = (known: Known, minute: number): Known =>
  minute === known.minute ? known : { ...known, minute, inMinute: 0, before: minute === known.minute + 1 ? known.inMinute : 0 };
