import type { BatchStore, StoredBatch } from './batch-store.ts';

/** Where batches go, and what becomes of those that are refused. */
export type SenderOptions = {
  readonly url: string;
  readonly key: string;
  readonly path: string;
  readonly contentType: string;
  readonly store: BatchStore;
  /** The path is not for this account, or this key: nothing is sent to it any more. */
  readonly onStop: () => void;
  /** The session is too large or too long. */
  readonly onSessionFull?: (session: string) => void;
};

const [FIRST_WAIT_MS, LAST_WAIT_MS] = [1000, 60_000];
/** What a browser sends of a page that it has left already. */
const MOST_KEPT_ALIVE = 60_000;

type Outcome = { readonly kind: 'done' | 'full' | 'stop' } | { readonly kind: 'later'; readonly seconds: number };
const LATER: Outcome = { kind: 'later', seconds: 0 };

/** Sends what the store has, one batch after the other, oldest first, and tries again what the service could not take. */
export class Sender {
  readonly #options: SenderOptions;
  #running = false;
  #isWanted = false;
  #isStopped = false;
  #waitMs = FIRST_WAIT_MS;
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(options: SenderOptions) {
    this.#options = options;
  }

  /** Sends all there is, now or after what is being sent. */
  wake(): void {
    if (this.#isStopped) return;
    this.#isWanted = true;
    if (this.#running || this.#timer !== undefined) return;
    this.#running = true;
    void oneAtATime(`logweir ${this.#options.path}`, () => this.#run()).finally(() => {
      this.#running = false;
      if (this.#isWanted) this.wake();
    });
  }

  /** Does not wait any longer: there is a network again. */
  retry(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.wake();
  }

  async stop(): Promise<void> {
    this.#isStopped = true;
    clearTimeout(this.#timer);
    await this.#options.store.clear();
  }

  /** A batch of a page that is about to leave; true where the browser has taken it. It stays in the store until it is acknowledged: twice is once. */
  beacon(body: string): boolean {
    const { url, key, path } = this.#options;
    if (this.#isStopped || body.length > MOST_KEPT_ALIVE) return false;
    return navigator.sendBeacon(`${url}${path}?api_key=${encodeURIComponent(key)}`, body);
  }

  /**
   * A batch of a page that is about to leave, whose answer it may not live to see: the browser has it, and then no one else. It is kept where
   * that failed, or is not worth a try.
   */
  async handOver(batch: StoredBatch): Promise<void> {
    if (this.#isStopped) return;
    const isHopeless = this.#waitMs > FIRST_WAIT_MS || !navigator.onLine || batch.body.length > MOST_KEPT_ALIVE;
    const outcome = isHopeless ? LATER : await this.#send(batch, { outlivesPage: true });
    if (outcome.kind === 'stop') await this.#end();
    if (outcome.kind !== 'later') return;
    await this.#options.store.put(batch);
    this.#wait(outcome.seconds);
  }

  async #end(): Promise<void> {
    await this.stop();
    this.#options.onStop();
  }

  async #run(): Promise<void> {
    const { store, onSessionFull } = this.#options;
    while (this.#isWanted && !this.#isStopped) {
      this.#isWanted = false;
      for (const batch of await store.all()) {
        // a page that closes takes this request with it: another one sends what is stored
        const outcome = await this.#send(batch, { outlivesPage: false });
        if (outcome.kind === 'later') {
          this.#wait(outcome.seconds);
          return;
        }
        this.#waitMs = FIRST_WAIT_MS;
        if (outcome.kind === 'stop') {
          await this.#end();
          return;
        }
        if (outcome.kind === 'full') onSessionFull?.(batch.session);
        await store.remove(batch);
      }
    }
  }

  /** Tries again after so long, or as it waits already. */
  #wait(seconds: number): void {
    if (this.#timer !== undefined) return;
    const ms = Math.max(seconds * 1000, this.#waitMs * (0.5 + Math.random() / 2));
    this.#waitMs = Math.min(LAST_WAIT_MS, 2 * this.#waitMs);
    this.#timer = setTimeout(() => {
      this.#timer = undefined;
      this.wake();
    }, ms);
  }

  async #send({ body, isGzip }: StoredBatch, { outlivesPage }: { readonly outlivesPage: boolean }): Promise<Outcome> {
    const { url, key, path, contentType } = this.#options;
    try {
      const response = await fetch(`${url}${path}`, {
        method: 'POST',
        headers: {
          Authorization: `Bearer ${key}`,
          'Content-Type': contentType,
          ...(isGzip ? { 'Content-Encoding': 'gzip' } : {}),
        },
        body,
        credentials: 'omit',
        keepalive: outlivesPage && body.length < MOST_KEPT_ALIVE,
      });
      return await outcomeOf(response);
    } catch {
      return LATER;
    }
  }
}

async function outcomeOf(response: Response): Promise<Outcome> {
  const { status } = response;
  if (status === 401 || status === 403) return { kind: 'stop' };
  if (status === 413) return { kind: 'full' };
  if (status === 429 || status >= 500) {
    const text = await response.text().catch(() => '');
    // a gate is no outage: it opens with another plan
    if (status === 503 && text.includes('session replay is not enabled')) return { kind: 'stop' };
    return { kind: 'later', seconds: Number(response.headers.get('retry-after') ?? 0) || 0 };
  }
  return { kind: 'done' };
}

/** Runs after what other tabs of the origin run by this name: they share the store, and would send its batches too. */
async function oneAtATime(name: string, run: () => Promise<void>): Promise<void> {
  if (typeof navigator === 'undefined' || !('locks' in navigator)) return run();
  // a sandbox has none
  return navigator.locks.request(name, run).catch(run);
}
