import type { Control, Outlet } from '../outlet.ts';

/** How a tail is written as one answer. */
export interface TailText {
  entry(text: Buffer, position: () => string): string | Buffer;
  /** Empty for what is not sent. */
  control(message: Control): string;
}

/** A tail as an answer that streams: what is written waits here until the connection takes it. */
export class StreamOutlet implements Outlet, AsyncIterable<string | Buffer> {
  readonly #text: TailText;
  #parts: (string | Buffer)[] = [];
  #bytes = 0;
  #isOver = false;
  #wake = (): void => undefined;

  constructor(text: TailText) {
    this.#text = text;
  }

  get unsent(): number {
    return this.#bytes;
  }

  entry(text: Buffer, position: () => string): void {
    this.#add(this.#text.entry(text, position));
  }

  control(message: Control): void {
    const text = this.#text.control(message);
    if (text !== '') this.#add(text);
  }

  close(): void {
    this.#isOver = true;
    this.#wake();
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<string | Buffer> {
    // a client that reads the head alone waits for a first part
    yield '';
    for (;;) {
      const parts = this.#parts;
      this.#parts = [];
      // what is with the connection still waits to be sent
      for (const part of parts) {
        yield part;
        this.#bytes -= part.length;
      }
      if (this.#parts.length > 0) continue;
      if (this.#isOver) return;
      await new Promise<void>((resolve) => (this.#wake = resolve));
    }
  }

  #add(part: string | Buffer): void {
    if (this.#isOver) return;
    this.#parts.push(part);
    this.#bytes += part.length;
    this.#wake();
  }
}
