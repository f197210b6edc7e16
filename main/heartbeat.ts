/** How often a supervisor checks for the heartbeat of a process: as often as role.ts sends it. Milliseconds. */
export const LOOK_MS = 1000;

/** Looks without a beat after which an event loop hangs. */
const MOST_MISSED = 15;

/**
 * Whether another process still beats. It counts looks, not time: where the machine or the process that looks was halted itself,
 * nothing was missed. A process is watched from its first beat on.
 */
export class Heartbeat {
  #missed = -1;

  beat(): void {
    this.#missed = 0;
  }

  /** Looks once; true when MOST_MISSED looks have seen nothing. */
  look(): boolean {
    if (this.#missed >= 0) this.#missed++;
    return this.#missed >= MOST_MISSED;
  }
}
