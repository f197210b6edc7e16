import { ClickHouseError } from '@clickhouse/client';
import type { Store } from '../pipeline/store/client.ts';

/** What ClickHouse said of itself. */
export type ServerLook = {
  /** When it was asked, by `performance.now()`. */
  readonly at: number;
  /** Which server answered. */
  readonly server: string;
  readonly uptimeMs: number;
  /** How many blocks it has dropped since its start, as it knew their token. */
  readonly dropped: number;
  /** Counts the servers and starts that this process has seen. */
  readonly run: number;
};

/** A look that is older is not used for an insert that begins. */
const RECENT_MS = 10_000;
/** By how much the uptime may be off: it is given in seconds, and an answer takes its time. */
const SLACK_MS = 5000;
/** An answer that took longer says too little of when it was true; a younger server may have begun anew without being found out by its uptime. */
const PROMPT_MS = 2000;
const OLD_ENOUGH_MS = 10_000;
const DEADLINE_MS = 30_000;
/** A user who may not read `system.events`: nothing is certain then. */
const ACCESS_DENIED = '497';
const QUERY =
  "SELECT toString(serverUUID()), toString(uptime()), toString(sum(value)) FROM system.events WHERE event = 'DuplicatedInsertedBlocks'";

/**
 * Watches whether ClickHouse drops inserts. The answer to an insert is no proof: it reports all rows as written though the block was dropped,
 * since its token was known. But the server counts what it drops, and the count is whole when the insert is answered (measured with 26.7).
 */
export class ServerWatch {
  readonly #store: Pick<Store, 'ownerRows'>;
  #last: ServerLook | null = null;
  #runs = 0;

  constructor(store: Pick<Store, 'ownerRows'>) {
    this.#store = store;
  }

  /** What the server said lately: to be asked before an insert begins. */
  async recent(): Promise<ServerLook> {
    const last = this.#last;
    return last !== null && performance.now() - last.at < RECENT_MS ? last : await this.#look();
  }

  /** Whether it is certain that no insert was dropped, of those that were sent and answered since `before`. */
  async hasDroppedNone(before: ServerLook): Promise<boolean> {
    const after = await this.#look();
    const isCertain = before.server !== UNKNOWN && before.uptimeMs >= OLD_ENOUGH_MS && performance.now() - after.at <= PROMPT_MS;
    return isCertain && after.run === before.run && after.dropped === before.dropped;
  }

  async #look(): Promise<ServerLook> {
    const at = performance.now();
    const [server, uptimeMs, dropped] = await this.#query();
    const last = this.#last;
    const isSame = last?.server === server && dropped >= last.dropped && uptimeMs + SLACK_MS >= last.uptimeMs + Math.max(at - last.at, 0);
    const look = { at, server, uptimeMs, dropped, run: isSame ? last.run : ++this.#runs };
    // two that are under way at a time may be answered in any order
    if (last === null || at >= last.at) this.#last = look;
    return look;
  }

  async #query(): Promise<[server: string, uptimeMs: number, dropped: number]> {
    try {
      const [row] = await this.#store.ownerRows(QUERY, {}, AbortSignal.timeout(DEADLINE_MS));
      const [server, uptime, dropped] = row ?? [];
      return [String(server), Number(uptime) * 1000, Number(dropped)];
    } catch (error) {
      if (!(error instanceof ClickHouseError) || error.code !== ACCESS_DENIED) throw error;
      const [row] = await this.#store.ownerRows('SELECT toString(uptime())', {}, AbortSignal.timeout(DEADLINE_MS));
      return [UNKNOWN, Number(row?.[0]) * 1000, 0];
    }
  }
}

const UNKNOWN = '';
