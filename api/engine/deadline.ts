/** A deadline that is paused while nothing is expected, and can be restarted. */
export class Deadline {
  readonly #ms: number;
  readonly #end = new AbortController();
  #timer: NodeJS.Timeout | undefined;

  /** It begins now. Milliseconds. */
  constructor(ms: number) {
    this.#ms = ms;
    this.restart();
  }

  /** Aborted when the time is up. */
  get signal(): AbortSignal {
    return this.#end.signal;
  }

  restart(): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => {
      this.#end.abort(new DOMException('The time is up.', 'TimeoutError'));
    }, this.#ms).unref();
  }

  pause(): void {
    clearTimeout(this.#timer);
  }

  /** Passes strings on; the deadline is paused while they are being taken, and restarts when the next one is requested. */
  async *during<T>(texts: AsyncIterable<T> | Iterable<T>): AsyncGenerator<T> {
    try {
      this.restart();
      for await (const text of texts) {
        this.pause();
        yield text;
        this.restart();
      }
    } finally {
      this.pause();
    }
  }
}
