import type { Logger } from 'pino';
import { repeat } from '../pipeline/core/repeat.ts';
import type { Service } from '../pipeline/core/service.ts';
import type { Store } from '../pipeline/store/client.ts';

/** Deleted sessions are gone from the disk within an hour: a look, a mutation, and the old parts, which ClickHouse keeps for eight minutes. */
const EVERY_MS = 600_000;

const TOMBSTONES = 'SELECT tenant_id, session FROM replay_chunks WHERE kind = 1';
/** Deleted sessions that are named in one statement, where their tombstones lie in another shard. */
const NAMED = 500;

/** Rows of these sessions that still have something of them. */
const writtenOf = (sessions: string): string =>
  `kind = 0 AND (tenant_id, session) IN (${sessions}) AND (notEmpty(body) OR notEmpty(user) OR notEmpty(urls) OR notEmpty(trace_ids))`;

export type ReplayErasureOptions = {
  /** The shards of a set: a session's events may lie in several, where its tenant has got more partitions meanwhile. */
  readonly stores: readonly Pick<Store, 'ownerRows' | 'command'>[];
  readonly log: Logger;
  readonly everyMs?: number;
};

/**
 * Empties the rows of sessions that were deleted, late ones too: what was recorded, who it was, and where. The rows stay with their places on the log, which
 * the audit compares.
 */
export class ReplayErasure implements Service {
  readonly name = 'replay erasure';
  readonly #options: ReplayErasureOptions;
  readonly #stop = new AbortController();
  #running: Promise<void> | null = null;

  constructor(options: ReplayErasureOptions) {
    this.#options = options;
  }

  start(): Promise<void> {
    const { everyMs = EVERY_MS } = this.#options;
    this.#running = this.look().then(() => repeat(everyMs, this.#stop.signal, () => this.look()));
    return Promise.resolve();
  }

  async stop(): Promise<void> {
    this.#stop.abort();
    await this.#running;
  }

  /** Empties what is to be emptied now. Never rejects. */
  async look(): Promise<void> {
    const { stores, log } = this.#options;
    if (this.#stop.signal.aborted) return;
    try {
      const foreign = stores.length === 1 ? [] : await Promise.all(stores.map(async (store) => ({ store, named: await named(store) })));
      for (const store of stores) {
        await this.#empty(store, TOMBSTONES);
        for (const { store: other, named: all } of foreign)
          if (other !== store)
            for (let at = 0; at < all.length; at += NAMED) await this.#empty(store, all.slice(at, at + NAMED).join(', '));
      }
    } catch (error) {
      log.warn({ err: error }, 'Deleted sessions could not be emptied; the next look tries again.');
    }
  }

  async #empty(store: ReplayErasureOptions['stores'][number], deleted: string): Promise<void> {
    const written = writtenOf(deleted);
    const [row] = await store.ownerRows(`SELECT count(), uniqExact(tenant_id, session) FROM replay_chunks WHERE ${written}`);
    const [rows, sessions] = [Number(row?.[0] ?? 0), Number(row?.[1] ?? 0)];
    if (rows === 0) return;
    await store.command(`ALTER TABLE replay_chunks UPDATE body = '', user = '', urls = [], trace_ids = [] WHERE ${written}`, {
      mutations_sync: '1',
    });
    this.#options.log.info({ sessions, rows }, 'Deleted sessions were emptied.');
  }
}

/** The deleted sessions of a shard as the tuples of a statement; what clients have called them is in hexadecimal there. */
async function named(store: Pick<Store, 'ownerRows'>): Promise<readonly string[]> {
  const rows = await store.ownerRows('SELECT DISTINCT tenant_id, hex(session) FROM replay_chunks WHERE kind = 1');
  return rows.map(([tenant, session]) => `(${String(tenant)}, unhex('${String(session)}'))`);
}
