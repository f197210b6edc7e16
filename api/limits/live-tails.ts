import { forbidden, rateLimited, storeUnavailable } from '../../pipeline/core/errors.ts';
import type { Service } from '../../pipeline/core/service.ts';
import type { Principal } from '../tenants/principal.ts';

/** Most tails of one key in one process, where its tenant's plan allows as many. */
export const MAX_OF_KEY = 100;
/** An expired trial has no more. */
const FEW = 2;
/** The wait for a place, in seconds. */
const RETRY_AFTER = 10;

/** What stays open for clients of this process, such as live tails: counted for each tenant and key, and ended when the process stops. */
export class LiveTails implements Service {
  readonly name: string;
  readonly #running = new Map<string, number>();
  readonly #ending = new AbortController();

  /** `name`: what is counted, in the plural. */
  constructor(name = 'live tails') {
    this.name = name;
  }

  start(): Promise<void> {
    return Promise.resolve();
  }
  stop(): Promise<void> {
    this.#ending.abort();
    return Promise.resolve();
  }

  /** Aborted when the process stops. */
  get ending(): AbortSignal {
    return this.#ending.signal;
  }

  /**
   * Counts a tail in, and gives what counts it out again, which may be called twice. Throws HttpError: 403 above what the plan
   * allows, 429 above MAX_OF_KEY, 503 while the process stops.
   */
  enter({ tenantId, keyId, plan: { name, ceilings } }: Pick<Principal, 'tenantId' | 'keyId' | 'plan'>): () => void {
    if (this.#ending.signal.aborted) throw storeUnavailable();
    const [tenant, key] = [String(tenantId), `${String(tenantId)}/${keyId}`];
    if (this.#of(tenant) >= ceilings.liveTails)
      throw forbidden(
        `The plan ${name} allows ${String(ceilings.liveTails)} ${this.name} at once; close one${ceilings.liveTails <= FEW ? ', or add a payment method' : ''}.`,
      );
    if (this.#of(key) >= MAX_OF_KEY)
      throw rateLimited(`The key has ${String(MAX_OF_KEY)} ${this.name} open, which is the most of a key.`, RETRY_AFTER);
    this.#add(tenant, 1);
    this.#add(key, 1);
    let isIn = true;
    return () => {
      if (!isIn) return;
      isIn = false;
      this.#add(tenant, -1);
      this.#add(key, -1);
    };
  }

  /** How many a tenant has open in this process. */
  usedBy(tenantId: number): number {
    return this.#of(String(tenantId));
  }

  #of(whose: string): number {
    return this.#running.get(whose) ?? 0;
  }

  #add(whose: string, count: number): void {
    const sum = this.#of(whose) + count;
    if (sum === 0) this.#running.delete(whose);
    else this.#running.set(whose, sum);
  }
}
