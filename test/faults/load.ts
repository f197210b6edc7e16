import { Random } from '../fuzz/random.ts';
import { makeBody, type LoadBody } from './bodies.ts';
import type { Cluster, RoleName } from './cluster.ts';
import type { Ledger, OutcomeLine } from './ledger.ts';

export type LoadOptions = {
  readonly cluster: Pick<Cluster, 'apis' | 'key'>;
  readonly ledger: Pick<Ledger, 'append'>;
  readonly seed: number;
  readonly entriesPerSecond: number;
  /** Digits that the names of its requests begin with, where several loads share a ledger. */
  readonly prefix?: string;
  /** Fewest and most entries of a request; mostly few, and sometimes many, without it. */
  readonly batch?: readonly [number, number];
  /** What is not acknowledged is not sent again, so that no more is offered than `entriesPerSecond` says. */
  readonly once?: true;
  /** Whether an API process was made to stand still at any time since then (milliseconds since the epoch). */
  readonly stoodStillSince?: (api: RoleName, at: number) => boolean;
};

/** Requests by what became of them in the end, after their repeats; attempts by their outcome. */
export type LoadTotals = {
  readonly requests: number;
  /** Acknowledged, at once or by a repeat. */
  readonly delivered: number;
  /** Never acknowledged: the client gave up. */
  readonly abandoned: number;
  /** Requests that were made to be refused, and were. */
  readonly refused: number;
  readonly ackedEntries: number;
  readonly attempts: { readonly acked: number; readonly rejected: number; readonly unknown: number };
  /** Requests that were due while too many were open. */
  readonly late: number;
  /** The slowest answer of the service to an attempt, and the slowest refusal (429, 503) by a process that did not stand still, milliseconds. */
  readonly slowestMs: number;
  readonly slowestRefusalMs: number;
  /** Attempts without an answer: the connection was refused, or it was cut (or timed out) under way. */
  readonly refusedConnections: number;
  readonly cutRequests: number;
  /** Answers that the contract does not allow, such as a 500: each is a fault of the service. */
  readonly oddAnswers: readonly string[];
};

const MAX_OPEN = 600;
const ATTEMPT_TIMEOUT_MS = 15_000;
const GIVE_UP_MS = 90_000;
const CLIENTS = 8;

type AttemptPlan = {
  readonly request: string;
  readonly entries: number;
  readonly refused: readonly number[];
  readonly body: LoadBody;
  readonly api: number;
  readonly wrongKey: boolean;
};

/** An attempt that is over, for those who watch: `at` is milliseconds since the epoch, `why` what a refusal said. */
export type WatchedAttempt = {
  /** Entry `i` of it has the uid `<request>.<i>`. */
  readonly request: string;
  readonly at: number;
  readonly status: number;
  readonly tookMs: number;
  readonly why: string;
  /** Seconds, as the header `Retry-After` says. */
  readonly retryAfter: number | null;
};

/** What an attempt came to, beside the ledger's line. */
type Attempt = {
  readonly outcome: OutcomeLine['kind'];
  readonly status: number;
  readonly accepted: number | null;
  readonly why: string;
  readonly retryAfter: number | null;
};

/**
 * Clients that send on time, whatever is still open (an open loop): mixed formats, encodings and sizes, to both APIs and both of
 * their hosts. What is not acknowledged is sent again, to the other API, as a new request.
 */
export class Load {
  readonly #options: LoadOptions;
  readonly #random: Random;
  readonly #open = new Set<Promise<void>>();
  readonly #odd: string[] = [];
  readonly #counts = {
    requests: 0,
    delivered: 0,
    abandoned: 0,
    refused: 0,
    ackedEntries: 0,
    late: 0,
    slowestMs: 0,
    slowestRefusalMs: 0,
    refusedConnections: 0,
    cutRequests: 0,
  };
  readonly #attempts = { acked: 0, rejected: 0, unknown: 0 };
  readonly #acks: { at: number; entries: number }[] = [];
  readonly #watchers = new Set<(attempt: WatchedAttempt) => void>();
  #rate: number;
  #timer: NodeJS.Timeout | undefined;
  #debt = 0;
  #last = 0;
  #sequence = 0;
  #stopped = false;

  constructor(options: LoadOptions) {
    this.#options = options;
    this.#random = new Random(options.seed);
    this.#rate = options.entriesPerSecond;
  }

  start(): void {
    this.#last = performance.now();
    this.#timer = setInterval(() => {
      this.#tick();
    }, 20);
  }

  /** Entries offered in a second from now on. */
  setRate(entriesPerSecond: number): void {
    this.#rate = entriesPerSecond;
  }

  /** Tells of every attempt from now on, until the function that it gives is called. */
  watch(watcher: (attempt: WatchedAttempt) => void): () => void {
    this.#watchers.add(watcher);
    return () => this.#watchers.delete(watcher);
  }

  /** Times of acknowledgements (milliseconds since the epoch), in order. */
  get acks(): readonly { readonly at: number; readonly entries: number }[] {
    return this.#acks;
  }

  get totals(): LoadTotals {
    return { ...this.#counts, attempts: { ...this.#attempts }, oddAnswers: this.#odd };
  }

  /** Sends nothing new, and waits for what is open: until it is acknowledged, or given up. */
  async stop(): Promise<void> {
    clearInterval(this.#timer);
    await Promise.all(this.#open);
    this.#stopped = true;
  }

  #tick(): void {
    const now = performance.now();
    // what a stall of this process has missed is not made up in one burst
    this.#debt += (Math.min(now - this.#last, 500) / 1000) * this.#rate;
    this.#last = now;
    while (this.#debt > 0 && !this.#stopped) {
      const entries = this.#size();
      this.#debt -= entries;
      if (this.#open.size >= MAX_OPEN) {
        this.#counts.late += 1;
        continue;
      }
      const task = this.#deliver(entries).finally(() => this.#open.delete(task));
      this.#open.add(task);
    }
  }

  #size(): number {
    const [least, most] = this.#options.batch ?? (this.#random.below(20) === 0 ? [200, 999] : [1, 120]);
    return least + this.#random.below(most - least + 1);
  }

  async #deliver(entries: number): Promise<void> {
    this.#counts.requests += 1;
    const sequence = this.#sequence++;
    const name = `${this.#options.prefix ?? ''}${String(sequence % CLIENTS)}-${String(Math.floor(sequence / CLIENTS))}`;
    const fate = this.#random.below(100);
    const refused = fate < 5 ? [this.#random.below(entries)] : [];
    const [broken, wrongKey] = [fate === 98, fate === 99];
    let api = this.#random.below(this.#options.cluster.apis.length);
    const deadline = Date.now() + GIVE_UP_MS;
    for (let attempt = 0; ; attempt++) {
      const request = `${name}.${String(attempt)}`;
      const body = makeBody({ request, entries, refused, broken }, this.#random);
      const { outcome, status } = await this.#attempt({ request, entries, refused, body, api, wrongKey });
      if (outcome === 'acked') {
        this.#counts.delivered += 1;
        this.#counts.ackedEntries += entries - refused.length;
        return;
      }
      if ((broken && status === 400) || (wrongKey && (status === 401 || status === 403))) {
        this.#counts.refused += 1;
        return;
      }
      if (this.#options.once === true || Date.now() > deadline) {
        this.#counts.abandoned += 1;
        return;
      }
      api = (api + 1) % this.#options.cluster.apis.length;
      await new Promise((resolve) => setTimeout(resolve, Math.min(100 * 2 ** attempt, 2000)));
    }
  }

  async #attempt(plan: AttemptPlan): Promise<Attempt> {
    const { request, entries, refused, body, wrongKey } = plan;
    const { cluster, ledger } = this.#options;
    const api = cluster.apis[plan.api] ?? cluster.apis[0];
    if (api === undefined) throw new Error('There is no API to send to.');
    const { format, encoding, plainBytes } = body;
    await ledger.append({ kind: 'sent', request, entries, refused, bytes: plainBytes, api: api.name, format, encoding });
    const [began, sentAt] = [performance.now(), Date.now()];
    const host = this.#random.below(2) === 0 ? api.ingestUrl : api.appUrl;
    const key = wrongKey ? 'nobody-has-this-key' : cluster.key;
    const attempt = await send(`${host}${body.path}`, body, key);
    const tookMs = Math.round(performance.now() - began);
    this.#note(attempt, tookMs, plan);
    const { outcome: kind, status, why } = attempt;
    const isRefusal = status === 429 || status === 503;
    if (isRefusal && this.#options.stoodStillSince?.(api.name, sentAt) !== true)
      this.#counts.slowestRefusalMs = Math.max(this.#counts.slowestRefusalMs, tookMs);
    await ledger.append({ kind, request, status, tookMs, ...(why === '' ? {} : { why }) });
    return attempt;
  }

  #note({ outcome, status, accepted, why, retryAfter }: Attempt, tookMs: number, { request, entries, refused, body }: AttemptPlan): void {
    this.#attempts[outcome] += 1;
    for (const tell of this.#watchers) tell({ request, at: Date.now(), status, tookMs, why, retryAfter });
    if (status === 0) this.#counts[why.includes('ECONNREFUSED') ? 'refusedConnections' : 'cutRequests'] += 1;
    if (status > 0) this.#counts.slowestMs = Math.max(this.#counts.slowestMs, tookMs);
    if (outcome === 'acked') this.#acks.push({ at: Date.now(), entries });
    const wrongCount = outcome === 'acked' && accepted !== null && accepted !== entries - refused.length;
    const wrongStatus = status > 0 && ![200, 202, 204, 400, 401, 403, 408, 429, 503, 504].includes(status);
    if (wrongCount || wrongStatus)
      this.#odd.push(`${request} (${body.format}): ${String(status)}, ${String(accepted)} accepted of ${String(entries)}; ${why}`);
  }
}

/** Sends one attempt and reads what its answer says. Where the answer leaves it open, or none came, the outcome is unknown. */
async function send(url: string, { headers, body }: LoadBody, key: string): Promise<Attempt> {
  try {
    const response = await fetch(url, {
      method: 'POST',
      headers: { Authorization: `Bearer ${key}`, ...headers },
      body: new Uint8Array(body),
      signal: AbortSignal.timeout(ATTEMPT_TIMEOUT_MS),
    });
    const text = await response.text();
    const { status } = response;
    const retryAfter = response.headers.has('retry-after') ? Number(response.headers.get('retry-after')) : null;
    if (response.ok) return { outcome: 'acked', status, accepted: acceptedOf(text), why: '', retryAfter };
    const decided = status < 500 && !(status === 429 && text.includes('"backpressure"'));
    return { outcome: decided ? 'rejected' : 'unknown', status, accepted: null, why: text.slice(0, 300), retryAfter };
  } catch (error) {
    const cause = error instanceof Error && error.cause instanceof Error ? error.cause.message : String(error);
    return { outcome: 'unknown', status: 0, accepted: null, why: cause, retryAfter: null };
  }
}

/** How many entries an answer says were taken; null where its format does not say. */
function acceptedOf(text: string): number | null {
  if (text === '') return null;
  const answer = JSON.parse(text) as { accepted?: unknown; items?: readonly Record<string, { readonly status: number }>[] };
  if (typeof answer.accepted === 'number') return answer.accepted;
  // Elasticsearch's items are left out where all were taken
  if (answer.items === undefined || answer.items.length === 0) return null;
  return answer.items.filter((item) => Object.values(item).every(({ status }) => status < 300)).length;
}
