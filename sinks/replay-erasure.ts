import type { Logger } from 'pino';
import { repeat } from '../pipeline/core/repeat.ts';
import type { Service } from '../pipeline/core/service.ts';
import type { Store } from '../pipeline/store/client.ts';

/** Deleted sessions are gone from the disk within an hour: a look, a mutation, and the old parts, which ClickHouse keeps for eight minutes. */
const EVERY_MS = 600_000;

const DELETED = 'SELECT tenant_id, session FROM replay_chunks WHERE kind = 1';
const WRITTEN = `kind = 0 AND (tenant_id, session) IN (${DELETED}) AND (notEmpty(body) OR notEmpty(user) OR notEmpty(urls) OR notEmpty(trace_ids))`;

export type ReplayErasureOptions = {
  readonly store: Pick<Store, 'ownerRows' | 'command'>;
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
    const { store, log } = this.#options;
    if (this.#stop.signal.aborted) return;
    try {
      const [row] = await store.ownerRows(`SELECT count(), uniqExact(tenant_id, session) FROM replay_chunks WHERE ${WRITTEN}`);
      const [rows, sessions] = [Number(row?.[0] ?? 0), Number(row?.[1] ?? 0)];
      if (rows === 0) return;
      await store.command(`ALTER TABLE replay_chunks UPDATE body = '', user = '', urls = [], trace_ids = [] WHERE ${WRITTEN}`, {
        mutations_sync: '1',
      });
      log.info({ sessions, rows }, 'Deleted sessions were emptied.');
    } catch (error) {
      log.warn({ err: error }, 'Deleted sessions could not be emptied; the next look tries again.');
    }
  }
}
