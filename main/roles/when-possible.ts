import type { Logger } from 'pino';
import { reasonOf } from '../../pipeline/core/connection-reason.ts';
import { repeat } from '../../pipeline/core/repeat.ts';
import { startAll, stopAll, type Service } from '../../pipeline/core/service.ts';

const EVERY_MS = 5000;

export type WhenPossibleOptions = {
  readonly name: string;
  /** What must be done before; it rejects where that is not possible now. */
  readonly prepare: () => Promise<void>;
  readonly services: readonly Service[];
  readonly log: Logger;
  /** Called when the services could not be started later on: the process should end and be started again. */
  readonly onFailed: (error: Error) => void;
  readonly everyMs?: number;
};

/** Services that start when what they need is there: at once where it is, else as soon as it is, and the start does not wait for that. */
export class WhenPossible implements Service {
  readonly name: string;
  readonly #options: WhenPossibleOptions;
  readonly #stop = new AbortController();
  /** Aborted when the services begin, or when they must not any more. */
  readonly #begun = new AbortController();
  #running: Promise<unknown> = Promise.resolve();
  #reason: string | null = 'it was not looked for yet';

  constructor(options: WhenPossibleOptions) {
    this.#options = options;
    this.name = options.name;
  }

  /** Why they have not started; null: they have. */
  get reason(): string | null {
    return this.#reason;
  }

  async start(): Promise<void> {
    if (await this.#isPossible()) await this.#begin();
    else {
      const { everyMs = EVERY_MS, onFailed } = this.#options;
      this.#running = repeat(everyMs, this.#begun.signal, () => this.#again()).catch((error: unknown) => {
        onFailed(error as Error);
      });
    }
  }

  async stop(): Promise<void> {
    this.#stop.abort();
    this.#begun.abort();
    await this.#running;
    if (this.#reason === null) await stopAll(this.#options.services);
  }

  async #again(): Promise<void> {
    if (this.#begun.signal.aborted || !(await this.#isPossible()) || this.#stop.signal.aborted) return;
    await this.#begin();
    this.#begun.abort();
  }

  async #begin(): Promise<void> {
    await startAll(this.#options.services);
    this.#reason = null;
    this.#options.log.info({ of: this.name }, 'Started.');
  }

  async #isPossible(): Promise<boolean> {
    const { prepare, log } = this.#options;
    try {
      await prepare();
      return true;
    } catch (error) {
      const reason = reasonOf(error);
      if (reason !== this.#reason) log.warn({ err: error, of: this.name }, 'It cannot start yet; retrying.');
      this.#reason = reason;
      return false;
    }
  }
}
