/** Of one client, what may wait to be sent; a little of it it always may have. Bytes. */
const MOST_OF_ONE = 256 * 1024;
const LEAST_OF_ONE = 16 * 1024;
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

  /** How much may wait for one client now; `now` by `performance.now()`. */
  mostOfOne(now: number): number {
    if (now - this.#summedAt > SUM_MS) {
      this.#sum = 0;
      for (const { unsent } of this.#clients) this.#sum += unsent;
      this.#summedAt = now;
    }
    return this.#sum < MOST_OF_ALL ? MOST_OF_ONE : LEAST_OF_ONE;
  }
}

/** So often it is added up. Milliseconds. */
const SUM_MS = 20;
