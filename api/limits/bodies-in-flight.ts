import { backpressure } from '../../pipeline/core/errors.ts';

/** Most bytes of bodies that a process holds at once. */
const MAX_BYTES = 128 * 1024 * 1024;

/**
 * Bounds the memory of bodies that are being received or worked on, however many connections bring them: a slow sender holds its
 * share until its body is there or its time is up.
 */
export class BodiesInFlight {
  readonly #max: number;
  #bytes = 0;

  constructor(max = MAX_BYTES) {
    this.#max = max;
  }

  /** Takes a body of at most so many bytes in; gives what lets it go. Throws HttpError 429 `backpressure` where there is no room. */
  enter(bytes: number): () => void {
    if (this.#bytes > 0 && this.#bytes + bytes > this.#max)
      throw backpressure('This node holds as many request bodies as it may; try again.');
    this.#bytes += bytes;
    return () => {
      this.#bytes -= bytes;
    };
  }
}
