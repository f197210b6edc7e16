import type { Kafka, KafkaMessage } from 'kafkajs';
import { kafkajs } from '../connection/kafkajs.ts';
import type { Service } from '../../core/service.ts';
import { queryOnce } from '../connection/admin-connection.ts';
import { decodeDeadLetter, encodeDeadLetter, replayOf, type DeadLetter } from '../records/dead-letter.ts';
import { boundsOf, firstSince } from '../reading/group-positions.ts';
import { RenewableProducer } from '../producer/renewable-producer.ts';
import { readSpans, type Span } from '../reading/span-reader.ts';
import { DEAD_LETTER_TOPIC } from '../records/topics.ts';

/** Bytes of values in one send, unless one record alone has more. */
const MAX_SEND_BYTES = 2_000_000;
/** A letter whose answer did not come is sent again, and may then be there twice. Milliseconds. */
const SEND_DEADLINE_MS = 60_000;
/** Thrown to end a reading early. */
const ENOUGH = new Error('No more is wanted.');

/** A letter on the topic, and when it was written, in milliseconds. */
export type StoredDeadLetter = DeadLetter & { readonly at: number };

/** The topic of the records that could not be stored. Everything on it may be there twice. */
export class DeadLetters implements Service {
  readonly name = 'dead letters';
  readonly #kafka: Kafka;
  readonly #producer: RenewableProducer;

  constructor(kafka: Kafka) {
    this.#kafka = kafka;
    this.#producer = new RenewableProducer(kafka, SEND_DEADLINE_MS, { retry: { retries: 3, initialRetryTime: 100, maxRetryTime: 1000 } });
  }

  /** It connects when there is something to write: mostly there never is. */
  start(): Promise<void> {
    return Promise.resolve();
  }

  /** Resolves when every letter is on the topic (acks=all). */
  async write(deadLetters: readonly DeadLetter[]): Promise<void> {
    await this.#send(
      DEAD_LETTER_TOPIC,
      deadLetters.map((deadLetter) => ({ partition: 0, ...encodeDeadLetter(deadLetter) })),
    );
  }

  /** Puts the originals of letters on their topics again. They count nothing, and are stored where no row of the original is. */
  async replay(deadLetters: readonly DeadLetter[]): Promise<void> {
    for (const topic of new Set(deadLetters.map((deadLetter) => deadLetter.topic)))
      await this.#send(topic, deadLetters.filter((deadLetter) => deadLetter.topic === topic).map(replayOf));
  }

  /**
   * Gives the letters that were written since `from` (milliseconds) to `onDeadLetters`, in their order, some at a time, until there are no
   * more or it returns false. Resolves with false where it stopped early.
   */
  async read(from: number, onDeadLetters: (batch: readonly StoredDeadLetter[]) => Promise<boolean>): Promise<boolean> {
    const take = async (messages: readonly KafkaMessage[]): Promise<void> => {
      const deadLetters = messages.flatMap((message) => {
        const deadLetter = decodeDeadLetter(message);
        return deadLetter === null ? [] : [{ ...deadLetter, at: Number(message.timestamp) }];
      });
      if (!(await onDeadLetters(deadLetters))) throw ENOUGH;
    };
    const spans = new Map([[0, await this.#since(from)]]);
    try {
      await readSpans({
        kafka: this.#kafka,
        topic: DEAD_LETTER_TOPIC,
        spans,
        groupPrefix: 'dead-letter',
        take: (_, messages) => take(messages),
      });
      return true;
    } catch (error) {
      if (error === ENOUGH) return false;
      throw error;
    }
  }

  stop(): Promise<void> {
    return this.#producer.disconnect();
  }

  #since(from: number): Promise<Span> {
    return queryOnce(this.#kafka, SEND_DEADLINE_MS, async (admin) => {
      const [bounds, since] = await Promise.all([boundsOf(admin, DEAD_LETTER_TOPIC), firstSince(admin, DEAD_LETTER_TOPIC, from)]);
      const { low, end } = bounds.get(0) ?? { low: 0, end: 0 };
      return { from: Math.max(low, since.get(0) ?? 0), to: end };
    });
  }

  async #send(topic: string, messages: readonly (ReturnType<typeof encodeDeadLetter> & { readonly partition: number })[]): Promise<void> {
    for (let at = 0, to; at < messages.length; at = to) {
      let bytes = 0;
      for (to = at; to < messages.length; to++) {
        bytes += messages[to]?.value?.length ?? 0;
        if (to > at && bytes > MAX_SEND_BYTES) break;
      }
      const part = messages.slice(at, to);
      await this.#producer.send({ topic, acks: -1, compression: kafkajs.CompressionTypes.Snappy, messages: part });
    }
  }
}
