import { BatchStore, type StoredBatch } from './batch-store.ts';
import { maskedJson } from './masks.ts';
import { Sender } from './sender.ts';

/** Views, errors and vitals as entries of the log: they are sent also where replay is off. */

export type RumEvent = { readonly level: 'info' | 'error'; readonly message: string } & Readonly<Record<string, unknown>>;

export type RumOptions = {
  readonly url: string;
  readonly key: string;
  /** What each entry has beside its own. */
  readonly labels: () => Readonly<Record<string, unknown>>;
  readonly masks: readonly RegExp[];
};

/** Entries of a batch, at most: of a page that fails all the time the latest are sent. */
const MOST_HELD = 500;
/** How long an entry is in memory alone. */
const HELD_MS = 2000;
const MOST_BYTES = 5_000_000;

/** Sends entries in batches, which are kept until they are acknowledged. */
export class Rum {
  readonly #options: RumOptions;
  readonly #store = new BatchStore('logweir-rum', MOST_BYTES);
  readonly #sender: Sender;
  readonly #page = crypto.randomUUID();
  #seq = 0;
  #held: string[] = [];
  #timer: ReturnType<typeof setTimeout> | undefined;
  #isStopped = false;

  constructor(options: RumOptions) {
    this.#options = options;
    this.#sender = new Sender({
      ...{ url: options.url, key: options.key, path: '/api/v1/ingest', contentType: 'application/x-ndjson', store: this.#store },
      onStop: () => {
        this.#isStopped = true;
        this.#held = [];
      },
    });
  }

  /** What earlier pages could not send is sent from now on. */
  async open(): Promise<void> {
    await this.#store.open();
    this.#sender.wake();
  }

  add(event: RumEvent): void {
    if (this.#isStopped) return;
    const { labels, masks } = this.#options;
    this.#held.push(maskedJson({ timestamp: new Date().toISOString(), ...labels(), ...event }, masks));
    if (this.#held.length > MOST_HELD) this.#held.shift();
    this.#timer ??= setTimeout(() => void this.flush(), HELD_MS);
  }

  /** Keeps what there is, and sends it. */
  async flush(): Promise<void> {
    const batch = this.#cut();
    if (batch !== null) await this.#store.put(batch);
    this.#sender.wake();
  }

  /** The page is about to leave, and no other moment may come: what there is goes to the browser. */
  leave(): void {
    const batch = this.#cut();
    if (batch !== null) void this.#sender.handOver(batch);
  }

  /** There is a network again. */
  retry(): void {
    this.#sender.retry();
  }

  /** The entries so far as a batch; null without any. */
  #cut(): StoredBatch | null {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    const held = this.#held;
    this.#held = [];
    if (held.length === 0) return null;
    const body = new TextEncoder().encode(`${held.join('\n')}\n`);
    return { session: this.#page, seq: this.#seq++, body, isGzip: false, at: Date.now() };
  }
}
