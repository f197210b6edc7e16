import type { Kafka } from 'kafkajs';
import { setTimeout as sleep } from 'node:timers/promises';
import { clusterOf } from '../connection/kafkajs-cluster.ts';
import { withTimeout } from '../connection/with-timeout.ts';

/** What this process alone may do until it ends the turn, or has gone. */
export type Turn = {
  /** Resolves while the turn is this process's. Rejects with TurnTaken where another one has it, and where Kafka does not say so in a minute. */
  confirm(): Promise<void>;
  /** Ends it; whoever wants it next need not wait. */
  end(): Promise<void>;
};

/** Another process has the turn; the message says which one it is. */
export class TurnTaken extends Error {}

/** A turn that is wanted: the consumer group that stands for it, and the sentence where another process has it. */
export type TurnOptions = { readonly groupId: string; readonly taken: string; readonly sessionMs?: number };

/** What is used of kafkajs' cluster and its brokers. */
type Coordinator = {
  joinGroup(request: object): Promise<{ readonly memberId: string; readonly leaderId: string; readonly generationId: number }>;
  syncGroup(request: object): Promise<unknown>;
  heartbeat(request: object): Promise<unknown>;
  leaveGroup(request: object): Promise<unknown>;
};
type Cluster = {
  connect(): Promise<void>;
  disconnect(): Promise<void>;
  findGroupCoordinator(group: { readonly groupId: string }): Promise<Coordinator>;
};

const DEADLINE_MS = 60_000;
const SESSION_MS = 10_000;
/** How long one that is there, and busy, may take to join again while another one joins: as long as it is, it keeps its turn. */
const REJOIN_MS = 45_000;
/** Heartbeats in a session. */
const BEATS = 5;
/** What fails while others join and leave is tried again after that. */
const AGAIN_MS = 100;

/**
 * Takes a turn: this process joins a consumer group that reads nothing. Kafka makes the first member its leader, and keeps it so while it is there; whoever
 * joins later is told so, and leaves. A process that ends without a word is forgotten after its session. Rejects with TurnTaken where another process
 * has it, and where Kafka does not answer in a minute.
 */
export async function takeTurn(kafka: Kafka, options: TurnOptions): Promise<Turn> {
  const turn = new GroupTurn(clusterOf(kafka) as Cluster, options);
  try {
    await turn.begin();
  } catch (error) {
    await turn.end();
    throw error;
  }
  return turn;
}

class GroupTurn implements Turn {
  readonly #cluster: Cluster;
  readonly #options: TurnOptions;
  readonly #over = new AbortController();
  #memberId = '';
  #generationId = -1;
  #taken: TurnTaken | null = null;
  /** One request after the other. */
  #last: Promise<void> = Promise.resolve();

  constructor(cluster: Cluster, options: TurnOptions) {
    this.#cluster = cluster;
    this.#options = options;
  }

  async begin(): Promise<void> {
    await withTimeout(DEADLINE_MS, this.#cluster.connect());
    await this.confirm();
    void this.#beatOn();
  }

  confirm(): Promise<void> {
    const deadline = Date.now() + DEADLINE_MS;
    const confirmed = this.#last.then(() => this.#confirmedBy(deadline));
    this.#last = confirmed.catch(() => undefined);
    return withTimeout(DEADLINE_MS, confirmed);
  }

  async end(): Promise<void> {
    this.#over.abort();
    await withTimeout(
      DEADLINE_MS,
      this.#last.then(() => this.#leave()),
    ).catch(() => undefined);
    // not waited for: it may be what does not answer
    this.#cluster.disconnect().catch(() => undefined);
  }

  async #beatOn(): Promise<void> {
    const everyMs = (this.#options.sessionMs ?? SESSION_MS) / BEATS;
    for (;;) {
      await sleep(everyMs, undefined, { signal: this.#over.signal }).catch(() => undefined);
      if (this.#over.signal.aborted || this.#taken !== null) return;
      // what fails is tried again, and told to whoever asks
      await this.confirm().catch(() => undefined);
    }
  }

  async #confirmedBy(deadline: number): Promise<void> {
    for (;;) {
      try {
        await this.#beat();
        return;
      } catch (error) {
        if (error instanceof TurnTaken || Date.now() > deadline) throw error;
      }
      await sleep(AGAIN_MS);
    }
  }

  /** A member that is not what the coordinator knows, also since another one joins, joins again. */
  async #beat(): Promise<void> {
    if (this.#taken !== null) throw this.#taken;
    const { groupId } = this.#options;
    try {
      const coordinator = await this.#cluster.findGroupCoordinator({ groupId });
      await coordinator.heartbeat({ groupId, groupGenerationId: this.#generationId, memberId: this.#memberId });
    } catch {
      await this.#join();
    }
  }

  async #join(): Promise<void> {
    const { groupId, sessionMs: sessionTimeout = SESSION_MS } = this.#options;
    const coordinator = await this.#cluster.findGroupCoordinator({ groupId });
    const request = {
      groupId,
      sessionTimeout,
      rebalanceTimeout: REJOIN_MS,
      protocolType: 'logweir',
      groupProtocols: [{ name: 'turn' }],
    };
    const joined = await coordinator.joinGroup({ ...request, memberId: this.#memberId }).catch((error: unknown) => {
      if (!isForgotten(error)) throw error;
      return coordinator.joinGroup(request);
    });
    this.#memberId = joined.memberId;
    this.#generationId = joined.generationId;
    if (joined.leaderId === joined.memberId) {
      await coordinator.syncGroup({ groupId, generationId: joined.generationId, memberId: joined.memberId, groupAssignment: [] });
      return;
    }
    this.#taken = new TurnTaken(this.#options.taken);
    throw this.#taken;
  }

  async #leave(): Promise<void> {
    if (this.#memberId === '') return;
    const { groupId } = this.#options;
    const coordinator = await this.#cluster.findGroupCoordinator({ groupId });
    await coordinator.leaveGroup({ groupId, memberId: this.#memberId });
  }
}

/** Kafka does not know the member any more: its session has ended. */
const isForgotten = (error: unknown): boolean => (error as { readonly type?: unknown } | null)?.type === 'UNKNOWN_MEMBER_ID';
