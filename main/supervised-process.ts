import { setTimeout as sleep } from 'node:timers/promises';

/** A process that runs: how it ended, how to end it. */
export type Running = { readonly exited: Promise<string>; readonly stop: () => Promise<void>; readonly kill: () => void };

/** Starts a process; resolves when it may be used. */
export type Start = (context: { readonly onSpawn: (pid: number) => void; readonly signal: AbortSignal }) => Promise<Running>;

export type SupervisedProcessOptions = {
  readonly onChange: () => void;
  readonly log: (line: string) => void;
  /** Waits before a start, by the number of early deaths. */
  readonly delaysMs?: readonly number[] | undefined;
  /** Waits before a start; `setTimeout` of node:timers/promises without it. */
  readonly wait?: (ms: number | undefined, value: undefined, options: { readonly signal: AbortSignal }) => Promise<unknown>;
};

/** How long to wait before a start, by the number of deaths before it that came soon after the start before. */
const DELAYS_MS = [0, 500, 1000, 2000, 4000, 5000];

/** A process that has run this long resets the delays. */
const STEADY_MS = 30_000;

/** A supervised process: it is started again whenever it ends unrequested. */
export class SupervisedProcess {
  /** The number of the process that runs, or ran last. */
  pid = 0;
  restarts = 0;
  readonly name: string;
  protected readonly log: (line: string) => void;
  readonly #begin: Start;
  readonly #onChange: () => void;
  readonly #delaysMs: readonly number[];
  readonly #wait: NonNullable<SupervisedProcessOptions['wait']>;
  readonly #stopping = new AbortController();
  #earlyDeaths = 0;
  #startedAt = 0;
  /** Its end has been requested, to start it again. */
  #restarted: PromiseWithResolvers<undefined> | null = null;
  #running: Promise<Running> | null = null;

  constructor(name: string, start: Start, { onChange, log, delaysMs = DELAYS_MS, wait = sleep }: SupervisedProcessOptions) {
    this.name = name;
    this.#begin = start;
    this.#onChange = onChange;
    this.log = log;
    this.#delaysMs = delaysMs;
    this.#wait = wait;
  }

  /** Starts it for the first time; fails when that fails. */
  async start(): Promise<void> {
    const running = await this.#launch();
    void this.#keep(running);
  }

  /** Ends it and does not start it again; kills it when the time has passed. */
  async stop(timeoutMs: number): Promise<void> {
    this.#stopping.abort();
    const running = await this.#running?.catch(() => null);
    if (!running) return;
    const timer = setTimeout(running.kill, timeoutMs);
    await Promise.race([running.stop(), running.exited]);
    await running.exited;
    clearTimeout(timer);
  }

  /** Ends it and starts it again, at once and not as after a death; kills it when the time has passed. Resolves when it runs again. */
  async restart(timeoutMs: number): Promise<void> {
    const running = await this.#running?.catch(() => null);
    if (!running || this.#stopping.signal.aborted) return;
    const { promise } = (this.#restarted ??= Promise.withResolvers());
    const timer = setTimeout(running.kill, timeoutMs);
    await Promise.race([running.stop(), running.exited]);
    await promise;
    clearTimeout(timer);
  }

  /** Ends it at once and does not start it again. */
  async kill(): Promise<void> {
    this.#stopping.abort();
    const running = await this.#running?.catch(() => null);
    running?.kill();
  }

  #launch(): Promise<Running> {
    this.#startedAt = Date.now();
    const onSpawn = (pid: number): void => {
      this.pid = pid;
      this.#onChange();
    };
    this.#running = this.#begin({ onSpawn, signal: this.#stopping.signal });
    return this.#running;
  }

  async #keep(first: Running): Promise<void> {
    let running = first;
    for (;;) {
      let reason = await running.exited;
      for (;;) {
        if (this.#stopping.signal.aborted) return;
        if (this.#restarted !== null) this.#earlyDeaths = 0;
        else {
          this.log(`${this.name} ended (${reason}), starting it again`);
          if (!(await this.#pause())) return;
        }
        this.restarts++;
        try {
          running = await this.#launch();
          this.#restarted?.resolve(undefined);
          this.#restarted = null;
          break;
        } catch (error) {
          reason = error instanceof Error ? error.message : String(error);
        }
      }
    }
  }

  /** Waits before a new start; false when it is not wanted any more. */
  async #pause(): Promise<boolean> {
    const isSteady = Date.now() - this.#startedAt >= STEADY_MS;
    this.#earlyDeaths = isSteady ? 0 : this.#earlyDeaths + 1;
    const index = Math.min(Math.max(this.#earlyDeaths - 1, 0), this.#delaysMs.length - 1);
    try {
      await this.#wait(this.#delaysMs[index], undefined, { signal: this.#stopping.signal });
      return true;
    } catch {
      return false;
    }
  }
}
