import type { IHeaders, Kafka } from 'kafkajs';
import { RenewableProducer } from './renewable-producer.ts';

/** A record that means the same when it is written again. */
export type AbsoluteRecord = {
  readonly topic: string;
  /** Null: Kafka's usual partitioner chooses it by the key. */
  readonly partition: number | null;
  readonly key: string | null;
  readonly value: Buffer;
  readonly headers: IHeaders;
};

/** What a record counts in addition to its value, about. Bytes. */
const RECORD_BYTES = 100;
/** Of a request. */
const MOST_BYTES = 512 * 1024;
const DEADLINE_MS = 10_000;

/** Bytes of a record, about. */
export const sizeOfRecord = ({ value }: Pick<AbsoluteRecord, 'value'>): number => value.length + RECORD_BYTES;

/** Writes records that may be written again: in their order, and acknowledged by all replicas. */
export class AbsoluteWriter {
  readonly #producer: RenewableProducer;

  constructor(kafka: Kafka) {
    this.#producer = new RenewableProducer(kafka, DEADLINE_MS, { maxInFlightRequests: 1 });
  }

  /** Resolves when Kafka has all of them; where it rejects, some of them may be there. */
  async write(records: readonly AbsoluteRecord[]): Promise<void> {
    for (const together of requestsOf(records)) {
      const [{ topic } = { topic: '' }] = together;
      const messages = together.map(({ partition, key, value, headers }) => ({
        ...(partition === null ? {} : { partition }),
        key,
        value,
        headers,
      }));
      await this.#producer.send({ topic, acks: -1, messages });
    }
  }

  close(): Promise<void> {
    return this.#producer.disconnect();
  }
}

/** The records in their order, those of a topic that follow each other together, as many as a request may have bytes. */
function requestsOf(records: readonly AbsoluteRecord[]): AbsoluteRecord[][] {
  const requests: AbsoluteRecord[][] = [];
  let budget = 0;
  for (const record of records) {
    budget -= sizeOfRecord(record);
    if (budget < 0 || requests.at(-1)?.[0]?.topic !== record.topic) {
      requests.push([]);
      budget = MOST_BYTES - sizeOfRecord(record);
    }
    requests.at(-1)?.push(record);
  }
  return requests;
}
