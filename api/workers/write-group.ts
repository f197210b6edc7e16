import type { Writable } from 'node:stream';

/** More is not held back. Bytes. */
const MOST_BYTES = 64 * 1024;

/** What is written to a stream in one turn of the event loop goes out together: a write costs the system nearly the same for one frame as for a hundred. */
export class WriteGroup {
  readonly #stream: Writable;
  #bytes = 0;
  #isOpen = false;

  constructor(stream: Writable) {
    this.#stream = stream;
  }

  /** Called before `bytes` bytes are written. */
  add(bytes: number): void {
    this.#bytes += bytes;
    if (!this.#isOpen) {
      this.#isOpen = true;
      this.#stream.cork();
      setImmediate(this.#end);
    } else if (this.#bytes > MOST_BYTES) {
      this.#stream.uncork();
      this.#stream.cork();
      this.#bytes = bytes;
    }
  }

  readonly #end = (): void => {
    this.#isOpen = false;
    this.#bytes = 0;
    this.#stream.uncork();
  };
}
