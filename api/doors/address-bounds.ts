/** What one address and all together may have of a listener. */
export type AddressBoundsOptions = {
  readonly maxConnections: number;
  readonly maxOfAddress: number;
  /** Monotonic milliseconds. */
  readonly now?: () => number;
};

/** Handshakes of TLS that are under way at once, and that begin in a second: of all, and of one address. */
const MAX_HANDSHAKES = 64;
const HANDSHAKES_PER_SECOND = 200;
const ADDRESS_HANDSHAKES_PER_SECOND = 20;

/** Counts connections and handshakes by address. */
export class AddressBounds {
  readonly #options: Required<AddressBoundsOptions>;
  readonly #byAddress = new Map<string, number>();
  #connections = 0;
  #handshakes = 0;
  /** Of the second that began at `#since`. */
  #begun = 0;
  readonly #begunBy = new Map<string, number>();
  #since = -Infinity;

  constructor(options: AddressBoundsOptions) {
    this.#options = { now: () => performance.now(), ...options };
  }

  get connections(): number {
    return this.#connections;
  }

  /** Counts a connection, for which `leave` must be called; or why there may be no more. */
  enter(address: string): 'connections' | 'address' | null {
    const { maxConnections, maxOfAddress } = this.#options;
    if (this.#connections >= maxConnections) return 'connections';
    const own = this.#byAddress.get(address) ?? 0;
    if (own >= maxOfAddress) return 'address';
    this.#connections += 1;
    this.#byAddress.set(address, own + 1);
    return null;
  }

  leave(address: string): void {
    this.#connections -= 1;
    const own = (this.#byAddress.get(address) ?? 0) - 1;
    if (own <= 0) this.#byAddress.delete(address);
    else this.#byAddress.set(address, own);
  }

  /** Counts a handshake that begins, for which `endHandshake` must be called once; false where there may be no more now. */
  beginHandshake(address: string): boolean {
    const now = this.#options.now();
    if (now - this.#since >= 1000) {
      this.#since = now;
      this.#begun = 0;
      this.#begunBy.clear();
    }
    const own = this.#begunBy.get(address) ?? 0;
    if (this.#handshakes >= MAX_HANDSHAKES || this.#begun >= HANDSHAKES_PER_SECOND || own >= ADDRESS_HANDSHAKES_PER_SECOND) return false;
    this.#handshakes += 1;
    this.#begun += 1;
    this.#begunBy.set(address, own + 1);
    return true;
  }

  endHandshake(): void {
    this.#handshakes -= 1;
  }
}

/** What counts as one address: of IPv6 the network of 64 bits, which a single host has all of. */
export function addressOf(remote = ''): string {
  if (remote.startsWith('::ffff:') && remote.includes('.')) return remote.slice('::ffff:'.length);
  if (!remote.includes(':')) return remote;
  const [head = '', tail] = remote.split('::');
  const groups = head === '' ? [] : head.split(':');
  const behind = tail === undefined || tail === '' ? [] : tail.split(':');
  const whole =
    tail === undefined ? groups : [...groups, ...Array<string>(Math.max(8 - groups.length - behind.length, 0)).fill('0'), ...behind];
  return `${whole.slice(0, 4).join(':')}::/64`;
}
