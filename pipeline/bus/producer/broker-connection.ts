import type { Kafka } from 'kafkajs';
import { isOn } from '../../core/fault-points.ts';
import { clusterOf } from '../connection/kafkajs-cluster.ts';
import { brokerError, requestOf, type ProtocolRequest, type ProtocolResponse } from '../connection/kafkajs-protocol.ts';
import type { ProducerIdentity } from './record-batch.ts';
import { withTimeout } from '../connection/with-timeout.ts';

export type Address = { readonly host: string; readonly port: number };

/** Who leads the partitions of a topic, and where brokers are. */
export type TopicLayout = {
  /** The number of its leader for each partition; negative where there is none just now. */
  readonly leaders: ReadonlyMap<number, number>;
  readonly brokers: ReadonlyMap<number, Address>;
};

/** An encoded batch of a partition. */
export type PartitionBatch = { readonly partition: number; readonly bytes: Buffer };

/** What a broker answers for the batch of a partition. */
export type PartitionAnswer = {
  readonly partition: number;
  /** 0: it is stored. */
  readonly errorCode: number;
  /** Of the first record; -1 where it is unknown. */
  readonly baseOffset: number;
  /** Milliseconds; -1 where the topic keeps the producer's times. */
  readonly logAppendTime: number;
};

/** A connection to a broker. It is never opened again: after a failure it is closed, and another one is opened. */
export interface BrokerConnection {
  readonly isOpen: boolean;
  layout(topic: string): Promise<TopicLayout>;
  /** An id that no producer has had. */
  producerIdentity(): Promise<ProducerIdentity>;
  /** Sends batches, acks=all; what is not replicated within `timeoutMs` is answered with an error. */
  produce(topic: string, batches: readonly PartitionBatch[], timeoutMs: number): Promise<PartitionAnswer[]>;
  /** With a reason, open requests reject with it at once. */
  close(reason?: Error): void;
}

/** Opens a connection to the broker at this address; null: to any of those that the client was given. */
export type Connect = (address: Address | null) => Promise<BrokerConnection>;

/** Longer than any broker that works takes for the handshake. Milliseconds. */
const CONNECT_MS = 3000;

type InnerConnection = { rejectRequests(error: Error): void; readonly socket?: { destroy(error: Error): void } };
type ConnectionPool = Address & { readonly pool: readonly InnerConnection[]; send(request: object): Promise<unknown> };
/** Which versions of which requests a broker knows. */
type Versions = object | null;
type Broker = {
  readonly connectionPool: ConnectionPool;
  readonly versions: Versions;
  isConnected(): boolean;
  connect(): Promise<void>;
  disconnect(): Promise<void>;
  lookupRequest(key: number, definitions: unknown): (options: object) => ProtocolRequest;
};
type Cluster = {
  readonly rootLogger: unknown;
  readonly connectionPoolBuilder: { build(address: Partial<Address>): Promise<ConnectionPool> };
  readonly brokerPool: {
    createBroker(options: { readonly connectionPool: ConnectionPool; readonly versions: Versions; readonly logger: unknown }): Broker;
  };
};

/**
 * Connections as kafkajs makes them: its sockets, authentication, versions and protocol, without its cluster, which waits for brokers that do
 * not answer, and without its producer (docs/adr/0002-producer-lanes.md). These are inner parts of kafkajs, whose version is pinned.
 */
export function brokerConnections(kafka: Kafka): Connect {
  let cluster: Cluster | undefined;
  // of brokers whose last connection ended otherwise than by silence: the next one need not begin with a question
  const known = new Map<string, Versions>();
  return async (address) => {
    // it never connects: it has the settings of the client
    cluster ??= clusterOf(kafka) as Cluster;
    const { connectionPoolBuilder, brokerPool, rootLogger } = cluster;
    const connectionPool = await connectionPoolBuilder.build(address ?? {});
    const name = `${connectionPool.host}:${String(connectionPool.port)}`;
    const broker = brokerPool.createBroker({ connectionPool, versions: known.get(name) ?? null, logger: rootLogger });
    const connection = new KafkajsConnection(broker, () => known.delete(name));
    try {
      await withTimeout(CONNECT_MS, broker.connect());
      known.set(name, broker.versions);
    } catch (error) {
      known.delete(name);
      connection.close(error instanceof Error ? error : new Error(String(error)));
      throw error;
    }
    return connection;
  };
}

type Metadata = {
  readonly brokers: readonly (Address & { readonly nodeId: number })[];
  readonly topicMetadata: readonly {
    readonly topic: string;
    readonly topicErrorCode: number;
    readonly partitionMetadata: readonly { readonly partitionId: number; readonly leader: number }[];
  }[];
};
type Produced = {
  readonly topics: readonly {
    readonly partitions: readonly {
      readonly partition: number;
      readonly errorCode: number;
      readonly baseOffset: string;
      readonly logAppendTime: string;
    }[];
  }[];
};

class KafkajsConnection implements BrokerConnection {
  readonly #broker: Broker;
  readonly #onSilence: () => void;
  #isClosed = false;

  /** `onSilence` is called where it is closed with a reason, though it is still there. */
  constructor(broker: Broker, onSilence: () => void) {
    this.#broker = broker;
    this.#onSilence = onSilence;
  }

  get isOpen(): boolean {
    return !this.#isClosed && this.#broker.isConnected();
  }

  async layout(topic: string): Promise<TopicLayout> {
    const { request, response } = requestOf(this.#broker, 'Metadata', { topics: [topic], allowAutoTopicCreation: false });
    // kafkajs would refuse the whole answer where one partition has no leader
    const { brokers, topicMetadata } = (await this.#send(request, { ...response, parse: (all) => Promise.resolve(all) })) as Metadata;
    const found = topicMetadata.find((one) => one.topic === topic);
    if (found === undefined || found.topicErrorCode !== 0) throw brokerError(found?.topicErrorCode ?? 3);
    return {
      leaders: new Map(found.partitionMetadata.map(({ partitionId, leader }) => [partitionId, leader])),
      brokers: new Map(brokers.map(({ nodeId, host, port }) => [nodeId, { host, port }])),
    };
  }

  async producerIdentity(): Promise<ProducerIdentity> {
    const { request, response } = requestOf(this.#broker, 'InitProducerId', { transactionTimeout: 60_000 });
    const answer = (await this.#send(request, response)) as { readonly producerId: string; readonly producerEpoch: number };
    return { id: answer.producerId, epoch: answer.producerEpoch };
  }

  async produce(topic: string, batches: readonly PartitionBatch[], timeoutMs: number): Promise<PartitionAnswer[]> {
    const { request, response } = requestOf(this.#broker, 'Produce', { acks: -1, timeout: timeoutMs, topicData: [] });
    const body = encodeProduce(topic, batches, timeoutMs);
    const encode = (): Promise<object> => Promise.resolve({ buf: body, buffer: body });
    // kafkajs would throw the first error and discard the answers of all other partitions
    const answer = (await this.#send({ ...request, encode }, { ...response, parse: (all) => Promise.resolve(all) })) as Produced;
    return answer.topics.flatMap(({ partitions }) =>
      partitions.map(({ partition, errorCode, baseOffset, logAppendTime }) => ({
        ...{ partition, errorCode },
        ...{ baseOffset: Number(baseOffset), logAppendTime: Number(logAppendTime) },
      })),
    );
  }

  close(reason?: Error): void {
    this.#isClosed = true;
    if (reason === undefined) {
      this.#broker.disconnect().catch(() => undefined);
      return;
    }
    if (this.#broker.isConnected()) this.#onSilence();
    for (const connection of this.#broker.connectionPool.pool) {
      connection.rejectRequests(reason);
      connection.socket?.destroy(reason);
    }
  }

  #send(request: object, response: ProtocolResponse): Promise<unknown> {
    if (this.#isClosed) return Promise.reject(new Error('The connection to Kafka is closed.'));
    return this.#broker.connectionPool.send({ request, response });
  }
}

/** All replicas, or the leader alone. */
const ACKS = isOn('all-replicas') ? -1 : 1;

/** The body of a Produce request (versions 3 to 7): no transaction. */
function encodeProduce(topic: string, batches: readonly PartitionBatch[], timeoutMs: number): Buffer {
  const name = Buffer.from(topic);
  const start = Buffer.allocUnsafe(18 + name.length);
  start.writeInt16BE(-1, 0);
  start.writeInt16BE(ACKS, 2);
  start.writeInt32BE(timeoutMs, 4);
  start.writeInt32BE(1, 8);
  start.writeInt16BE(name.length, 12);
  name.copy(start, 14);
  start.writeInt32BE(batches.length, 14 + name.length);
  const parts: Buffer[] = [start];
  for (const { partition, bytes } of batches) {
    const head = Buffer.allocUnsafe(8);
    head.writeInt32BE(partition, 0);
    head.writeInt32BE(bytes.length, 4);
    parts.push(head, bytes);
  }
  return Buffer.concat(parts);
}
