/** Another Node process of this instance, by its internal listener. */
export type Peer = { readonly role: string; readonly pid: number; readonly port: number };

/** A peer's answer: its status and body, or null where it did not answer in time. */
export type PeerAnswer = { readonly role: string; readonly status: number; readonly body: unknown };

const DEADLINE_MS = 2000;

/** The other processes of this instance; the supervisor provides the list. */
export class Peers {
  readonly #host: string;
  readonly #token: string;
  #list: readonly Peer[] = [];
  readonly #roles = new Set<string>();
  #isListKnown = false;

  /** `host`: the address of the internal listeners. */
  constructor(host: string, token: string) {
    // a listener on every address is reached on the loopback
    this.#host = host === '0.0.0.0' ? '127.0.0.1' : host === '::' ? '[::1]' : host.includes(':') ? `[${host}]` : host;
    this.#token = token;
  }

  /** Takes the whole new list, and the names of all processes of the instance, started or not; this process itself is left out of both. */
  set(peers: readonly Peer[], names: readonly string[] = []): void {
    this.#isListKnown = true;
    const own = peers.find((peer) => peer.pid === process.pid)?.role;
    this.#list = peers.filter((peer) => peer.pid !== process.pid);
    for (const name of [...this.#list.map(({ role }) => role), ...names]) if (name !== own) this.#roles.add(name);
  }

  /** Whether the supervisor has sent the list. */
  get isListKnown(): boolean {
    return this.#isListKnown;
  }

  /** Every role that the instance has or had: one that is missing now has died, or is being started. */
  get roles(): readonly string[] {
    return [...this.#roles];
  }

  get list(): readonly Peer[] {
    return this.#list;
  }

  /** Queries all peers at once, with a deadline of 2 s. A peer that does not answer has status 0. */
  query(path: string): Promise<PeerAnswer[]> {
    return Promise.all(this.#list.map((peer) => this.#queryOne(peer, path)));
  }

  async #queryOne({ role, port }: Peer, path: string): Promise<PeerAnswer> {
    try {
      const response = await fetch(`http://${this.#host}:${String(port)}${path}`, {
        headers: { Authorization: `Bearer ${this.#token}` },
        signal: AbortSignal.timeout(DEADLINE_MS),
      });
      return { role, status: response.status, body: await response.json() };
    } catch {
      return { role, status: 0, body: null };
    }
  }
}
