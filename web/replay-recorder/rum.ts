import { maskedJson } from './masks.ts';

/** Views, errors and vitals as entries of the log: they are sent also where replay is off. */

export type RumEvent = { readonly level: 'info' | 'error'; readonly message: string } & Readonly<Record<string, unknown>>;

export type RumOptions = {
  readonly url: string;
  readonly key: string;
  /** What each entry has beside its own. */
  readonly labels: () => Readonly<Record<string, unknown>>;
  readonly masks: readonly RegExp[];
};

/** Entries that wait, at most: the service may be away for long. */
const MOST_HELD = 500;
const [FIRST_WAIT_MS, LAST_WAIT_MS] = [2000, 60_000];

export class Rum {
  readonly #options: RumOptions;
  #held: string[] = [];
  #timer: ReturnType<typeof setTimeout> | undefined;
  #waitMs = FIRST_WAIT_MS;
  #isSending = false;
  #isStopped = false;

  constructor(options: RumOptions) {
    this.#options = options;
  }

  add(event: RumEvent): void {
    if (this.#isStopped) return;
    const { labels, masks } = this.#options;
    this.#held.push(maskedJson({ timestamp: new Date().toISOString(), ...labels(), ...event }, masks));
    if (this.#held.length > MOST_HELD) this.#held.shift();
    this.#later();
  }

  /** Sends what there is, also while something is being sent: the page is about to leave, and no other moment may come. */
  leave(): void {
    const sent = this.#held;
    if (sent.length === 0) return;
    this.#held = [];
    void this.#send(`${sent.join('\n')}\n`).then((isDone) => {
      // a page that came back
      if (!isDone) this.#hold(sent);
    });
  }

  /** Sends what there is, unless something is being sent. */
  async flush(): Promise<void> {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    if (this.#isSending || this.#held.length === 0) return;
    this.#isSending = true;
    const sent = this.#held;
    this.#held = [];
    const isDone = await this.#send(`${sent.join('\n')}\n`);
    this.#isSending = false;
    this.#waitMs = isDone ? FIRST_WAIT_MS : Math.min(LAST_WAIT_MS, 2 * this.#waitMs);
    this.#hold(isDone ? [] : sent);
  }

  /** Holds again what could not be sent, before what came since. */
  #hold(unsent: readonly string[]): void {
    if (this.#isStopped) return;
    this.#held = [...unsent, ...this.#held].slice(-MOST_HELD);
    if (this.#held.length > 0) this.#later();
  }

  #later(): void {
    this.#timer ??= setTimeout(() => void this.flush(), this.#waitMs);
  }

  async #send(body: string): Promise<boolean> {
    const { url, key } = this.#options;
    try {
      const { status } = await fetch(`${url}/api/v1/ingest`, {
        method: 'POST',
        headers: { Authorization: `Bearer ${key}`, 'Content-Type': 'application/x-ndjson' },
        body,
        credentials: 'omit',
        keepalive: body.length < 60_000,
      });
      if (status === 401 || status === 403) this.#isStopped = true;
      return status !== 429 && status < 500;
    } catch {
      return false;
    }
  }
}
