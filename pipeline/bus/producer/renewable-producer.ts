import type { Kafka, Producer, ProducerConfig, ProducerRecord, RecordMetadata } from 'kafkajs';
import { kafkajs } from '../connection/kafkajs.ts';
import { withTimeout } from '../connection/with-timeout.ts';

/**
 * A producer that connects when it is first needed, and is discarded with each send that fails or is not answered in time: its sequence
 * numbers, or its connection, cannot be trusted any more. The next send gets a new one.
 */
export class RenewableProducer {
  readonly #kafka: Kafka;
  readonly #config: ProducerConfig;
  readonly #deadlineMs: number;
  #producer: Promise<Producer> | null = null;

  /** `deadlineMs`: how long connecting and sending may take together. */
  constructor(kafka: Kafka, deadlineMs: number, config: ProducerConfig = {}) {
    this.#kafka = kafka;
    this.#config = config;
    this.#deadlineMs = deadlineMs;
  }

  async connect(): Promise<void> {
    await this.#connected();
  }

  /** Sends once; rejects, and discards the producer, where that fails. */
  async send(record: ProducerRecord): Promise<RecordMetadata[]> {
    const connected = this.#connected();
    try {
      return await withTimeout(this.#deadlineMs, this.#sendBy(connected, record));
    } catch (error) {
      if (this.#producer === connected) this.#producer = null;
      connected.then((old) => old.disconnect()).catch(() => undefined);
      throw error;
    }
  }

  async disconnect(): Promise<void> {
    const producer = this.#producer;
    this.#producer = null;
    await (await producer)?.disconnect();
  }

  async #sendBy(connected: Promise<Producer>, record: ProducerRecord): Promise<RecordMetadata[]> {
    const producer = await connected;
    // while it connected the send was given up: its requests were refused, and may have come again
    if (this.#producer !== connected) throw new Error('The producer was discarded.');
    return producer.send(record);
  }

  #connected(): Promise<Producer> {
    if (this.#producer === null) {
      const producer = this.#kafka.producer({
        allowAutoTopicCreation: false,
        createPartitioner: kafkajs.Partitioners.DefaultPartitioner,
        ...this.#config,
      });
      const connected = producer.connect().then(() => producer);
      this.#producer = connected;
      connected.catch(() => {
        // one that was discarded before it failed is not the present one any more
        if (this.#producer === connected) this.#producer = null;
      });
    }
    return this.#producer;
  }
}
