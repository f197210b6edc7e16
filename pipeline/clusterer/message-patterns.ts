import { headerOf, HEADER_BYTES } from './headers/index.ts';
import { mayBegin } from './headers/may-begin.ts';
import { Shapes } from './shapes.ts';
import { MAX_MESSAGE } from './words.ts';

/** Bytes at the beginning of a message that decide its pattern: of its headers, at most, and of its content. Of Docker's lines the end does too. */
export const DECIDING_BYTES: number = HEADER_BYTES + MAX_MESSAGE;

/** Where the content of a message lies: behind the header of a raw line, where there is one and something behind it. */
export function contentOf(bytes: Uint8Array, from: number, to: number): { readonly from: number; readonly to: number } {
  if (!mayBegin(bytes, from, to)) return { from, to };
  const { contentAt, contentEnd } = headerOf(bytes, from, to);
  return contentAt < contentEnd ? { from: contentAt, to: contentEnd } : { from, to };
}

/**
 * The pattern of a message: that of its content, without the header that a raw line has of its own. A pure function of the message's bytes; what was
 * seen lately is remembered, as `Shapes` does.
 */
export class MessagePatterns {
  readonly #shapes: Shapes;

  constructor(shapes = new Shapes()) {
    this.#shapes = shapes;
  }

  /** Works out the pattern of the message `bytes[from, to)`, into `high` and `low`. */
  read(bytes: Uint8Array, from: number, to: number): void {
    const content = contentOf(bytes, from, to);
    this.#shapes.read(bytes, content.from, content.to);
  }

  /** The same of a message without the header that it was found to have: of its content alone. */
  readContent(bytes: Uint8Array, from: number, to: number): void {
    this.#shapes.read(bytes, from, to);
  }

  /** The first eight bytes of the fingerprint, as two halves of 32 bits. */
  get high(): number {
    return this.#shapes.high;
  }

  get low(): number {
    return this.#shapes.low;
  }

  /** The template of the message that was looked up last. */
  template(): string {
    return this.#shapes.template();
  }
}
