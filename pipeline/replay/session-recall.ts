import { setTimeout as sleep } from 'node:timers/promises';

/** Times of the first and of the last event, milliseconds since 1970. */
export type SessionSpan = { readonly first: number; readonly last: number };

/** What there is of a session; `bytes` of its events as JSON. */
export type SessionSize = SessionSpan & { readonly bytes: number };

/**
 * What is stored of these sessions of a tenant, with the times of some of their events; those without rows are left out. Rejects where that
 * cannot be told now.
 */
export type StoredSizes = (tenantId: number, sessions: ReadonlyMap<string, SessionSpan>) => Promise<ReadonlyMap<string, SessionSize>>;

/** Sessions of a tenant that wait to be asked for; further ones are not. */
const MAX_WAITING = 1000;
/** Sessions of one question. */
const MAX_AT_ONCE = 500;
/** Between two rounds of questions: where each batch is of another session, a question for each would cost more than the batches. Milliseconds. */
const PAUSE_MS = 1000;
/** After a question without an answer. Milliseconds. */
const RETRY_MS = 5000;

export type SessionRecallOptions = {
  readonly stored: StoredSizes;
  readonly onFound: (tenantId: number, session: string, size: SessionSize) => void;
  /** Called for the first of several faults. */
  readonly onFault: (error: unknown) => void;
  readonly retryMs?: number;
  /** Resolves when the next round may begin. */
  readonly pause?: () => Promise<unknown>;
};

/** Asks for sessions that a process does not know, or has forgotten: one question at a time, one of each tenant in a round, until there is an answer. */
export class SessionRecall {
  readonly #options: SessionRecallOptions;
  readonly #waiting = new Map<number, Map<string, SessionSpan>>();
  #isRunning = false;
  #isAnswered = true;

  constructor(options: SessionRecallOptions) {
    this.#options = options;
  }

  /** Has a session asked for; does not wait. */
  want(tenantId: number, session: string, span: SessionSpan): void {
    const own = this.#waiting.get(tenantId) ?? new Map<string, SessionSpan>();
    if (own.size >= MAX_WAITING) return;
    own.set(session, span);
    this.#waiting.set(tenantId, own);
    if (this.#isRunning) return;
    this.#isRunning = true;
    void this.#run();
  }

  async #run(): Promise<void> {
    const { pause = (): Promise<unknown> => sleep(PAUSE_MS, undefined, { ref: false }) } = this.#options;
    while (this.#waiting.size > 0) {
      for (const [tenantId, waiting] of [...this.#waiting]) await this.#ask(tenantId, waiting);
      // those that come meanwhile are asked for together
      await pause();
    }
    this.#isRunning = false;
  }

  async #ask(tenantId: number, waiting: Map<string, SessionSpan>): Promise<void> {
    const { stored, onFound, onFault, retryMs = RETRY_MS } = this.#options;
    const some = new Map([...waiting].slice(0, MAX_AT_ONCE));
    try {
      for (const [session, size] of await stored(tenantId, some)) onFound(tenantId, session, size);
      for (const session of some.keys()) waiting.delete(session);
      if (waiting.size === 0) this.#waiting.delete(tenantId);
      this.#isAnswered = true;
    } catch (error) {
      if (this.#isAnswered) onFault(error);
      this.#isAnswered = false;
      await sleep(retryMs, undefined, { ref: false });
    }
  }
}
