import type { Logger } from 'pino';
import type { ControlStore } from '../../api/control/control-store.ts';
import { serversFault } from '../../api/control/set-servers.ts';
import { shardsInUse } from '../../api/control/shard-map.ts';
import type { StoreSet } from '../../pipeline/core/config-sets.ts';
import { storeUnavailable } from '../../pipeline/core/errors.ts';
import { repeat } from '../../pipeline/core/repeat.ts';
import type { Service } from '../../pipeline/core/service.ts';
import type { Store } from '../../pipeline/store/client.ts';
import { serverIds } from '../../pipeline/store/server-id.ts';

const EVERY_MS = 60_000;
const DEADLINE_MS = 5000;

/** The servers of a set, in the order of its shards, and what every node knows of them. */
export type SetServers = {
  readonly set: Pick<StoreSet, 'name' | 'shards'>;
  readonly stores: readonly Pick<Store, 'database' | 'ownerRows'>[];
  readonly control: Pick<ControlStore, 'ready' | 'record' | 'allRecords'>;
};

/**
 * Why nothing may be read from the servers of a set, and nothing stored in them, as the end of a sentence about it; null: they are those that its rows
 * were stored in, or it has none yet. What its consumer groups have committed says nothing of what lies in others. Rejects where one does not answer.
 */
export async function setServersFault({ set: { name, shards }, stores, control }: SetServers, signal: AbortSignal): Promise<string | null> {
  if (!control.ready) return 'waits for the control topic, which lists its servers';
  const used = shardsInUse(control, name);
  if (used > shards.length) return `has partitions in its shard ${String(used)}, and the file names ${String(shards.length)}`;
  return serversFault(control, name, await serverIds(stores, signal));
}

/** Throws where nothing may be stored in the servers of a set. */
export async function assertServers(servers: SetServers): Promise<void> {
  const fault = await setServersFault(servers, AbortSignal.timeout(DEADLINE_MS));
  if (fault !== null) throw new Error(`it ${fault}`);
}

/** The ids of servers that have their tables. Throws HttpError 503 where one has none, or does not answer. */
export async function idsOf(stores: SetServers['stores']): Promise<readonly string[]> {
  const ids = await serverIds(stores, AbortSignal.timeout(DEADLINE_MS));
  if (ids.includes('')) throw storeUnavailable();
  return ids;
}

export type ServersWatchOptions = {
  readonly servers: SetServers;
  readonly log: Logger;
  /** Called where nothing may be stored any more: the process should end and be started again, which stores nothing then. */
  readonly onFault: (error: Error) => void;
  readonly everyMs?: number;
};

/** Looks at the servers of a set every minute while its sinks run. */
export class ServersWatch implements Service {
  readonly name = 'servers of a set';
  readonly #options: ServersWatchOptions;
  readonly #stop = new AbortController();
  #running: Promise<unknown> = Promise.resolve();

  constructor(options: ServersWatchOptions) {
    this.#options = options;
  }

  start(): Promise<void> {
    this.#running = repeat(this.#options.everyMs ?? EVERY_MS, this.#stop.signal, () => this.#look());
    return Promise.resolve();
  }

  async stop(): Promise<void> {
    this.#stop.abort();
    await this.#running;
  }

  async #look(): Promise<void> {
    const { servers, log, onFault } = this.#options;
    if (this.#stop.signal.aborted) return;
    try {
      const fault = await setServersFault(servers, AbortSignal.timeout(DEADLINE_MS));
      if (fault !== null) onFault(new Error(`The sinks of the set ${servers.set.name} end: it ${fault}.`));
    } catch (error) {
      log.debug({ err: error }, 'The servers of a set could not be looked at.');
    }
  }
}
