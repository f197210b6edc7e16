/** A process that runs; `exited` says how it ended (`signal SIGKILL`). */
export type Running = { readonly exited: Promise<string>; stop(): Promise<void> };

/** Starts a process and resolves when it is up; tells its number as soon as there is one. */
export type Launch = (onSpawn: (pid: number) => void) => Promise<Running>;

/** What happened to a process, for recovery times: `at` is milliseconds since the epoch. */
export type ProcessEvent = {
  readonly at: number;
  readonly name: string;
  readonly kind: 'up' | 'gone' | 'kill' | 'pause' | 'resume' | 'stop';
  readonly how?: string;
};

const RETRY_MS = 500;

/** A process of the cluster that is started again whenever it ends, unless it is held. Signals go to its own number only, and only while it lives. */
export class KeptProcess {
  readonly name: string;
  /** How often it was started. */
  starts = 0;
  readonly #launch: Launch;
  readonly #onEvent: (event: ProcessEvent) => void;
  #pid = 0;
  #running: Running | null = null;
  #held = true;
  #paused = false;
  #resumedAt = 0;
  #loop: Promise<void> | null = null;
  #wasUp = false;
  /** Why its very first start failed. */
  #failure: Error | null = null;
  /** Who waits for the next change of the state. */
  #waiting: (() => void)[] = [];

  constructor(name: string, launch: Launch, onEvent: (event: ProcessEvent) => void) {
    this.name = name;
    this.#launch = launch;
    this.#onEvent = onEvent;
  }

  /** The number of the process that lives; 0: none does. */
  get pid(): number {
    return this.#pid;
  }

  /** True while it works: it has said so since its start, and is not paused. */
  get isUp(): boolean {
    return this.#running !== null && !this.#paused;
  }

  /** Whether it stood still at any time since then (milliseconds since the epoch). */
  stoodStillSince(at: number): boolean {
    return this.#paused || this.#resumedAt >= at;
  }

  /** Starts it (again), and keeps it running from now on; resolves when it is up. Rejects only where its very first start fails. */
  async start(): Promise<void> {
    this.#held = false;
    this.#loop ??= this.#keep().finally(() => {
      this.#loop = null;
    });
    await this.until(() => this.isUp || this.#failure !== null);
    if (this.#failure !== null) throw this.#failure;
  }

  /** Does not start it again once it has ended. */
  hold(): void {
    this.#held = true;
  }

  /** Sends a signal that ends it; resolves when it is gone. It is started again unless it is held. Without a process nothing happens. */
  async kill(signal: NodeJS.Signals = 'SIGKILL'): Promise<void> {
    const victim = this.#pid;
    if (victim === 0) return;
    this.#event('kill', signal);
    this.#signal(signal);
    if (this.#paused && signal !== 'SIGKILL') this.resume();
    await this.until(() => this.#pid !== victim);
  }

  /** SIGSTOP. */
  pause(): void {
    if (this.#pid === 0 || this.#paused) return;
    this.#signal('SIGSTOP');
    this.#paused = true;
    this.#event('pause');
  }

  /** SIGCONT. */
  resume(): void {
    if (!this.#paused) return;
    this.#signal('SIGCONT');
    this.#paused = false;
    this.#resumedAt = Date.now();
    this.#event('resume');
  }

  /** Stops it as the supervisor does (SIGTERM for our own), and does not start it again. */
  async stop(): Promise<void> {
    this.hold();
    this.resume();
    this.#event('stop');
    const loop = this.#loop;
    if (this.#running === null) this.#signal('SIGKILL');
    else await this.#running.stop();
    await loop;
  }

  /** Ends it at once, without waiting. For the end of the harness. */
  destroy(): void {
    this.hold();
    this.#signal('SIGKILL');
  }

  /** Waits for a condition on this process. */
  async until(holds: () => boolean): Promise<void> {
    while (!holds()) await new Promise<void>((resolve) => this.#waiting.push(resolve));
  }

  async #keep(): Promise<void> {
    while (!this.#held) {
      try {
        this.starts += 1;
        const running = await this.#launch((pid) => {
          this.#pid = pid;
        });
        this.#running = running;
        this.#wasUp = true;
        this.#event('up');
        this.#gone(await running.exited);
      } catch (error) {
        const failure = error instanceof Error ? error : new Error(String(error));
        if (!this.#wasUp) {
          this.#failure = failure;
          this.#held = true;
        }
        this.#gone(failure.message);
        await new Promise((resolve) => setTimeout(resolve, RETRY_MS));
      }
    }
  }

  #gone(how: string): void {
    this.#pid = 0;
    this.#running = null;
    this.#paused = false;
    this.#event('gone', how);
  }

  #signal(signal: NodeJS.Signals): void {
    if (this.#pid !== 0) process.kill(this.#pid, signal);
  }

  #event(kind: ProcessEvent['kind'], how?: string): void {
    this.#onEvent({ at: Date.now(), name: this.name, kind, ...(how === undefined ? {} : { how }) });
    const waiting = this.#waiting;
    this.#waiting = [];
    for (const resolve of waiting) resolve();
  }
}
