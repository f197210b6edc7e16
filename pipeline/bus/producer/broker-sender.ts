import type { BrokerConnection, PartitionAnswer, PartitionBatch } from './broker-connection.ts';
import type { PartitionQueue } from './partition-queue.ts';
import { withTimeout } from '../connection/with-timeout.ts';

/** Most bytes of values in one request. */
const MAX_REQUEST_BYTES = 4_000_000;
/** How long a broker waits for a batch's replicas; then it answers that they lack, and no longer holds the whole request. Milliseconds. */
const COPIES_MS = 2000;

/** What came of a request: an answer for each batch, or the failure of them all, of which it is not known whether they are stored. */
export type RequestOutcome = {
  readonly queues: readonly PartitionQueue[];
  readonly answers: ReadonlyMap<number, PartitionAnswer>;
  readonly failure: Error | null;
  /** The broker has not answered for so long that it was given up. */
  readonly isSilent: boolean;
};

export type BrokerSenderOptions = {
  readonly topic: string;
  readonly connect: () => Promise<BrokerConnection>;
  /** A broker that is silent for so long is given up. Milliseconds. */
  readonly silenceMs: number;
  /** A request begins so long after the one before it at the earliest, unless that one was full: fewer requests cost less. Milliseconds. */
  readonly gapMs: number;
  /** Called after each request. The queues are no longer the sender's. */
  readonly onOutcome: (outcome: RequestOutcome) => void;
  /** The broker cannot be reached: these were waiting for it, and are no longer the sender's. */
  readonly onUnreachable: (queues: readonly PartitionQueue[], error: Error) => void;
};

/**
 * Sends to one broker: one request at a time, with the batches of all partitions that wait for it, those first that have waited longest. So a
 * request carries everything that came while the one before was under way, however many partitions there are.
 */
export class BrokerSender {
  readonly #options: BrokerSenderOptions;
  readonly #waiting = new Set<PartitionQueue>();
  #connection: BrokerConnection | null = null;
  #running = false;
  /** When the next request may begin. */
  #nextAt = 0;
  #scheduled = false;

  constructor(options: BrokerSenderOptions) {
    this.#options = options;
  }

  /** The queue has something to send to this broker. */
  add(queue: PartitionQueue): void {
    this.#waiting.add(queue);
    if (this.#scheduled || this.#running) return;
    this.#scheduled = true;
    // requests that are decoded in the same turn of the event loop share a send
    setImmediate(() => {
      this.#scheduled = false;
      void this.#run();
    });
  }

  /** The queue is not the sender's any more. */
  remove(queue: PartitionQueue): void {
    this.#waiting.delete(queue);
  }

  close(reason?: Error): void {
    this.#connection?.close(reason);
    this.#connection = null;
  }

  async #run(): Promise<void> {
    if (this.#running) return;
    this.#running = true;
    try {
      while (this.#waiting.size > 0) {
        // nothing is frozen before there is a connection
        const connection = await this.#connected();
        if (connection === null) continue;
        const wait = this.#nextAt - performance.now();
        if (wait > 0) await new Promise((resolve) => setTimeout(resolve, wait));
        await this.#send(connection);
      }
    } finally {
      this.#running = false;
    }
  }

  async #connected(): Promise<BrokerConnection | null> {
    if (this.#connection?.isOpen === true) return this.#connection;
    this.close();
    try {
      this.#connection = await this.#options.connect();
      return this.#connection;
    } catch (error) {
      const queues = [...this.#waiting];
      this.#waiting.clear();
      this.#options.onUnreachable(queues, error instanceof Error ? error : new Error(String(error)));
      return null;
    }
  }

  async #send(connection: BrokerConnection): Promise<void> {
    const { queues, batches } = await this.#freeze();
    if (queues.length === 0) return;
    const { topic, silenceMs, gapMs, onOutcome } = this.#options;
    let answers: readonly PartitionAnswer[] = [];
    let failure: Error | null = null;
    const since = performance.now();
    this.#nextAt = this.#waiting.size > 0 ? 0 : since + gapMs;
    try {
      answers = await withTimeout(silenceMs, connection.produce(topic, batches, COPIES_MS));
    } catch (error) {
      failure = error instanceof Error ? error : new Error(String(error));
      this.close(failure);
    }
    for (const queue of queues) queue.inFlight = false;
    const isSilent = failure !== null && performance.now() - since >= silenceMs;
    onOutcome({ queues, answers: new Map(answers.map((answer) => [answer.partition, answer])), failure, isSilent });
  }

  /** The batches of the next request. Queues that are left over go on waiting, in their order. */
  async #freeze(): Promise<{ readonly queues: PartitionQueue[]; readonly batches: PartitionBatch[] }> {
    const queues: PartitionQueue[] = [];
    const batches: PartitionBatch[] = [];
    let budget = MAX_REQUEST_BYTES;
    for (const queue of this.#waiting) {
      // from here on nothing else touches it
      queue.inFlight = true;
      const batch = await queue.freeze(budget, batches.length === 0);
      if (batch === null) {
        queue.inFlight = false;
        if (!queue.isEmpty && queue.identity !== null) break;
        this.#waiting.delete(queue);
        continue;
      }
      this.#waiting.delete(queue);
      queues.push(queue);
      batches.push({ partition: queue.partition, bytes: batch.bytes });
      budget -= batch.bytes.length;
      if (budget <= 0) break;
    }
    return { queues, batches };
  }
}
