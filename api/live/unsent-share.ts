/** What may wait for one client that has taken nothing lately, and for one that takes what it is sent; the second ones where much waits for all. Bytes. */
const MOST_OF_SLOW = [256 * 1024, 16 * 1024] as const;
const MOST_OF_FAST = [1024 * 1024, 256 * 1024] as const;
/** Of all clients of a process together. Bytes. */
const MOST_OF_ALL = 64 * 1024 * 1024;

/** How much may wait for clients that read slowly: of one, and of all. */
export class UnsentShare {
  readonly #clients = new Set<{ readonly unsent: number }>();
  #sum = 0;
  #summedAt = -Infinity;

  add(client: { readonly unsent: number }): () => void {
    this.#clients.add(client);
    return () => {
      this.#clients.delete(client);
    };
  }

  /** How much may wait for one client now, which takes what it is sent, or does not; `now` by `performance.now()`. */
  mostOfOne(isTaking: boolean, now: number): number {
    if (now - this.#summedAt > SUM_MS) {
      this.#sum = 0;
      for (const { unsent } of this.#clients) this.#sum += unsent;
      this.#summedAt = now;
    }
    return (isTaking ? MOST_OF_FAST : MOST_OF_SLOW)[this.#sum < MOST_OF_ALL ? 0 : 1];
  }
}

/** How often it is added up. Milliseconds. */
const SUM_MS = 20;
