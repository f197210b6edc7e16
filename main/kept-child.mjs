import { setTimeout as sleep } from 'node:timers/promises';

/**
 * A process that runs: how it ended, how to end it.
 * @typedef {{ readonly exited: Promise<string>, readonly stop: () => Promise<void>, readonly kill: () => void }} Running
 *
 * @typedef {(context: { readonly onSpawn: (pid: number) => void, readonly signal: AbortSignal }) => Promise<Running>} Start
 */

/** How long to wait before a start, by the number of deaths before it that came soon after the start before. */
const DELAYS_MS = [0, 500, 1000, 2000, 4000, 5000];

/** A process that has run this long starts the delays anew. */
const STEADY_MS = 30_000;

/** A process that is started again whenever it ends without being told to. */
export class KeptChild {
  /** The number of the process that runs, or ran last. */
  pid = 0;
  restarts = 0;
  #stopping = new AbortController();
  #earlyDeaths = 0;
  #startedAt = 0;
  /** @type {Promise<Running> | null} */
  #running = null;

  /**
   * @param {string} name
   * @param {Start} start resolves when the process may be used
   * @param {{ onChange: () => void, log: (line: string) => void, delaysMs?: readonly number[] | undefined, wait?: import('./kept-child.d.mts').KeptChildOptions['wait'] }} options
   */
  constructor(name, start, { onChange, log, delaysMs = DELAYS_MS, wait = sleep }) {
    this.name = name;
    this.begin = start;
    this.onChange = onChange;
    this.log = log;
    this.delaysMs = delaysMs;
    this.wait = wait;
  }

  /** Starts it for the first time; fails when that fails. */
  async start() {
    const running = await this.#launch();
    void this.#keep(running);
  }

  /**
   * Ends it and does not start it again; kills it when TIMEOUT has passed.
   * @param {number} timeoutMs
   */
  async stop(timeoutMs) {
    this.#stopping.abort();
    const running = await this.#running?.catch(() => null);
    if (!running) return;
    const timer = setTimeout(running.kill, timeoutMs);
    await Promise.race([running.stop(), running.exited]);
    await running.exited;
    clearTimeout(timer);
  }

  /** Ends it at once and does not start it again. */
  async kill() {
    this.#stopping.abort();
    const running = await this.#running?.catch(() => null);
    running?.kill();
  }

  #launch() {
    this.#startedAt = Date.now();
    const onSpawn = (/** @type {number} */ pid) => {
      this.pid = pid;
      this.onChange();
    };
    this.#running = this.begin({ onSpawn, signal: this.#stopping.signal });
    return this.#running;
  }

  /** @param {Running} running */
  async #keep(running) {
    for (;;) {
      let reason = await running.exited;
      for (;;) {
        if (this.#stopping.signal.aborted) return;
        this.log(`${this.name} ended (${reason}), starting it again`);
        if (!(await this.#pause())) return;
        this.restarts++;
        try {
          running = await this.#launch();
          break;
        } catch (error) {
          reason = error instanceof Error ? error.message : String(error);
        }
      }
    }
  }

  /** Waits before a new start; false when it is not wanted any more. */
  async #pause() {
    const isSteady = Date.now() - this.#startedAt >= STEADY_MS;
    this.#earlyDeaths = isSteady ? 0 : this.#earlyDeaths + 1;
    const index = Math.min(Math.max(this.#earlyDeaths - 1, 0), this.delaysMs.length - 1);
    try {
      await this.wait(this.delaysMs[index], undefined, { signal: this.#stopping.signal });
      return true;
    } catch {
      return false;
    }
  }
}
