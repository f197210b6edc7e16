import type { Consumer, ConsumerConfig, EachBatchPayload, Kafka } from 'kafkajs';
import { kafkajs } from './kafkajs.ts';
import type { Logger } from 'pino';
import { withTimeout } from './with-timeout.ts';

export type GroupMemberOptions = {
  readonly kafka: Kafka;
  readonly log: Logger;
  readonly groupId: string;
  readonly topic: string;
  /** How much is asked for at once. */
  readonly fetch: Pick<ConsumerConfig, 'minBytes' | 'maxWaitTimeInMs' | 'maxBytesPerPartition' | 'maxBytes'>;
  /** How many partitions `onBatch` may be called for at the same time; 1 where nothing is said. */
  readonly concurrency?: number;
  /** Called with the partitions that belong to this process from now on. */
  readonly onAssigned?: (partitions: readonly number[]) => void;
  /** Called when they may belong to somebody else. */
  readonly onLost?: () => void;
  /** Takes the records of one partition; it must resolve the offsets that are done with. */
  readonly onBatch: (payload: EachBatchPayload) => Promise<void>;
  /** Called when kafkajs does not go on by itself; where nobody is to be told, it is begun anew. */
  readonly onCrash?: (error: Error) => void;
  /** Called when the coordinator is given up. */
  readonly onSilence?: () => void;
  /** How often it is looked whether the coordinator answers; it is given up after ten looks. Milliseconds. */
  readonly lookEveryMs?: number;
};

const { KafkaJSNonRetriableError } = kafkajs;

const SESSION_MS = 6000;
const LOOK_EVERY_MS = 1000;
/** Time for a dozen tries of kafkajs to find a broker that answers. Milliseconds. */
const CONNECT_MS = 60_000;
/** So many looks without an answer are longer than the session: the coordinator has forgotten this member, or is not there. */
const SILENT_LOOKS = 10;

/**
 * This process as a member of a consumer group. kafkajs goes on asking the coordinator that it knows, for minutes where that stands still or
 * is cut off, though the others have long had a new one: where no heartbeat is answered any more, it is begun anew, and looks for it.
 */
export class GroupMember {
  readonly #options: GroupMemberOptions;
  #consumer: Consumer;
  #joined = false;
  #running = false;
  #left = false;
  /** How often it was looked in vain for an answered heartbeat; null: none is due. */
  #silentLooks: number | null = null;
  #timer: NodeJS.Timeout | undefined;

  constructor(options: GroupMemberOptions) {
    this.#options = options;
    this.#consumer = this.#create();
  }

  /** True while this process is a member of its group. */
  get joined(): boolean {
    return this.#joined;
  }

  async start(): Promise<void> {
    this.#running = true;
    this.#timer = setInterval(() => {
      this.#look();
    }, this.#options.lookEveryMs ?? LOOK_EVERY_MS).unref();
    await this.#open();
  }

  /** No new partitions are taken up from now on; what was asked for may still come. */
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

  /** Asks for an offset by name. Within `onBatch`. */
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
        // one that was given up may crash later, and would come back beside its successor
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
      this.#silentLooks = 0;
      onAssigned?.(payload.memberAssignment[topic] ?? []);
    });
    consumer.on(events.HEARTBEAT, () => {
      if (!this.#isGivenUp(consumer) && this.#silentLooks !== null) this.#silentLooks = 0;
    });
    consumer.on(events.REBALANCING, () => {
      if (!this.#isGivenUp(consumer)) this.#lose();
    });
    consumer.on(events.CRASH, ({ payload }) => {
      if (this.#isGivenUp(consumer)) return;
      this.#lose();
      this.#joined = false;
      log.error({ err: payload.error, restart: payload.restart }, `The reader of ${topic} crashed.`);
      if (payload.restart || !this.#running) return;
      if (onCrash === undefined) this.renew();
      else onCrash(payload.error);
    });
  }

  /** The partitions may belong to somebody else, and no heartbeat is due until the group has been joined again. */
  #lose(): void {
    this.#silentLooks = null;
    this.#options.onLost?.();
  }

  async #open(): Promise<void> {
    const consumer = this.#consumer;
    await withTimeout(CONNECT_MS, consumer.connect());
    await withTimeout(CONNECT_MS, consumer.subscribe({ topic: this.#options.topic, fromBeginning: true }));
    if (!this.#running) return;
    await consumer.run({
      autoCommit: false,
      eachBatchAutoResolve: false,
      partitionsConsumedConcurrently: this.#options.concurrency ?? 1,
      eachBatch: (payload) => {
        if (!this.#isGivenUp(consumer)) return this.#options.onBatch(payload);
        // kafkajs cannot be stopped while it joins; this ends it for good, and others get its partitions
        return Promise.reject(new KafkaJSNonRetriableError('This consumer was given up.'));
      },
    });
  }

  #isGivenUp(consumer: Consumer): boolean {
    return this.#left || consumer !== this.#consumer;
  }

  /** Begins anew where the coordinator has been silent for too long. */
  #look(): void {
    if (this.#silentLooks === null || ++this.#silentLooks < SILENT_LOOKS) return;
    this.#options.onSilence?.();
    this.#options.log.warn("The group's coordinator does not answer; another one is looked for.");
    this.renew();
  }

  /** Leaves kafkajs' consumer alone, whatever it is doing, and joins the group with a new one as soon as Kafka can be reached. */
  renew(): void {
    if (!this.#running) return;
    this.#lose();
    this.#joined = false;
    this.#replace();
    void this.#reopen();
  }

  #replace(): void {
    const before = this.#consumer;
    this.#consumer = this.#create();
    // it waits for the coordinator to take its leave
    before.disconnect().catch((error: unknown) => {
      this.#options.log.debug({ err: error }, 'The consumer before ended with an error.');
    });
  }

  async #reopen(): Promise<void> {
    const { log, lookEveryMs = LOOK_EVERY_MS } = this.#options;
    for (let mine = this.#consumer; mine === this.#consumer && this.#running; mine = this.#consumer) {
      try {
        await this.#open();
        return;
      } catch (error) {
        log.warn({ err: error }, 'Kafka cannot be reached; it is tried again.');
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
