import { clientGone } from '../../pipeline/core/errors.ts';

/** Looks of one tenant's tails that run at once in a process: beside them its queries have places of their own. */
const AT_ONCE = 2;

/** Who of a tenant's tails looks next: those that have waited longest. A tenant with many tails holds up its own alone. */
export class LookTurns {
  readonly #running = new Map<number, number>();
  readonly #waiting = new Map<number, Set<() => void>>();

  /** Does the work when it is its turn. Rejects with what it throws, and with HttpError when the signal comes before. */
  async run<T>(tenantId: number, signal: AbortSignal, work: () => Promise<T>): Promise<T> {
    const running = this.#running.get(tenantId) ?? 0;
    if (running >= AT_ONCE) await this.#turn(tenantId, signal);
    else this.#running.set(tenantId, running + 1);
    try {
      return await work();
    } finally {
      this.#over(tenantId);
    }
  }

  /** Resolves when the place of another look is handed on. */
  #turn(tenantId: number, signal: AbortSignal): Promise<void> {
    const waiting = this.#waiting.get(tenantId) ?? new Set();
    this.#waiting.set(tenantId, waiting);
    return new Promise((resolve, reject) => {
      const leave = (): void => {
        waiting.delete(go);
        reject(clientGone());
      };
      const go = (): void => {
        signal.removeEventListener('abort', leave);
        waiting.delete(go);
        resolve();
      };
      waiting.add(go);
      if (signal.aborted) leave();
      else signal.addEventListener('abort', leave, { once: true });
    });
  }

  #over(tenantId: number): void {
    const [next] = this.#waiting.get(tenantId) ?? [];
    if (next !== undefined) {
      next();
      return;
    }
    this.#waiting.delete(tenantId);
    const left = (this.#running.get(tenantId) ?? 1) - 1;
    if (left === 0) this.#running.delete(tenantId);
    else this.#running.set(tenantId, left);
  }
}
