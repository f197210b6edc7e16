import { setTimeout as sleep } from 'node:timers/promises';
import { pace } from '../pace.ts';

/** Tries of a request, as clients of shippers and libraries have them. */
const TRIES = 3;
/** Before another try where the answer does not say how long. Milliseconds. */
const BACKOFF_MS = 1000;
/** Errors of a connection that a client tries again after. */
const AGAIN = ['ECONNREFUSED', 'ECONNRESET', 'EPIPE', 'UND_ERR_SOCKET'];

/** What came of a request: the status of its last try, and what went wrong before. */
type Outcome = { readonly status: number; readonly before: readonly string[]; readonly body: string };

/** Sends a request as a standard client does: again after 429, 503 and a lost connection, three times at most. Each try may be of another address. */
export async function retried(urlOf: (attempt: number) => string, init: RequestInit): Promise<Outcome> {
  const before: string[] = [];
  for (;;) {
    let waitMs = BACKOFF_MS;
    let outcome: Outcome;
    try {
      const response = await fetch(urlOf(before.length), init);
      outcome = { status: response.status, before, body: await response.text() };
      if (outcome.status !== 429 && outcome.status !== 503) return outcome;
      waitMs = Number(response.headers.get('retry-after') ?? 1) * 1000;
    } catch (error) {
      const { code = '' } = ((error as Error).cause ?? {}) as { readonly code?: string };
      outcome = { status: 0, before, body: `${String(error)} ${code}` };
      if (!AGAIN.includes(code)) return outcome;
    }
    if (before.length === TRIES - 1) return outcome;
    before.push(`${String(outcome.status)} ${outcome.body.slice(0, 200)}`);
    await sleep(waitMs);
  }
}

/** Sends entries and searches one after the other, until it is stopped. */
export class SteadyClient {
  /** Messages that were acknowledged at the first try. */
  readonly atOnce: string[] = [];
  /** Messages that were acknowledged at a further try: an earlier one may have been taken too. */
  readonly again: string[] = [];
  searches = 0;
  /** Requests that failed beyond what is tried again. */
  readonly failures: string[] = [];
  /** What was tried again, and why. */
  readonly retries: string[] = [];
  readonly #loops: Promise<void>[];
  #isOver = false;

  /** Writes to each of these hosts in a loop of its own, and searches on `app` in another one. */
  constructor(hosts: readonly string[], app: string, key: string) {
    const headers = { Authorization: `Bearer ${key}`, 'Content-Type': 'application/json' };
    this.#loops = hosts.map((host, index) => this.#write(host, index, headers));
    this.#loops.push(this.#search(app, headers));
  }

  /** Resolves when the requests under way are done. */
  async stop(): Promise<void> {
    this.#isOver = true;
    await Promise.all(this.#loops);
  }

  async #write(host: string, loop: number, headers: Readonly<Record<string, string>>): Promise<void> {
    for (let batch = 0; !this.#isOver; batch++) {
      const messages = Array.from({ length: 10 }, (_, at) => `steady ${String(loop)}.${String(batch)}.${String(at)}`);
      const body = JSON.stringify(messages.map((_msg) => ({ _msg, service: `s${String(batch % 5)}` })));
      const outcome = await retried(() => `${host}/api/v1/ingest`, { method: 'POST', headers, body });
      this.#note(`ingest ${host}`, outcome);
      if (outcome.status === 200) (outcome.before.length === 0 ? this.atOnce : this.again).push(...messages);
      await pace();
    }
  }

  async #search(app: string, headers: Readonly<Record<string, string>>): Promise<void> {
    const body = JSON.stringify({ query: '*', start: '-1h', limit: 10 });
    while (!this.#isOver) {
      this.#note('search', await retried(() => `${app}/api/v1/tenants/1/search`, { method: 'POST', headers, body }));
      this.searches += 1;
      await pace();
    }
  }

  #note(what: string, { status, before, body }: Outcome): void {
    for (const why of before) this.retries.push(`${what}: ${why}`);
    if (status !== 200) this.failures.push(`${what}: ${[...before, `${String(status)} ${body.slice(0, 200)}`].join(', then ')}`);
  }
}
