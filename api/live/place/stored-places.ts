import { setTimeout as sleep } from 'node:timers/promises';
import { storeUnavailable } from '../../../pipeline/core/errors.ts';
import type { LogPlace } from './log-place.ts';

/** How often Kafka is polled while a tail waits, and how long one waits. Milliseconds. */
const LOOK_MS = 50;
const WAIT_MS = 60_000;

/** Up to which offsets the log is stored, by partition. */
export type Stored = () => Promise<readonly number[]>;

/** Waits until places in the log are stored: one request to Kafka at a time for all who wait. */
export class StoredPlaces {
  readonly #query: Stored;
  #pending: Promise<readonly number[]> | null = null;

  constructor(query: Stored) {
    this.#query = query;
  }

  /** Resolves when all before this place is stored. Rejects with HttpError 503 where that takes a minute, and when the signal comes. */
  async wait(place: LogPlace, signal: AbortSignal): Promise<void> {
    const until = performance.now() + WAIT_MS;
    for (;;) {
      signal.throwIfAborted();
      const stored = await this.#stored().catch(() => null);
      if (stored !== null && place.isWithin(stored)) return;
      if (performance.now() > until) throw storeUnavailable();
      await sleep(LOOK_MS, undefined, { signal });
    }
  }

  #stored(): Promise<readonly number[]> {
    this.#pending ??= this.#query().finally(() => (this.#pending = null));
    return this.#pending;
  }
}
