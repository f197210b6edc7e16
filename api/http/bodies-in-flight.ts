import { backpressure, slowBody, type HttpError } from '../../pipeline/core/errors.ts';

/** Most bytes of bodies that a process holds at once. */
const MAX_BYTES = 128 * 1024 * 1024;
/** A tenant may hold this fraction of them, as 1/N. */
const TENANT_SHARE = 4;
/** While more than half is taken, a sender slower than SLOW_BYTES a second after SLOW_MS milliseconds is refused. */
const [SLOW_BYTES, SLOW_MS] = [64 * 1024, 2000];
/** Senders are checked at most once in this time. Milliseconds. */
const LOOK_MS = 100;

export type BodiesInFlightOptions = {
  readonly maxBytes?: number;
  /** What they are, in the plural. */
  readonly what?: string;
  /** Monotonic milliseconds. */
  readonly now?: () => number;
};

/**
 * Bounds the memory of bodies that are being received or worked on, however many connections bring them. What has come counts, not what was
 * announced, so a slow sender holds what it has sent; and one tenant holds a quarter at most. One body alone may always come.
 */
export class BodiesInFlight {
  readonly #max: number;
  readonly #what: string;
  readonly #now: () => number;
  #bytes = 0;
  readonly #byTenant = new Map<number, number>();
  readonly #receiving = new Set<BodyInFlight>();
  #lookedAt = -Infinity;

  constructor({ maxBytes = MAX_BYTES, what = 'request bodies', now = (): number => performance.now() }: BodiesInFlightOptions = {}) {
    this.#max = maxBytes;
    this.#what = what;
    this.#now = now;
  }

  /** What all of them take now. */
  get bytes(): number {
    return this.#bytes;
  }

  /** A body that is about to come. The caller must call `leave` at the end. */
  enter(tenantId: number): BodyInFlight {
    const body: BodyInFlight = new BodyInFlight(tenantId, this.#now(), {
      take: (bytes) => {
        this.#take(body, bytes);
      },
      give: () => {
        this.#give(body);
      },
      received: () => this.#receiving.delete(body),
    });
    this.#receiving.add(body);
    return body;
  }

  #take(body: BodyInFlight, bytes: number): void {
    const own = this.#byTenant.get(body.tenantId) ?? 0;
    if (own > body.bytes && own + bytes > this.#max / TENANT_SHARE)
      throw backpressure(`This node holds as many ${this.#what} of this tenant as it may; try again.`);
    if (this.#bytes + bytes > this.#max / 2) this.#refuseSlow(body);
    if (this.#bytes > body.bytes && this.#bytes + bytes > this.#max)
      throw backpressure(`This node holds as many ${this.#what} as it may; try again.`);
    this.#bytes += bytes;
    this.#byTenant.set(body.tenantId, own + bytes);
  }

  #give(body: BodyInFlight): void {
    this.#receiving.delete(body);
    this.#bytes -= body.bytes;
    const own = (this.#byTenant.get(body.tenantId) ?? 0) - body.bytes;
    if (own === 0) this.#byTenant.delete(body.tenantId);
    else this.#byTenant.set(body.tenantId, own);
  }

  /** Others than the body that has just got bytes. */
  #refuseSlow(last: BodyInFlight): void {
    const now = this.#now();
    if (now - this.#lookedAt < LOOK_MS) return;
    this.#lookedAt = now;
    for (const body of this.#receiving) {
      const ms = now - body.since;
      if (body !== last && ms > SLOW_MS && body.bytes * 1000 < SLOW_BYTES * ms) body.refuse?.(slowBody(SLOW_BYTES));
    }
  }
}

type Account = { readonly take: (bytes: number) => void; readonly give: () => void; readonly received: () => void };

/** A body from its first byte until its request was answered. */
export class BodyInFlight {
  readonly tenantId: number;
  readonly since: number;
  bytes = 0;
  /** Ends the reading of the body with an error; set by who reads it. */
  refuse: ((error: HttpError) => void) | null = null;
  /** Is given how long decompression used the event loop, milliseconds. */
  onWorked: ((ms: number) => void) | null = null;
  readonly #account: Account;

  constructor(tenantId: number, since: number, account: Account) {
    this.tenantId = tenantId;
    this.since = since;
    this.#account = account;
  }

  /** Counts bytes that have come, or that were decompressed. Throws HttpError 429 `backpressure` where they exceed the budget. */
  add(bytes: number): void {
    this.#account.take(bytes);
    this.bytes += bytes;
  }

  /** All of it has come. */
  received(): void {
    this.refuse = null;
    this.#account.received();
  }

  worked(ms: number): void {
    this.onWorked?.(ms);
  }

  /** Gives back what it counted for. */
  leave(): void {
    this.#account.give();
    this.bytes = 0;
  }
}
