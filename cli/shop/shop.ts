/** A made-up shop, whose logs are the same for the same seed and times: what its customers do, and a release that goes wrong. */

export type DemoEntry = Readonly<Record<string, string | number | boolean | object>>;
/** An entry, and when: milliseconds since 1970. */
export type Timed = { readonly time: number; readonly entry: DemoEntry };

/** When the release goes wrong, and when it is taken back: milliseconds since 1970. */
export type Incident = { readonly from: number; readonly to: number };

/** What a customer does, and how often: of a hundred. */
const KINDS: readonly (readonly [name: 'browse' | 'login' | 'order', share: number])[] = [
  ['browse', 58],
  ['login', 12],
  ['order', 30],
];
/** Entries of an average request. */
const ENTRIES_PER_REQUEST = 2.6;
const DAY_MS = 86_400_000;
/** How much busier the afternoon (15:00 UTC) is than the average, and how much quieter the night. */
const RHYTHM = 0.35;
const PRODUCTS = ['lamp', 'chair', 'desk', 'shelf', 'rug', 'clock', 'mirror', 'vase'];
const TASKS = ['send-mail', 'resize-image', 'sync-stock'];
/** The versions of `payments`, and the pod that the new one is tried on. */
export const RELEASE = { before: '2.7.4', after: '2.8.0', pod: 'payments-2' } as const;
const PODS: Readonly<Record<string, number>> = { web: 2, catalog: 2, auth: 1, checkout: 2, payments: 3, worker: 1, deployer: 1 };
const VERSIONS: Readonly<Record<string, string>> = { web: '5.1.0', catalog: '3.4.2', auth: '1.9.9', checkout: '4.0.6', worker: '1.2.0', deployer: '0.9.1' }; // prettier-ignore
/** The shares of payments that fail: of the new version, and of the others. */
const FAILING = 0.75;
const USUALLY_FAILING = 0.012;

/** A small repeatable random generator (mulberry32). */
function randomFrom(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 4_294_967_296;
  };
}

/** What all entries of a request share: one leads to the others by it. */
type Request = { readonly at: number; readonly trace_id: string; readonly user_id: string };
type Event = { readonly level: string; readonly _msg: string } & DemoEntry;

/** The shop, request after request. */
export class Shop {
  /** The release that goes wrong; none until it is set, from a time on that is not made yet. */
  incident: Incident | null = null;
  readonly #random: () => number;
  readonly #rate: number;
  #at: number;
  #hasReleased = false;
  #hasRolledBack = false;
  /** Entries that are made, and not given. */
  #made: Timed[] = [];

  /** `rate`: entries a second, averaged over a day; `from`: milliseconds since 1970. */
  constructor(seed: number, rate: number, from: number) {
    this.#random = randomFrom(seed);
    this.#rate = rate;
    this.#at = from;
  }

  /** The entries up to a time, at most `most`, in the order of their times. */
  upTo(time: number, most: number): Timed[] {
    while (this.#at <= time && this.#made.length < most + 1000) this.#request();
    // a request that begins later has no entry before this
    const end = Math.min(time, this.#at);
    this.#made.sort((a, b) => a.time - b.time);
    const ready = this.#made.findIndex((one) => one.time > end);
    return this.#made.splice(0, Math.min(most, ready < 0 ? this.#made.length : ready));
  }

  #request(): void {
    const busy = 1 + RHYTHM * Math.cos(((this.#at - 15 * 3_600_000) / DAY_MS) * 2 * Math.PI);
    this.#at += (-Math.log(1 - this.#random()) * 1000 * ENTRIES_PER_REQUEST) / (this.#rate * busy);
    const { incident } = this;
    if (incident !== null && !this.#hasReleased && this.#at >= incident.from) this.#release(incident.from);
    if (incident !== null && !this.#hasRolledBack && this.#at >= incident.to) this.#rollBack(incident.to);
    const request = { at: this.#at, trace_id: this.#hex(32), user_id: `u-${String(1000 + this.#number(4000))}` };
    let dice = this.#number(100);
    const [name] = KINDS.find(([, share]) => (dice -= share) < 0) ?? ['browse'];
    if (name === 'order') this.#order(request);
    else if (name === 'login') this.#login(request);
    else this.#browse(request);
  }

  #browse(request: Request): void {
    const [product, took] = [this.#pick(PRODUCTS), 8 + this.#number(120)];
    this.#add('catalog', request, took - 3, { level: 'debug', _msg: `found ${String(this.#number(40))} products for "${product}" in ${String(took - 5)} ms`, duration_ms: took - 5 }); // prettier-ignore
    this.#served(request, 'GET', `/search?q=${product}`, this.#number(150) === 0 ? 404 : 200, took);
  }

  #login(request: Request): void {
    const isWrong = this.#number(12) === 0;
    const { user_id } = request;
    const ip = `10.${String(this.#number(256))}.${String(this.#number(256))}.${String(this.#number(254) + 1)}`;
    this.#add('auth', request, 20, isWrong ? { level: 'warn', _msg: `login failed for ${user_id} from ${ip}: wrong password`, ip } : { level: 'info', _msg: `${user_id} logged in from ${ip}`, ip }); // prettier-ignore
    this.#served(request, 'POST', '/login', isWrong ? 401 : 200, 35 + this.#number(60));
  }

  #order(request: Request): void {
    const order_id = `o-${this.#hex(8)}`;
    const amount = (500 + this.#number(20_000)) / 100;
    const pod = `payments-${String(this.#number(PODS['payments'] ?? 1))}`;
    const isBad = pod === RELEASE.pod && this.#isReleased;
    const hasFailed = this.#random() < (isBad ? FAILING : USUALLY_FAILING);
    // the new version retries repeatedly before it gives up
    const took = isBad ? 2600 + this.#number(900) : 120 + this.#number(240);
    const of = { order_id, amount_eur: amount };
    const payment = { ...of, pod, version: isBad ? RELEASE.after : RELEASE.before, provider: 'acme-pay', duration_ms: took };
    if (isBad) this.#add('payments', request, took / 2, { ...payment, level: 'warn', _msg: `acme-pay answered 401 for ${order_id}: signature not valid; trying again`, attempt: 2 }); // prettier-ignore
    const reason = isBad ? 'SignatureError: acme-pay does not know key id k-2031' : 'CardError: card declined';
    this.#add('payments', request, took, hasFailed
      ? { ...payment, level: 'error', _msg: `payment of ${String(amount)} EUR for ${order_id} failed after ${String(took)} ms: ${reason}`, error: { type: reason.slice(0, reason.indexOf(':')) } }
      : { ...payment, level: 'info', _msg: `payment of ${String(amount)} EUR for ${order_id} captured in ${String(took)} ms` }); // prettier-ignore
    const after = took + 15;
    const checkout = { ...of, upstream: pod, duration_ms: after };
    this.#add('checkout', request, after, hasFailed
      ? { ...checkout, level: 'error', _msg: `order ${order_id} not placed: ${pod} answered ${isBad ? '502' : '402'} after ${String(after)} ms` }
      : { ...checkout, level: 'info', _msg: `order ${order_id} placed, ${String(1 + this.#number(5))} items` }); // prettier-ignore
    this.#served(request, 'POST', '/checkout', hasFailed ? (isBad ? 502 : 402) : 201, after + 10);
    if (hasFailed) return;
    const task = this.#pick(TASKS);
    this.#add('worker', request, after + 900, { level: 'info', _msg: `task ${task} for ${order_id} finished in ${String(50 + this.#number(900))} ms`, task, order_id }); // prettier-ignore
  }

  #served(request: Request, method: string, path: string, status: number, took: number): void {
    const level = status >= 500 ? 'error' : status >= 400 ? 'warn' : 'info';
    this.#add('web', request, took, { level, _msg: `${method} ${path} ${String(status)} in ${String(took)} ms`, http: { method, path, status }, duration_ms: took }); // prettier-ignore
  }

  get #isReleased(): boolean {
    return this.incident !== null && this.#at >= this.incident.from && this.#at < this.incident.to;
  }

  #release(at: number): void {
    this.#hasReleased = true;
    this.#deployed(at, `release of payments ${RELEASE.after}: ${RELEASE.pod} first, the others in 30 minutes`, RELEASE.after);
  }

  #rollBack(at: number): void {
    this.#hasRolledBack = true;
    this.#deployed(at, `payments ${RELEASE.after} taken back: ${RELEASE.pod} runs ${RELEASE.before} again`, RELEASE.before);
  }

  #deployed(at: number, text: string, version: string): void {
    const request = { at, trace_id: this.#hex(32), user_id: 'ci' };
    this.#add('deployer', request, 0, { level: 'info', _msg: text, release: `payments ${version}` });
    this.#add('payments', request, 800, { level: 'info', _msg: `payments ${version} listens on :8080`, pod: RELEASE.pod, version });
  }

  #add(service: string, { at, ...ids }: Request, after: number, event: Event): void {
    const pod = `${service}-${String(this.#number(PODS[service] ?? 1))}`;
    const entry = { service, pod, env: 'demo', version: VERSIONS[service] ?? '', ...ids, ...event };
    this.#made.push({ time: Math.floor(at + after), entry });
  }

  readonly #number = (below: number): number => Math.floor(this.#random() * below);
  readonly #pick = <T>(list: readonly T[]): T => list[this.#number(list.length)] as T;
  readonly #hex = (length: number): string => Array.from({ length }, () => this.#number(16).toString(16)).join('');
}
