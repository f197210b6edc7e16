import { backpressure } from '../../pipeline/core/errors.ts';

export type ParseTurnsOptions = {
  /** Monotonic milliseconds. */
  readonly now?: () => number;
  /** Calls back in the next turn of the event loop. */
  readonly nextTurn?: (go: () => void) => void;
  /** Calls back after `ms` milliseconds. */
  readonly later?: (ms: number, go: () => void) => void;
  /** Is given how long a body has waited, seconds. */
  readonly onWaited?: (seconds: number) => void;
  /** True while requests of others than a tenant are answered in this process, which its bodies delay too. */
  readonly isAmongOthers?: (tenantId: number) => boolean;
};

/** How long bodies are read in a turn of the event loop; one alone may take longer. */
const TURN_MS = 2;
/** Half-life of the time that a tenant has used. */
const HALF_LIFE_MS = 1000;
const DECAY_EVERY_MS = 100;
/** Less is as good as nothing, milliseconds. */
const LEAST_MS = 0.01;
/**
 * A tenant that has used DOMINANT times the time of any other rests after each large body: for this share of what it took. After one that
 * held the loop up for LONG_MS, or while requests of others are answered, it rests as long as that took: it has at most half of the loop.
 */
const DOMINANT = 4;
const REST_SHARE = 0.25;
const LONG_MS = 100;
/** Less is not much. Milliseconds. */
const HEAVY_MS = 20;
/**
 * A body that has waited for longer is refused when its turn comes. With what a request waits before it, and what Kafka has behind it
 * (api/ingest/patience.ts), a refusal comes within 7.5 s.
 */
const MAX_WAIT_MS = 3500;
/** While the first body of a tenant has waited for so long, one that comes then would not be read in time: it is refused at once. */
const MAX_BACKLOG_MS = 2000;

type Waiting = { readonly since: number; readonly go: () => void; readonly refuse: (error: Error) => void };

/**
 * Who has entries made of a body next. It is the largest work on the event loop of a process that takes entries, and nothing can interrupt it, so
 * there is little of it in a turn, and the tenant that has used the least time for it lately goes first. One that floods takes what the others leave,
 * and leaves some time between its bodies, since a request of the others needs several turns until it is answered.
 */
export class ParseTurns {
  readonly #options: Required<ParseTurnsOptions>;
  /** Bodies that wait, by tenant; the one that came first, first. */
  readonly #waiting = new Map<number, Waiting[]>();
  /** Milliseconds used lately. */
  readonly #used = new Map<number, number>();
  #decayedAt: number;
  /** Milliseconds used in this turn; null before its first body. */
  #turn: number | null = null;
  /** The tenant that rests. */
  #resting: number | null = null;

  constructor(options: ParseTurnsOptions = {}) {
    const later = (ms: number, go: () => void): unknown => setTimeout(go, ms);
    this.#options = {
      now: () => performance.now(),
      nextTurn: setImmediate,
      later,
      onWaited: () => undefined,
      isAmongOthers: () => false,
      ...options,
    };
    this.#decayedAt = this.#options.now();
  }

  /** Does the work, which is measured, when it is the tenant's turn. Rejects with what it throws, and with HttpError 429 `backpressure` after too long a wait. */
  async run<Result>(tenantId: number, work: () => Result): Promise<Result> {
    const others = this.#waiting.size - (this.#resting !== null && this.#waiting.has(this.#resting) ? 1 : 0);
    if (others > 0 || tenantId === this.#resting || (this.#turn ?? 0) >= TURN_MS) await this.#wait(tenantId);
    const { now } = this.#options;
    const began = now();
    this.#begin();
    try {
      return work();
    } finally {
      this.#note(tenantId, now() - began);
    }
  }

  /** True for a tenant that has used much lately, and at least as much as those who used something have on average. */
  isHeavy(tenantId: number): boolean {
    this.#decay();
    let sum = 0;
    for (const used of this.#used.values()) sum += used;
    const own = this.#used.get(tenantId) ?? 0;
    return own >= HEAVY_MS && own * this.#used.size >= sum;
  }

  /** Counts work for a tenant that was not done in a turn: what a body took to be decompressed. Milliseconds. */
  charge(tenantId: number, ms: number): void {
    this.#decay();
    this.#used.set(tenantId, (this.#used.get(tenantId) ?? 0) + ms);
  }

  #wait(tenantId: number): Promise<void> {
    const since = this.#options.now();
    const queue = this.#waiting.get(tenantId);
    if (since - (queue?.[0]?.since ?? since) > MAX_BACKLOG_MS) return Promise.reject(behindOthers());
    return new Promise((go, refuse) => {
      if (queue === undefined) this.#waiting.set(tenantId, [{ since, go, refuse }]);
      else queue.push({ since, go, refuse });
    });
  }

  #begin(): void {
    if (this.#turn !== null) return;
    this.#turn = 0;
    this.#options.nextTurn(() => {
      this.#turn = null;
      this.#next();
    });
  }

  /** Lets one go on; the next one follows when its work is noted. */
  #next(): void {
    for (let tenantId = this.#least(); tenantId !== null; tenantId = this.#least()) {
      const queue = this.#waiting.get(tenantId) as Waiting[];
      const { since, go, refuse } = queue.shift() as Waiting;
      if (queue.length === 0) this.#waiting.delete(tenantId);
      const waited = this.#options.now() - since;
      this.#options.onWaited(waited / 1000);
      if (waited <= MAX_WAIT_MS) {
        go();
        return;
      }
      refuse(behindOthers());
    }
  }

  /** The tenant that has used the least of those that wait and do not rest. */
  #least(): number | null {
    let [least, leastUsed]: [number | null, number] = [null, Infinity];
    for (const tenantId of this.#waiting.keys()) {
      const used = this.#used.get(tenantId) ?? 0;
      if (tenantId !== this.#resting && used < leastUsed) [least, leastUsed] = [tenantId, used];
    }
    return least;
  }

  #note(tenantId: number, ms: number): void {
    this.#decay();
    this.#used.set(tenantId, (this.#used.get(tenantId) ?? 0) + ms);
    this.#turn = (this.#turn ?? 0) + ms;
    if (this.#turn < TURN_MS) this.#next();
    else if (ms >= TURN_MS && this.#options.isAmongOthers(tenantId)) this.#rest(tenantId, ms);
    else if (ms >= TURN_MS && this.#isDominant(tenantId)) this.#rest(tenantId, ms < LONG_MS ? ms * REST_SHARE : ms);
  }

  #isDominant(tenantId: number): boolean {
    let most = 0;
    for (const [other, used] of this.#used) if (other !== tenantId && used > most) most = used;
    return most > 0 && (this.#used.get(tenantId) ?? 0) > DOMINANT * most;
  }

  #rest(tenantId: number, ms: number): void {
    this.#resting = tenantId;
    this.#options.later(ms, () => {
      this.#resting = null;
      if (this.#turn === null) this.#next();
    });
  }

  #decay(): void {
    const passed = this.#options.now() - this.#decayedAt;
    if (passed < DECAY_EVERY_MS) return;
    this.#decayedAt += passed;
    const factor = 0.5 ** (passed / HALF_LIFE_MS);
    for (const [tenantId, ms] of this.#used) {
      if (ms * factor < LEAST_MS) this.#used.delete(tenantId);
      else this.#used.set(tenantId, ms * factor);
    }
  }
}

const behindOthers = (): Error => backpressure('This node is busy with other bodies of this tenant; try again.');
