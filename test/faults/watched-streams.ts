import type { Api, Cluster } from './cluster.ts';
import type { Ledger } from './ledger.ts';

const MINUTE_MS = 60_000;
/** A day and somewhat more, so that the streams are no young ones. Minutes. */
const PAST = 24 * 60 + 10;
const BATCH = 2000;
/** Streams that rise, and streams that stop; entries of each a minute, and of one that has risen. */
const RISING = 54;
const STOPPING = 6;
const [FEW, SOME, MANY] = [2, 20, 40] as const;

/** What happens to the streams, and when, milliseconds since 1970. */
export type Turn = { readonly at: number; readonly calmAt: number };

type Stream = { readonly service: string; readonly rate: number; readonly turned: number };

const STREAMS: readonly Stream[] = [
  ...Array.from({ length: RISING }, (_none, index) => ({ service: `rising-${String(index)}`, rate: FEW, turned: MANY })),
  ...Array.from({ length: STOPPING }, (_none, index) => ({ service: `stopping-${String(index)}`, rate: SOME, turned: 0 })),
];

type Entry = { readonly service: string; readonly ms: number };

/** Streams with a past of a day, of which all leave it at one time: some rise and are calm again, others stop. What they send is in the ledger, as what a load sends. */
export class WatchedStreams {
  readonly #cluster: Pick<Cluster, 'apis' | 'key'>;
  readonly #ledger: Pick<Ledger, 'append'>;
  /** Up to when each stream has sent, milliseconds since 1970, and the rest of an entry that is due. */
  readonly #sent = STREAMS.map(() => ({ until: 0, rest: 0 }));
  #requests = 0;

  constructor(cluster: Pick<Cluster, 'apis' | 'key'>, ledger: Pick<Ledger, 'append'>) {
    this.#cluster = cluster;
    this.#ledger = ledger;
  }

  /** Sends what each stream had until now. */
  async sendPast(now: number): Promise<number> {
    const from = now - PAST * MINUTE_MS;
    for (const one of this.#sent) one.until = from;
    let sent = 0;
    for (let until = from; until < now; until = Math.min(now, until + 10 * MINUTE_MS))
      sent += await this.send(Math.min(now, until + 10 * MINUTE_MS), null);
    return sent;
  }

  /** Sends what is due up to a time. */
  async send(until: number, turn: Turn | null): Promise<number> {
    const due = STREAMS.flatMap(({ service, rate, turned }, index) => {
      const own = this.#sent[index] as { until: number; rest: number };
      const isTurned = turn !== null && until >= turn.at && (turned === 0 || until < turn.calmAt);
      const count = own.rest + ((until - own.until) * (isTurned ? turned : rate)) / MINUTE_MS;
      const whole = Math.floor(count);
      const [since, span] = [own.until, until - own.until];
      [own.until, own.rest] = [until, count - whole];
      return Array.from({ length: whole }, (_none, entry): Entry => ({ service, ms: since + Math.floor((span * (entry + 0.5)) / whole) }));
    });
    for (let at = 0; at < due.length; at += BATCH) await this.#deliver(due.slice(at, at + BATCH));
    return due.length;
  }

  async #deliver(entries: readonly Entry[]): Promise<void> {
    this.#requests += 1;
    for (let attempt = 0; ; attempt++) {
      const api = this.#cluster.apis[attempt % this.#cluster.apis.length] as Api;
      if (await this.#attempt(`900-${String(this.#requests)}.${String(attempt)}`, entries, api)) return;
      await new Promise((resolve) => setTimeout(resolve, Math.min(2000, 100 * 2 ** attempt)));
    }
  }

  async #attempt(request: string, entries: readonly Entry[], { name, ingestUrl }: Api): Promise<boolean> {
    const lines = entries.map(({ service, ms }, index) =>
      JSON.stringify({ _time: new Date(ms).toISOString(), _msg: `uid=${request}.${String(index)} worked`, service, level: 'info' }),
    );
    const body = lines.join('\n');
    await this.#ledger.append({ kind: 'sent', request, entries: entries.length, refused: [], bytes: Buffer.byteLength(body), api: name, format: 'ndjson', encoding: 'identity' }); // prettier-ignore
    const began = performance.now();
    const headers = { Authorization: `Bearer ${this.#cluster.key}`, 'Content-Type': 'application/x-ndjson', 'X-Stream-Fields': 'service' };
    const status = await fetch(`${ingestUrl}/api/v1/ingest`, { method: 'POST', headers, body }).then(
      async (response) => {
        await response.arrayBuffer();
        return response.status;
      },
      () => 0,
    );
    const isTaken = status >= 200 && status < 300;
    const isRefused = status === 429;
    await this.#ledger.append({
      kind: isTaken ? 'acked' : isRefused ? 'rejected' : 'unknown',
      request,
      status,
      tookMs: Math.round(performance.now() - began),
    });
    return isTaken;
  }
}
