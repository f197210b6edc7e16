import http from 'node:http';
import { connect } from 'node:net';
import { gzipSync } from 'node:zlib';
import { WebSocket } from 'ws';
import type { Instance } from '../e2e/instance.ts';
import { frameWithKey, type DoorUrls } from './doors.ts';
import type { Tenant } from './seed.ts';

/**
 * What a quiet tenant does all the time: `found` is from a write to its entry in a search, `tail` from a write to its entry in a live tail, `door`
 * from a frame on a new connection to the door of syslog to its entry in the tail.
 */
export const DEEDS = ['search', 'write', 'health', 'found', 'tail', 'door'] as const;
export type Deed = (typeof DEEDS)[number];

/** The times of all requests of a kind, least first, milliseconds, and what was said of those that failed. */
export type Seen = { readonly ms: readonly number[]; readonly failures: readonly string[] };
export type QuietRecord = Readonly<Record<Deed, Seen>>;

/** Those that are begun by themselves. */
const BEGUN: readonly Deed[] = ['search', 'write', 'health', 'found', 'door'];
const EVERY_MS = 100;
/** A request without an answer has failed. */
const MAX_MS = 20_000;
/** How often an entry that was written is searched for until it is there. */
const LOOK_MS = 100;
/** What is shown of an answer that is none. */
const SHOWN = 200;

const OWN_ADDRESS = '127.0.0.2';

type Tailed = { readonly number?: string; readonly _msg?: string; readonly _control?: { readonly type: string } };

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

/**
 * A tenant that searches, writes one entry and asks for `/health`, each ten times a second, on time whatever comes of the one before; it tails
 * what it writes, and looks for one entry after the other until a search has it.
 * `maxPending`: of how many answers of a kind it waits at most before it asks again; more than its plan's queue of queries holds it may be
 * refused for its own haste where a machine is slow.
 */
export class QuietTenant {
  readonly #instance: Instance;
  readonly #tenant: Tenant;
  readonly #maxPending: number;
  readonly #doors: DoorUrls;
  readonly #agent = new http.Agent({ keepAlive: true });
  /** Entries that were acknowledged. */
  written = 0;
  /** The number of the last entry that was sent. */
  #sent = 0;
  /** Entries that the tail has not had yet, by their numbers, or messages: what is called then. */
  readonly #expected = new Map<string, () => void>();
  #tail: WebSocket | null = null;

  constructor(
    instance: Instance,
    tenant: Tenant,
    { doors, maxPending = Infinity }: { readonly doors: DoorUrls; readonly maxPending?: number },
  ) {
    this.#instance = instance;
    this.#doors = doors;
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
    await this.#openTail();
    const keep = (deed: Deed, began: number, failure: string | null): void => {
      record[deed].ms.push(performance.now() - began);
      if (failure !== null) record[deed].failures.push(`${deed}: ${failure}`);
    };
    const waiting = new Map<Deed, number>();
    const begin = (deed: Deed, most: number): void => {
      const at = waiting.get(deed) ?? 0;
      if (at >= most) return;
      waiting.set(deed, at + 1);
      const began = performance.now();
      const done = this.#do(deed, (of, failure) => {
        keep(of, began, failure);
      });
      pending.push(done.finally(() => waiting.set(deed, (waiting.get(deed) ?? 1) - 1)));
    };
    const timers = BEGUN.map((deed) => setInterval(() => begin(deed, deed === 'found' ? 1 : this.#maxPending), EVERY_MS));
    await ended.catch(() => undefined);
    for (const timer of timers) clearInterval(timer);
    await Promise.all(pending);
    for (const deed of DEEDS) record[deed].ms.sort((a, b) => a - b);
    return record;
  }

  close(): void {
    this.#agent.destroy();
    this.#tail?.terminate();
  }

  /** A tail of what this tenant writes; one that is open goes on. */
  async #openTail(): Promise<void> {
    if (this.#tail?.readyState === WebSocket.OPEN) return;
    const url = `${this.#instance.app.replace('http', 'ws')}/ws/livetail/${String(this.#tenant.id)}`;
    const tail = new WebSocket(url, { headers: { Authorization: `Bearer ${this.#tenant.key}` } });
    this.#tail = tail;
    await new Promise<void>((resolve, reject) => {
      tail.on('error', reject);
      tail.on('open', () =>
        tail.send(JSON.stringify({ query: '(app:=quiet or service:=quiet-door) | fields number, _msg', control: true })),
      );
      tail.on('message', (data: Buffer) => {
        const { number, _msg = '', _control: control } = JSON.parse(String(data)) as Tailed;
        if (control?.type === 'ready') resolve();
        this.#expected.get(number ?? _msg)?.();
      });
    });
  }

  /** What was done, and what came of it: null, or why it failed. */
  async #do(deed: Deed, keep: (deed: Deed, failure: string | null) => void): Promise<void> {
    const { app } = this.#instance;
    if (deed === 'health') keep(deed, await this.#send(`${app}/health`, null));
    if (deed === 'search') keep(deed, await this.#search('checkout level:error', '-2h'));
    if (deed === 'door') {
      const message = `door ${String(++this.#sent)}`;
      const tailed = this.#tailed(message);
      keep(deed, (await this.#sendFrame(message)) ?? (await tailed));
    }
    if (deed === 'write') {
      const number = String(++this.#sent);
      const tailed = this.#tailed(number);
      const failure = await this.#write(number);
      keep(deed, failure);
      if (failure === null) keep('tail', await tailed);
    }
    if (deed === 'found') {
      const number = String(++this.#sent);
      const failure = await this.#write(number);
      if (failure === null) keep(deed, await this.#found(number));
    }
  }

  async #write(number: string): Promise<string | null> {
    // as shippers do: what is compressed takes turns that others may take, too
    const entry = gzipSync(JSON.stringify({ _msg: 'a quiet entry', app: 'quiet', number }));
    const failure = await this.#send(`${this.#instance.ingest}/api/v1/ingest`, entry);
    if (failure === null) this.written += 1;
    return failure;
  }

  /** Null once the frame is sent on a connection of its own, from an address that attackers do not have. */
  #sendFrame(message: string): Promise<string | null> {
    const { hostname, port } = new URL(this.#doors.syslog);
    return new Promise((resolve) => {
      const socket = connect({ host: hostname, port: Number(port), localAddress: OWN_ADDRESS });
      socket.on('error', (error) => resolve(error.message));
      socket.end(frameWithKey(this.#tenant.key, 'quiet-door', message), () => resolve(null));
      socket.resume();
    });
  }

  /** Resolves when the tail has this entry. */
  #tailed(number: string): Promise<string | null> {
    return new Promise((resolve) => {
      const ended = (failure: string | null): void => {
        clearTimeout(timer);
        this.#expected.delete(number);
        resolve(failure);
      };
      const timer = setTimeout(() => ended('the entry did not come'), MAX_MS);
      this.#expected.set(number, () => ended(null));
    });
  }

  /** Resolves when a search has this entry. A search that fails is judged by its own deed. */
  async #found(number: string): Promise<string | null> {
    const end = performance.now() + MAX_MS;
    while (performance.now() < end) {
      let text = '';
      await this.#search(`app:=quiet number:=${number}`, '-5m', (got) => (text = got));
      if (text.includes('a quiet entry')) return null;
      await pause(LOOK_MS);
    }
    return 'the entry was not found';
  }

  #search(query: string, start: string, got?: (text: string) => void): Promise<string | null> {
    return this.#send(
      `${this.#instance.app}/api/v1/tenants/${String(this.#tenant.id)}/search`,
      JSON.stringify({ query, start, limit: 10 }),
      got,
    );
  }

  /** Null for a 200, else what came. */
  #send(url: string, body: string | Buffer | null, got: (text: string) => void = () => undefined): Promise<string | null> {
    return new Promise((resolve) => {
      const headers = {
        Authorization: `Bearer ${this.#tenant.key}`,
        ...(body === null ? {} : { 'Content-Type': 'application/json', 'Content-Length': Buffer.byteLength(body) }),
        ...(Buffer.isBuffer(body) ? { 'Content-Encoding': 'gzip' } : {}),
      };
      const options = { agent: this.#agent, method: body === null ? 'GET' : 'POST', headers, signal: AbortSignal.timeout(MAX_MS) };
      const request = http.request(url, options, (response) => {
        let text = '';
        response.setEncoding('utf8');
        response.on('data', (chunk: string) => (text += chunk));
        response.on('error', (error) => resolve(error.message));
        response.on('end', () => {
          got(text);
          resolve(response.statusCode === 200 ? null : `${String(response.statusCode)} ${text.slice(0, SHOWN)}`);
        });
      });
      request.on('error', (error) => resolve(error.message));
      request.end(body ?? undefined);
    });
  }
}
