const SIZE_BYTES = 4;
/** No response is larger: a fetch requests a few MiB, and gets one record more at most. */
const MAX_RESPONSE = 256 * 1024 * 1024;

/** Puts the responses of a connection to Kafka together, each in memory of its own: its size (4 bytes, big-endian), then its bytes. */
export class ResponseAssembler {
  readonly #onResponse: (response: Buffer) => void;
  readonly #size = Buffer.alloc(SIZE_BYTES);
  /** The response that is coming; null while its size is not known. */
  #response: Buffer | null = null;
  #length = 0;

  constructor(onResponse: (response: Buffer) => void) {
    this.#onResponse = onResponse;
  }

  /** Takes what came, which may be overwritten afterwards. False: these are not responses, and nothing more may be given. */
  take(bytes: Buffer): boolean {
    for (let at = 0; at < bytes.length;) {
      const target = this.#response ?? this.#size;
      const end = Math.min(bytes.length, at + target.length - this.#length);
      bytes.copy(target, this.#length, at, end);
      this.#length += end - at;
      at = end;
      if (this.#length === target.length && !this.#next(target)) return false;
    }
    return true;
  }

  /** The size, or the response, is whole. */
  #next(whole: Buffer): boolean {
    if (this.#response !== null) {
      this.#response = null;
      this.#length = 0;
      this.#onResponse(whole);
      return true;
    }
    const size = whole.readInt32BE(0);
    // each begins with the number of its request
    if (size < SIZE_BYTES || size > MAX_RESPONSE) return false;
    this.#response = Buffer.allocUnsafe(SIZE_BYTES + size);
    whole.copy(this.#response, 0);
    return true;
  }
}
