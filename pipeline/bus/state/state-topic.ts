import type { Kafka } from 'kafkajs';
import type { Logger } from 'pino';
import { fetchPartitions } from '../reading/partition-fetch.ts';
import { RenewableProducer } from '../producer/renewable-producer.ts';
import type { StateRecord } from './state-snapshot.ts';

/** A compacted topic of states, as a `StateLog` needs it. */
export interface StateTopic {
  readonly name: string;
  /** Resolves when all of these are on the topic (acks=all), in their order. Where it rejects, any of them may be. */
  append(partition: number, records: readonly StateRecord[]): Promise<void>;
  /** Gives the records of these partitions up to their ends as they are now, each partition in its order. Rejects when the signal comes, and then alone. */
  read(
    partitions: readonly number[],
    take: (partition: number, records: readonly StateRecord[]) => void,
    signal: AbortSignal,
  ): Promise<void>;
  close(): Promise<void>;
}

/** A send of 1 MiB that is not answered by then has failed. Milliseconds. */
const SEND_DEADLINE_MS = 20_000;

/** A topic of states on Kafka. */
export class KafkaStateTopic implements StateTopic {
  readonly name: string;
  readonly #kafka: Kafka;
  readonly #log: Logger;
  readonly #producer: RenewableProducer;

  constructor({ kafka, log, topic }: { readonly kafka: Kafka; readonly log: Logger; readonly topic: string }) {
    this.name = topic;
    this.#kafka = kafka;
    this.#log = log;
    this.#producer = new RenewableProducer(kafka, SEND_DEADLINE_MS, { retry: { retries: 3, initialRetryTime: 100, maxRetryTime: 1000 } });
  }

  async append(partition: number, records: readonly StateRecord[]): Promise<void> {
    const messages = records.map(({ key, value }) => ({ partition, key, value }));
    await this.#producer.send({ topic: this.name, acks: -1, messages });
  }

  read(
    partitions: readonly number[],
    take: (partition: number, records: readonly StateRecord[]) => void,
    signal: AbortSignal,
  ): Promise<void> {
    return fetchPartitions({
      ...{ kafka: this.#kafka, log: this.#log, topic: this.name, partitions, signal },
      take: (partition, messages) =>
        take(
          partition,
          messages.map(({ key, value }) => ({ key: key?.toString() ?? '', value })),
        ),
    });
  }

  close(): Promise<void> {
    return this.#producer.disconnect();
  }
}
