/** Handshakes of TLS that are under way at once, and that begin in a second: of all, and of one address. */
const MAX_HANDSHAKES = 256;
const MAX_ADDRESS_HANDSHAKES = 16;
const HANDSHAKES_PER_SECOND = 200;
const ADDRESS_HANDSHAKES_PER_SECOND = 20;

/** Bounds the handshakes of a listener, of all and of one address. */
export class HandshakeBounds {
  readonly #now: () => number;
  readonly #byAddress = new Map<string, number>();
  #handshakes = 0;
  /** Of the second that began at `#since`. */
  #begun = 0;
  readonly #begunBy = new Map<string, number>();
  #since = -Infinity;

  /** `now`: monotonic milliseconds. */
  constructor(now: () => number = () => performance.now()) {
    this.#now = now;
  }

  /** Counts a handshake that begins, for which `end` must be called once; false where there may be no more now. */
  begin(address: string): boolean {
    const now = this.#now();
    if (now - this.#since >= 1000) {
      this.#since = now;
      this.#begun = 0;
      this.#begunBy.clear();
    }
    const begun = this.#begunBy.get(address) ?? 0;
    if (this.#begun >= HANDSHAKES_PER_SECOND || begun >= ADDRESS_HANDSHAKES_PER_SECOND) return false;
    const own = this.#byAddress.get(address) ?? 0;
    if (this.#handshakes >= MAX_HANDSHAKES || own >= MAX_ADDRESS_HANDSHAKES) return false;
    this.#handshakes += 1;
    this.#begun += 1;
    this.#begunBy.set(address, begun + 1);
    this.#byAddress.set(address, own + 1);
    return true;
  }

  end(address: string): void {
    this.#handshakes -= 1;
    const own = (this.#byAddress.get(address) ?? 0) - 1;
    if (own <= 0) this.#byAddress.delete(address);
    else this.#byAddress.set(address, own);
  }
}
