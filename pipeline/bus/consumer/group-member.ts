import type { Consumer, ConsumerConfig, EachBatchPayload, Kafka } from 'kafkajs';
import { kafkajs } from '../connection/kafkajs.ts';
import type { Logger } from 'pino';
import { withTimeout } from '../connection/with-timeout.ts';

export type GroupMemberOptions = {
  readonly kafka: Kafka;
  readonly log: Logger;
  readonly groupId: string;
  readonly topic: string;
  /** How much is fetched at once. */
  readonly fetch: Pick<ConsumerConfig, 'minBytes' | 'maxWaitTimeInMs' | 'maxBytesPerPartition' | 'maxBytes' | 'allowAutoTopicCreation'>;
  /** Where a partition begins of which the group has committed nothing: at its first record, unless this is false; then at its end. */
  readonly fromBeginning?: boolean;
  /** How many partitions `onBatch` may be called for at the same time; 1 by default. */
  readonly concurrency?: number;
  /** Called with the partitions that belong to this process from now on. */
  readonly onAssigned?: (partitions: readonly number[]) => void;
  /** Called when they may belong to another member. */
  readonly onLost?: () => void;
  /** Takes the records of one partition; it must resolve the offsets that are done with. */
  readonly onBatch: (payload: EachBatchPayload) => Promise<void>;
  /** Called when kafkajs does not go on by itself; without it, the consumer is recreated. */
  readonly onCrash?: (error: Error) => void;
  /** Called when the coordinator is given up. */
  readonly onSilence?: () => void;
  /** How often it is looked whether it goes on: see `SILENT_LOOKS` and `STUCK_LOOKS`. Milliseconds. */
  readonly lookEveryMs?: number;
};

const { KafkaJSNonRetriableError } = kafkajs;

const SESSION_MS = 6000;
const LOOK_EVERY_MS = 1000;
/** Time for a dozen tries of kafkajs to find a broker that answers. Milliseconds. */
const CONNECT_MS = 60_000;
/** This number of looks without an answer is longer than the session: the coordinator has forgotten this member, or is not there. */
const SILENT_LOOKS = 10;
/**
 * This number of looks is longer than joining takes where all is well (a rebalance ends after 30 s), and than a fetch (which may wait
 * for a join): what has not come by then hangs.
 */
const STUCK_LOOKS = 60;

/**
 * This process as a member of a consumer group. kafkajs keeps querying the coordinator that it knows, for minutes where that is halted or
 * cut off, though the others have long had a new one. Where no heartbeat is answered, or joining or a fetch does not end, its consumer is
 * recreated, and looks for the coordinator and the leaders again.
 */
export class GroupMember {
  readonly #options: GroupMemberOptions;
  #consumer: Consumer;
  #joined = false;
  #failure: Error | null = null;
  #running = false;
  #left = false;
  /** Looks without an answered heartbeat, and without the end of joining; null: none is due. */
  #silentLooks: number | null = null;
  #joiningLooks: number | null = null;
  /** Looks without the end of a fetch, by broker. */
  readonly #fetchLooks = new Map<number, number>();
  #timer: NodeJS.Timeout | undefined;
  #onOpen: () => void = () => undefined;

  constructor(options: GroupMemberOptions) {
    this.#options = options;
    this.#consumer = this.#create();
  }

  /** True while this process is a member of its group. */
  get joined(): boolean {
    return this.#joined;
  }

  /** Why the group could not be joined at the last try; null once it was joined. */
  get failure(): Error | null {
    return this.#joined ? null : this.#failure;
  }

  /** Resolves when the group was joined, or kafkajs has ended in a crash. Rejects where Kafka cannot be reached. */
  async start(): Promise<void> {
    this.#running = true;
    this.#timer = setInterval(() => {
      this.#look();
    }, this.#options.lookEveryMs ?? LOOK_EVERY_MS).unref();
    await new Promise<void>((resolve, reject) => {
      // the first consumer may be given up before it has come to an end
      this.#onOpen = resolve;
      this.#open().then(resolve, reject);
    });
  }

  /** No new partitions are taken up from now on; what was fetched may still come. */
  halt(): void {
    // else the same would be fetched again and again until all is stored; the membership is kept
    this.#quietly(() => this.#consumer.pause([{ topic: this.#options.topic }]));
    clearInterval(this.#timer);
    this.#running = false;
  }

  /** Leaves the group. */
  async leave(): Promise<void> {
    clearInterval(this.#timer);
    this.#running = false;
    this.#left = true;
    await this.#consumer.disconnect();
  }

  pause(partitions: number[]): void {
    this.#quietly(() => this.#consumer.pause([{ topic: this.#options.topic, partitions }]));
  }

  resume(partitions: number[]): void {
    this.#quietly(() => this.#consumer.resume([{ topic: this.#options.topic, partitions }]));
  }

  /** Requests an offset by name. Within `onBatch`. */
  seek(partition: number, offset: number): void {
    this.#consumer.seek({ topic: this.#options.topic, partition, offset: String(offset) });
  }

  #create(): Consumer {
    const { kafka, groupId, fetch } = this.#options;
    const consumer = kafka.consumer({
      ...fetch,
      groupId,
      sessionTimeout: SESSION_MS,
      rebalanceTimeout: 30_000,
      heartbeatInterval: 1500,
      retry: {
        retries: 10,
        initialRetryTime: 100,
        maxRetryTime: 2000,
        // one that was given up may crash later, and would rejoin next to its successor
        restartOnFailure: () => Promise.resolve(!this.#isGivenUp(consumer)),
      },
    });
    this.#listenTo(consumer);
    return consumer;
  }

  #listenTo(consumer: Consumer): void {
    const { log, topic, onAssigned, onCrash } = this.#options;
    const { events } = consumer;
    consumer.on(events.GROUP_JOIN, ({ payload }) => {
      if (this.#isGivenUp(consumer)) return;
      this.#lose();
      this.#joined = true;
      [this.#silentLooks, this.#joiningLooks] = [0, null];
      onAssigned?.(payload.memberAssignment[topic] ?? []);
    });
    consumer.on(events.HEARTBEAT, () => {
      if (!this.#isGivenUp(consumer) && this.#silentLooks !== null) this.#silentLooks = 0;
    });
    consumer.on(events.FETCH_START, ({ payload }) => {
      if (!this.#isGivenUp(consumer)) this.#fetchLooks.set(payload.nodeId, 0);
    });
    consumer.on(events.FETCH, ({ payload }) => {
      if (!this.#isGivenUp(consumer)) this.#fetchLooks.delete(payload.nodeId);
    });
    consumer.on(events.REBALANCING, () => {
      if (!this.#isGivenUp(consumer)) this.#lose();
    });
    consumer.on(events.CRASH, ({ payload }) => {
      if (this.#isGivenUp(consumer)) return;
      this.#lose();
      this.#joined = false;
      this.#failure = payload.error;
      log.error({ err: payload.error, restart: payload.restart }, `The reader of ${topic} crashed.`);
      if (payload.restart || !this.#running) return;
      if (onCrash === undefined) this.renew();
      else onCrash(payload.error);
    });
  }

  /** The partitions may belong to another member, and no heartbeat is due until the group has been joined again. */
  #lose(): void {
    this.#silentLooks = null;
    // it may be lost several times before it is joined
    this.#joiningLooks ??= 0;
    this.#fetchLooks.clear();
    this.#options.onLost?.();
  }

  async #open(): Promise<void> {
    const consumer = this.#consumer;
    const { topic, fromBeginning = true } = this.#options;
    try {
      await withTimeout(CONNECT_MS, consumer.connect());
      await withTimeout(CONNECT_MS, consumer.subscribe({ topic, fromBeginning }));
    } catch (error) {
      if (!this.#isGivenUp(consumer)) this.#failure = error instanceof Error ? error : new Error(String(error));
      throw error;
    }
    if (!this.#running || this.#isGivenUp(consumer)) return;
    this.#joiningLooks = 0;
    await consumer.run({
      autoCommit: false,
      eachBatchAutoResolve: false,
      partitionsConsumedConcurrently: this.#options.concurrency ?? 1,
      eachBatch: (payload) => {
        if (!this.#isGivenUp(consumer)) return this.#options.onBatch(payload);
        // kafkajs cannot be stopped while it joins; this ends it permanently, and others get its partitions
        return Promise.reject(new KafkaJSNonRetriableError('This consumer was given up.'));
      },
    });
  }

  #isGivenUp(consumer: Consumer): boolean {
    return this.#left || consumer !== this.#consumer;
  }

  /** Recreates the consumer where kafkajs hangs. */
  #look(): void {
    const why = this.#whatHangs();
    if (why === null) return;
    this.#options.onSilence?.();
    this.#options.log.warn({ topic: this.#options.topic }, why);
    this.renew();
  }

  #whatHangs(): string | null {
    if (this.#silentLooks !== null && ++this.#silentLooks >= SILENT_LOOKS)
      return "The group's coordinator does not answer; another one is looked for.";
    if (this.#joiningLooks !== null && ++this.#joiningLooks >= STUCK_LOOKS)
      return 'The consumer group could not be joined in time; retrying.';
    for (const [broker, looks] of this.#fetchLooks) {
      if (looks + 1 >= STUCK_LOOKS) return `Broker ${String(broker)} does not complete a fetch; joining the consumer group again.`;
      this.#fetchLooks.set(broker, looks + 1);
    }
    return null;
  }

  /** Leaves kafkajs' consumer alone, whatever it is doing, and joins the group with a new one as soon as Kafka can be reached. */
  renew(): void {
    if (!this.#running) return;
    this.#lose();
    // from now on it is watched by `#reopen`, until kafkajs joins
    this.#joiningLooks = null;
    this.#joined = false;
    this.#replace();
    void this.#reopen();
  }

  #replace(): void {
    const before = this.#consumer;
    this.#consumer = this.#create();
    // it waits for the coordinator to take its leave
    before.disconnect().catch((error: unknown) => {
      this.#options.log.debug({ err: error }, 'The previous consumer ended with an error.');
    });
  }

  async #reopen(): Promise<void> {
    const { log, lookEveryMs = LOOK_EVERY_MS } = this.#options;
    for (let mine = this.#consumer; mine === this.#consumer && this.#running; mine = this.#consumer) {
      try {
        await this.#open();
        this.#onOpen();
        return;
      } catch (error) {
        log.warn({ err: error }, 'Kafka is unreachable; retrying.');
        await new Promise((resolve) => setTimeout(resolve, lookEveryMs));
        // one that began meanwhile goes on by itself
        if (mine !== this.#consumer) return;
        this.#replace();
      }
    }
  }

  /** kafkajs throws where it has no group at the moment; it begins with nothing paused when it has joined again. */
  #quietly(step: () => void): void {
    try {
      step();
    } catch (error) {
      this.#options.log.debug({ err: error }, 'The consumer is between two groups.');
    }
  }
}
