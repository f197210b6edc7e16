import type { Kafka, Message, RecordMetadata } from 'kafkajs';

/** What Kafka answers: for each partition where its first record lies, and when it was appended. */
export const produceAnswer = (partition: number, baseOffset: number, logAppendTime: number): RecordMetadata => ({
  topicName: 'logs.v1',
  partition,
  errorCode: 0,
  baseOffset: String(baseOffset),
  logAppendTime: String(logAppendTime),
});

type Send = { readonly messages: Message[]; readonly compression: number; readonly producer: number; answer: (error?: Error) => void };

/** Kafka that takes sends one by one, when it is told to. */
export class ProducerKafka {
  readonly sends: Send[] = [];
  producers = 0;
  /** Resolves when a connection is there. */
  connected: Promise<void> = Promise.resolve();
  inFlight = 0;
  mostInFlight = 0;
  readonly #partitions: number;
  /** The next offset of each partition. */
  readonly #ends = new Map<number, number>();

  constructor(partitions = 1) {
    this.#partitions = partitions;
  }

  get client(): Kafka {
    return this as unknown as Kafka;
  }

  #append(messages: readonly Message[]): RecordMetadata[] {
    return [...new Set(messages.map(({ partition = 0 }) => partition))].map((partition) => {
      const base = this.#ends.get(partition) ?? 100;
      this.#ends.set(partition, base + messages.filter((message) => message.partition === partition).length);
      return produceAnswer(partition, base, 1_795_000_000_000);
    });
  }

  admin(): unknown {
    const partitions = Array.from({ length: this.#partitions }, () => ({}));
    return {
      connect: () => Promise.resolve(),
      disconnect: () => Promise.resolve(),
      fetchTopicMetadata: () => Promise.resolve({ topics: [{ partitions }] }),
    };
  }

  producer(): unknown {
    const producer = ++this.producers;
    return {
      connect: () => this.connected,
      disconnect: () => Promise.resolve(),
      send: ({ messages, compression }: { messages: Message[]; compression: number }) =>
        new Promise<RecordMetadata[]>((resolve, reject) => {
          this.inFlight += 1;
          this.mostInFlight = Math.max(this.mostInFlight, this.inFlight);
          const answer = (error?: Error): void => {
            this.inFlight -= 1;
            if (error === undefined) resolve(this.#append(messages));
            else reject(error);
          };
          this.sends.push({ messages, compression, producer, answer });
        }),
    };
  }
}
