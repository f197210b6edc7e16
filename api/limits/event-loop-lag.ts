import type { Service } from '../../pipeline/core/service.ts';

export type EventLoopLagOptions = {
  /** Monotonic milliseconds. */
  readonly now?: () => number;
  /** Calls back every `ms` milliseconds; returns what ends that. */
  readonly every?: (ms: number, tick: () => void) => () => void;
};

const INTERVAL_MS = 50;
/** Ticks that must be late one after the other: a single long pause, such as a garbage collection, is not an overload. */
const STREAK = 3;

/**
 * How late a timer fires, milliseconds: the least of the last three ticks, 50 ms apart. So it rises only while the event loop stays
 * slow, and is back within a tick of the first turn that is in time. Reading it costs nothing. (The histogram of perf_hooks remembers
 * pauses until it is reset, and does not distinguish one pause from many.)
 */
export class EventLoopLag implements Service {
  readonly name = 'event loop lag';
  readonly #now: () => number;
  readonly #every: NonNullable<EventLoopLagOptions['every']>;
  #end: (() => void) | null = null;
  #last = 0;
  #late: readonly number[] = [];
  #lag = 0;

  constructor(options: EventLoopLagOptions = {}) {
    this.#now = options.now ?? ((): number => performance.now());
    this.#every = options.every ?? everyInterval;
  }

  /** The lag at the last tick; 0 while it is not started. */
  get ms(): number {
    return this.#lag;
  }

  start(): Promise<void> {
    this.#last = this.#now();
    this.#end ??= this.#every(INTERVAL_MS, () => {
      this.#tick();
    });
    return Promise.resolve();
  }

  stop(): Promise<void> {
    this.#end?.();
    this.#end = null;
    this.#late = [];
    this.#lag = 0;
    return Promise.resolve();
  }

  #tick(): void {
    const now = this.#now();
    this.#late = [...this.#late.slice(1 - STREAK), Math.max(now - this.#last - INTERVAL_MS, 0)];
    this.#last = now;
    this.#lag = this.#late.length < STREAK ? 0 : Math.min(...this.#late);
  }
}

function everyInterval(ms: number, tick: () => void): () => void {
  const timer = setInterval(tick, ms);
  timer.unref();
  return () => {
    clearInterval(timer);
  };
}
