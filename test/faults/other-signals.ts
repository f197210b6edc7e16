import { createHash } from 'node:crypto';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { requestOf, tracesProtobuf } from '../fixtures/otlp/traces.ts';
import { Random } from '../fuzz/random.ts';
import { clickhouseText, linesOf } from './clickhouse-text.ts';
import type { Cluster } from './cluster.ts';
import { recountSessions } from './replay-sessions.ts';
import type { SentTenant } from './sent-tenant.ts';
import { recountSpans } from './span-recount.ts';
import type { Violation } from './verdict.ts';

/** A signal that a run sends beside the log: each row has a name of its own, by which it is found again. */
export type OtherSignal = {
  readonly name: string;
  /** Its file, where it is none of the service's. */
  readonly file?: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  body(names: readonly string[]): Uint8Array;
  /** The names that are stored of a tenant, and how often each, as ClickHouse's TabSeparated. */
  stored(tenantId: number): string;
  /** A request without an answer is sent once more, as its clients do: what they send says that it is the same. */
  readonly isRepeated?: true;
  /** What else must hold of what is stored, when all of it is there. */
  readonly recount?: (cluster: Cluster, tenant: SentTenant) => Promise<Violation[]>;
};

/** What was sent again is another row with the same name; a row that is stored twice has its place twice. */
const PLACE = 'kafka_part, kafka_off, kafka_idx';

const marks: OtherSignal = {
  name: 'marks',
  file: path.resolve(import.meta.dirname, '../signals/marks/index.ts'),
  path: '/api/v1/marks',
  headers: { 'Content-Type': 'application/x-ndjson' },
  body: (names) => Buffer.from(names.map((name) => `${JSON.stringify({ time: Date.now(), name, number: name.length })}\n`).join('')),
  stored: (tenantId) => `SELECT name, count() FROM marks WHERE tenant_id = ${String(tenantId)} GROUP BY name`,
};

/** One trace for each span, so that all partitions are written. */
const spanOf = (name: string): Record<string, unknown> => {
  const id = createHash('sha256').update(name).digest('hex');
  const start = BigInt(Date.now()) * 1_000_000n;
  return {
    ...{ traceId: id.slice(0, 32), spanId: id.slice(32, 48), name, kind: 2 },
    ...{ startTimeUnixNano: String(start), endTimeUnixNano: String(start + 1_000_000n) },
  };
};
const resource = { attributes: [{ key: 'service.name', value: { stringValue: 'faults' } }] };

const spans: OtherSignal = {
  name: 'spans',
  path: '/v1/traces',
  headers: { 'Content-Type': 'application/x-protobuf' },
  body: (names) => tracesProtobuf(requestOf(names.map(spanOf), resource)),
  stored: (tenantId) =>
    `SELECT name, max(rows) FROM (SELECT name, count() AS rows FROM spans WHERE tenant_id = ${String(tenantId)} GROUP BY name, ${PLACE}) GROUP BY name`,
  isRepeated: true,
  recount: recountSpans,
};

/** A series for each sample, by line protocol: its name is a tag. */
const samples: OtherSignal = {
  name: 'samples',
  path: '/api/v2/write',
  headers: { 'Content-Type': 'text/plain' },
  body: (names) => Buffer.from(names.map((name) => `faults,name=${name.replaceAll(' ', String.raw`\ `)} value=1\n`).join('')),
  stored: (tenantId) =>
    `SELECT labels['name'] AS name, count() FROM (SELECT series FROM samples WHERE tenant_id = ${String(tenantId)}) AS rows INNER JOIN (SELECT DISTINCT series, labels FROM series WHERE tenant_id = ${String(tenantId)}) AS known USING series GROUP BY name`,
};

/** Numbers of rows that make a session: some batches of it. */
const ROWS_OF_SESSION = 150;
const numberOf = (name: string): number => Number(name.split(' ')[1]);

/** Sessions of several batches, which come in any order: every other event is an error, and each has a click beside it. */
const replay: OtherSignal = {
  name: 'replay',
  path: '/v1/rum/replay',
  headers: { 'Content-Type': 'application/json' },
  body(names) {
    const seq = numberOf(names[0] ?? '');
    const events = names.flatMap((name) => {
      const tag = numberOf(name) % 2 === 0 ? 'error' : 'note';
      const click = { type: 3, data: { source: 2, type: 2, id: 1, x: 10, y: 10 }, timestamp: Date.now() };
      return [{ type: 5, data: { tag, payload: { name } }, timestamp: Date.now() }, click];
    });
    return Buffer.from(JSON.stringify({ session_id: `session-${String(Math.floor(seq / ROWS_OF_SESSION))}`, seq, events }));
  },
  stored: (tenantId) =>
    `SELECT name, max(rows) FROM (SELECT JSONExtractString(line, 'data', 'payload', 'name') AS name, count() AS rows FROM (SELECT ${PLACE}, arrayJoin(splitByChar('\n', body)) AS whole, substring(whole, position(whole, '{')) AS line FROM replay_chunks WHERE tenant_id = ${String(tenantId)}) WHERE name != '' GROUP BY name, ${PLACE}) GROUP BY name`,
  isRepeated: true,
  recount: recountSessions,
};

/** Every signal that `--signals` takes. */
export const OTHER_SIGNALS: readonly OtherSignal[] = [marks, spans, samples, replay];

const EVERY_MS = 40;
const MAX_OPEN = 50;
const MOST_ROWS = 60;
const ATTEMPT_TIMEOUT_MS = 15_000;
const SETTLE_MS = 180_000;

/** Sends rows of a signal as a tenant of its own, on time, to both hosts of both API processes. */
export class SignalLoad {
  readonly #signal: OtherSignal;
  readonly #cluster: Cluster;
  readonly #random: Random;
  readonly #acknowledged = new Set<string>();
  readonly #open = new Set<Promise<void>>();
  #tenant: SentTenant = { tenant_id: 0, key: '' };
  #timer: NodeJS.Timeout | undefined;
  #sequence = 0;

  constructor(signal: OtherSignal, cluster: Cluster, seed: number) {
    this.#signal = signal;
    this.#cluster = cluster;
    this.#random = new Random(seed);
  }

  async start(): Promise<void> {
    const { apis, adminToken } = this.#cluster;
    const response = await fetch(`${apis[0]?.adminUrl ?? ''}/admin/tenants`, {
      method: 'POST',
      headers: { Authorization: `Bearer ${adminToken}`, 'Content-Type': 'application/json' },
      body: JSON.stringify({ name: this.#signal.name, plan: 'unlimited' }),
    });
    if (!response.ok) throw new Error(await response.text());
    this.#tenant = (await response.json()) as SentTenant;
    this.#timer = setInterval(() => {
      if (this.#open.size >= MAX_OPEN) return;
      const task = this.#send().finally(() => this.#open.delete(task));
      this.#open.add(task);
    }, EVERY_MS);
  }

  async stop(): Promise<void> {
    clearInterval(this.#timer);
    await Promise.all(this.#open);
  }

  /** Rows that were acknowledged. */
  get rows(): number {
    return this.#acknowledged.size;
  }

  /** What is lost of what was acknowledged, and what is stored twice. */
  async violations(): Promise<Violation[]> {
    const deadline = Date.now() + SETTLE_MS;
    for (;;) {
      const stored = await this.#stored();
      const lost = [...this.#acknowledged].filter((name) => !stored.has(name));
      const twice = [...stored].filter(([, count]) => count > 1);
      if (lost.length > 0 && Date.now() < deadline) {
        await sleep(1000);
        continue;
      }
      const { name } = this.#signal;
      return [
        { check: `rows of ${name} that were acknowledged and are not stored`, count: lost.length, examples: lost.slice(0, 20) },
        { check: `rows of ${name} that are stored more than once`, count: twice.length, examples: twice.slice(0, 20) },
        { check: `rows of ${name} were sent`, count: this.rows === 0 ? 1 : 0, examples: ['none was acknowledged'] },
        ...((await this.#signal.recount?.(this.#cluster, this.#tenant)) ?? []),
      ].filter(({ count }) => count > 0);
    }
  }

  async #stored(): Promise<Map<string, number>> {
    const text = await clickhouseText(this.#cluster, this.#signal.stored(this.#tenant.tenant_id));
    return new Map(
      linesOf(text)
        .map((line) => line.split('\t'))
        .map(([name = '', count]) => [name, Number(count)]),
    );
  }

  async #send(): Promise<void> {
    const names = Array.from({ length: 1 + this.#random.below(MOST_ROWS) }, () => `${this.#signal.name} ${String(this.#sequence++)}`);
    const body = Buffer.from(this.#signal.body(names));
    let status = await this.#request(body);
    if (status === 0 && this.#signal.isRepeated === true) status = await this.#request(body);
    if (status >= 200 && status < 300) for (const name of names) this.#acknowledged.add(name);
  }

  /** The status of the answer; 0 for none. */
  async #request(body: Buffer<ArrayBuffer>): Promise<number> {
    const { apis } = this.#cluster;
    const api = apis[this.#random.below(apis.length)];
    const host = this.#random.below(2) === 0 ? api?.ingestUrl : api?.appUrl;
    const headers = { Authorization: `Bearer ${this.#tenant.key}`, ...this.#signal.headers };
    const signal = AbortSignal.timeout(ATTEMPT_TIMEOUT_MS);
    try {
      const response = await fetch(`${host ?? ''}${this.#signal.path}`, { method: 'POST', headers, body, signal });
      await response.arrayBuffer();
      return response.status;
    } catch {
      return 0;
    }
  }
}
