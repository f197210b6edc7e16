import http from 'node:http';
import type { Instance } from '../e2e/instance.ts';
import type { Tenant } from './seed.ts';

/** What a quiet tenant does all the time. */
export const DEEDS = ['search', 'write', 'health'] as const;
export type Deed = (typeof DEEDS)[number];

/** The times of all requests of a kind, least first, milliseconds, and what was said of those that failed. */
export type Seen = { readonly ms: readonly number[]; readonly failures: readonly string[] };
export type QuietRecord = Readonly<Record<Deed, Seen>>;

const EVERY_MS = 100;
/** A request without an answer has failed. */
const MAX_MS = 20_000;
/** What is shown of an answer that is none. */
const SHOWN = 200;

/**
 * A tenant that searches, writes one entry and asks for `/health`, each ten times a second, on time whatever comes of the one before.
 * `maxPending`: of how many answers of a kind it waits at most before it asks again; more than its plan's queue of queries holds it may be
 * refused for its own haste where a machine is slow.
 */
export class QuietTenant {
  readonly #instance: Instance;
  readonly #tenant: Tenant;
  readonly #maxPending: number;
  readonly #agent = new http.Agent({ keepAlive: true });
  /** Entries that were acknowledged. */
  written = 0;

  constructor(instance: Instance, tenant: Tenant, maxPending = Infinity) {
    this.#instance = instance;
    this.#maxPending = maxPending;
    this.#tenant = tenant;
  }

  /** Does all of it until the promise is settled; resolves when all of it was answered. */
  async during(ended: Promise<unknown>): Promise<QuietRecord> {
    const record = Object.fromEntries(DEEDS.map((deed) => [deed, { ms: [] as number[], failures: [] as string[] }])) as Record<
      Deed,
      { ms: number[]; failures: string[] }
    >;
    const pending: Promise<void>[] = [];
    const timers = DEEDS.map((deed) => {
      let waiting = 0;
      return setInterval(() => {
        if (waiting >= this.#maxPending) return;
        waiting += 1;
        const began = performance.now();
        const answered = this.#do(deed).then((failure) => {
          waiting -= 1;
          record[deed].ms.push(performance.now() - began);
          if (failure !== null) record[deed].failures.push(`${deed}: ${failure}`);
        });
        pending.push(answered);
      }, EVERY_MS);
    });
    await ended.catch(() => undefined);
    for (const timer of timers) clearInterval(timer);
    await Promise.all(pending);
    for (const deed of DEEDS) record[deed].ms.sort((a, b) => a - b);
    return record;
  }

  close(): void {
    this.#agent.destroy();
  }

  async #do(deed: Deed): Promise<string | null> {
    const { app, ingest } = this.#instance;
    const search = { query: 'checkout level:error', start: '-2h', limit: 10 };
    if (deed === 'search') return this.#send(`${app}/api/v1/tenants/${String(this.#tenant.id)}/search`, JSON.stringify(search));
    if (deed === 'health') return this.#send(`${app}/health`, null);
    const failure = await this.#send(`${ingest}/api/v1/ingest`, '{"_msg":"a quiet entry","app":"quiet"}');
    if (failure === null) this.written += 1;
    return failure;
  }

  /** Null for a 200, else what came. */
  #send(url: string, body: string | null): Promise<string | null> {
    return new Promise((resolve) => {
      const headers = {
        Authorization: `Bearer ${this.#tenant.key}`,
        ...(body === null ? {} : { 'Content-Type': 'application/json', 'Content-Length': Buffer.byteLength(body) }),
      };
      const options = { agent: this.#agent, method: body === null ? 'GET' : 'POST', headers, signal: AbortSignal.timeout(MAX_MS) };
      const request = http.request(url, options, (response) => {
        let text = '';
        response.setEncoding('utf8');
        response.on('data', (chunk: string) => (text += chunk));
        response.on('error', (error) => resolve(error.message));
        response.on('end', () => resolve(response.statusCode === 200 ? null : `${String(response.statusCode)} ${text.slice(0, SHOWN)}`));
      });
      request.on('error', (error) => resolve(error.message));
      request.end(body ?? undefined);
    });
  }
}
