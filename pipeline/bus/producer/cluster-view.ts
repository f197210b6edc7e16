import type { Address, BrokerConnection, Connect, TopicLayout } from './broker-connection.ts';
import type { ProducerIdentity } from './record-batch.ts';
import { withTimeout } from '../connection/with-timeout.ts';

/** How long a broker may take to answer who leads; then another one is queried. Milliseconds. */
const QUERY_MS = 3000;

/**
 * What is known of the cluster: who leads each partition, and the producer id for those who need one. Each look queries another broker
 * than the one before, since one that is cut off from the others keeps answering with old state.
 */
export class ClusterView {
  readonly #connect: Connect;
  readonly #topic: string;
  #layout: TopicLayout = { leaders: new Map(), brokers: new Map() };
  #identity: ProducerIdentity | null = null;
  #requests = 0;

  constructor(connect: Connect, topic: string) {
    this.#connect = connect;
    this.#topic = topic;
  }

  /** How many partitions the topic has. */
  get partitions(): number {
    return this.#layout.leaders.size;
  }

  /** Whom those send as who need a new identity; null until there is one. */
  get identity(): ProducerIdentity | null {
    return this.#identity;
  }

  /** The leader of a partition; null where there is none, or it is not known where it is. */
  leaderOf(partition: number): number | null {
    const leader = this.#layout.leaders.get(partition) ?? -1;
    return this.#layout.brokers.has(leader) ? leader : null;
  }

  addressOf(broker: number): Address | null {
    return this.#layout.brokers.get(broker) ?? null;
  }

  /** This identity is not handed out again. */
  retire(identity: ProducerIdentity | null): void {
    if (this.#identity === identity) this.#identity = null;
  }

  /** Queries a broker for the leaders, and for an identity where there is none. */
  async refresh(): Promise<void> {
    const addresses: readonly (Address | null)[] = [null, ...this.#layout.brokers.values()];
    const address = addresses[this.#requests++ % addresses.length] ?? null;
    let connection: BrokerConnection | null = null;
    let failure: Error | undefined;
    try {
      connection = await this.#connect(address);
      this.#layout = await withTimeout(QUERY_MS, connection.layout(this.#topic));
      this.#identity ??= await withTimeout(QUERY_MS, connection.producerIdentity());
    } catch (error) {
      failure = error instanceof Error ? error : new Error(String(error));
      throw failure;
    } finally {
      connection?.close(failure);
    }
  }
}
