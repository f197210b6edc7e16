import { randomUUID } from 'node:crypto';
import type { Logger } from 'pino';
import type { SentRecord } from '../../pipeline/bus/producer/sent-record.ts';
import { encodeNode, nodeKey, type NodeUsage } from '../../pipeline/bus/state/usage-records.ts';
import { readAndFollow, type CompactedLog, type CompactedRecord } from '../../pipeline/core/compacted-log.ts';
import { repeat } from '../../pipeline/core/repeat.ts';
import type { Service } from '../../pipeline/core/service.ts';
import type { SharedCalls } from './shared-calls.ts';
import type { SharedCounts } from './shared-counts.ts';
import { Tallies } from './tallies.ts';
import { UsageView } from './usage-view.ts';

export type UsageCountsOptions = {
  /** The topic `usage.v1`. */
  readonly log: CompactedLog;
  readonly logger: Logger;
  /** Monotonic milliseconds. */
  readonly now?: () => number;
  /** Milliseconds between two words to the other nodes, and before the topic is tried again. */
  readonly everyMs?: number;
};

/** A stop waits no longer than this for its last publication to the others, who get the same from the log. Milliseconds. */
const LAST_PUBLISH_MS = 2000;
/** Tallies are published with every so many words to the others. */
const TALLIED_EVERY = 6;

/** What was charged, by topic and tenant, and the calls. */
type Charges = Pick<NodeUsage, 'charged' | 'calls'>;
const NOTHING: Charges = { charged: new Map(), calls: new Map() };

/** What all API nodes have counted together, over the topic `usage.v1` (docs/adr/0006-usage.md). */
export class UsageCounts implements Service {
  readonly name = 'usage counts';
  readonly #options: Required<UsageCountsOptions>;
  readonly #id = randomUUID();
  readonly #view: UsageView;
  /** Whose the volume is, and what was refused. */
  readonly tallies = new Tallies(this.#id);
  #turns = 0;
  readonly #stop = new AbortController();
  #ready = false;
  #following: Promise<unknown> | null = null;
  #notification: Promise<void> | null = null;
  /** What was charged and not published yet, by topic and tenant; negative where more was given back. */
  readonly #charged = new Map<string, Map<number, number>>();
  /** The set of charges that is being published; after a failure the same one is published again. */
  #unpublished: Charges | null = null;
  #seq = 0;
  /** Something was acknowledged that is not published to the others yet. */
  #news = false;

  constructor(options: UsageCountsOptions) {
    this.#options = { now: () => performance.now(), everyMs: 500, ...options };
    this.#view = new UsageView(this.#id, this.#options.now);
  }

  /** True once the topic was read to its end. */
  get ready(): boolean {
    return this.#ready;
  }

  /** Resolves after the first attempt to read the topic; where Kafka could not be reached, attempts go on behind. */
  start(): Promise<void> {
    const { everyMs } = this.#options;
    this.#notification = repeat(everyMs, this.#stop.signal, () => this.#publish());
    return new Promise((tried) => {
      this.#following = this.#follow(tried).then(tried);
    });
  }

  async stop(): Promise<void> {
    this.#stop.abort();
    const last = (this.#notification ?? Promise.resolve()).then(() => this.#publishTallies());
    await Promise.race([last, new Promise((resolve) => setTimeout(resolve, LAST_PUBLISH_MS).unref())]);
    await this.#options.log.stop();
    await this.#following;
  }

  /** Notes records that this node has had acknowledged on a topic. */
  sent(topic: string, records: readonly SentRecord[]): void {
    if (this.#view.sent(topic, records)) this.#news = true;
  }

  /** What the limits of the signal on this topic see: the volume of all signals, and what was charged for this one. */
  of(topic: string): SharedCounts {
    const usage = this.#view.of(topic);
    const rate = this.#view.rateOf(topic);
    const charged = this.#charged.get(topic) ?? new Map<number, number>();
    this.#charged.set(topic, charged);
    return {
      bytesOf: (tenantId, day) => this.#view.bytesOf(tenantId, day),
      othersCharged: (tenantId) => usage.othersCharged(tenantId),
      othersTotal: () => usage.othersTotal,
      charged: (tenantId, count) => {
        rate.add(tenantId, count, this.#options.now());
        charged.set(tenantId, (charged.get(tenantId) ?? 0) + count);
      },
      logFull: () => this.#view.logFull(topic, this.#options.now()),
    };
  }

  /** What the limits of calls see that have a rate a minute. */
  get calls(): SharedCalls {
    return this.#view.calls;
  }

  /** What a tenant was charged a second on a topic, over the last ten seconds, by all nodes. */
  rateOf(tenantId: number, topic: string): number {
    return this.#view.rateOf(topic).perSecond(tenantId, this.#options.now());
  }

  /** The bytes of a tenant on a day, of one topic or, without one, of all. */
  bytesOf(tenantId: number, day: number, topic?: string): number {
    return (topic === undefined ? this.#view : this.#view.of(topic)).bytesOf(tenantId, day);
  }

  /** The part of `bytesOf` that the usage processor has not read yet. */
  pendingBytesOf(tenantId: number, day: number): number {
    return this.#view.pendingBytesOf(tenantId, day);
  }

  async #follow(tried: () => void): Promise<void> {
    const { log, logger, now, everyMs } = this.#options;
    const onFailure = (error: unknown, retryMs: number): void => {
      logger.warn({ err: error, retryMs }, 'The usage topic cannot be read yet.');
      tried();
    };
    const onRecord = (record: CompactedRecord): void => {
      if (!this.tallies.fold(record)) this.#view.fold(record, this.#ready, now());
    };
    this.#ready = await readAndFollow(log, onRecord, { signal: this.#stop.signal, retryMs: everyMs, onFailure });
  }

  /** Publishes what is new to the others. */
  async #publish(): Promise<void> {
    const { log, logger, now } = this.#options;
    this.#view.forget(now());
    this.#turns += 1;
    if (this.#turns % TALLIED_EVERY === 0) await this.#publishTallies();
    this.#unpublished ??= this.#takeCharged();
    if (this.#unpublished === null && !this.#news) return;
    this.#news = false;
    const usage = { seq: this.#seq, ...(this.#unpublished ?? NOTHING), unreflected: this.#view.unsettled() };
    try {
      await log.append(nodeKey(this.#id), encodeNode(usage));
      this.#unpublished = null;
    } catch (error) {
      this.#news = true;
      logger.warn({ err: error }, 'Publishing the usage of this node failed; retrying.');
    }
  }

  async #publishTallies(): Promise<void> {
    const news = this.tallies.takeNews();
    if (news.length === 0) return;
    try {
      await this.#options.log.appendAll(news);
    } catch (error) {
      this.tallies.returned(news);
      this.#options.logger.warn({ err: error }, 'Publishing what keys have sent failed; retrying.');
    }
  }

  /** A new set of charges, if there is one. What was given back waits until as much was charged, so that no count falls. */
  #takeCharged(): Charges | null {
    const set = new Map<string, ReadonlyMap<number, number>>();
    for (const [topic, all] of this.#charged) {
      const charged = new Map([...all].filter(([, count]) => count > 0));
      for (const [tenantId, count] of all) if (count >= 0) all.delete(tenantId);
      if (charged.size > 0) set.set(topic, charged);
    }
    const calls = this.#view.calls.take();
    if (set.size === 0 && calls.size === 0) return null;
    this.#seq += 1;
    return { charged: set, calls };
  }
}
