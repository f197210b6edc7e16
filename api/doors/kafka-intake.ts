import type { Logger } from 'pino';
import { HttpError, httpErrorOf } from '../../pipeline/core/errors.ts';
import { sampleOf } from '../../pipeline/core/sample.ts';
import { doorDelivery, formatOf, noteRefusal, type DoorContext } from './door-delivery.ts';
import { keyless, principalOf } from './door-keys.ts';
import type { DoorMetrics } from './door-metrics.ts';
import type { KafkaDoor } from './kafka-door-file.ts';
import { bodiesOf, bodyOf, type RecordBody, type SourceRecord } from './record-bodies.ts';
import { waitToRetry } from './retry-wait.ts';

export type KafkaIntakeOptions = DoorContext & { readonly door: KafkaDoor; readonly metrics: DoorMetrics; readonly log: Logger };

/** Bodies of a group that are taken at once. */
const MAX_AT_ONCE = 32;

/** Takes records of a topic as requests of their format's path would be taken, again and again where they are refused for a while. */
export class KafkaIntake {
  readonly #options: KafkaIntakeOptions;
  readonly #format: ReturnType<typeof formatOf>;
  readonly #query: URLSearchParams;
  #waitsFor: string | null = null;

  constructor(options: KafkaIntakeOptions) {
    this.#options = options;
    this.#format = formatOf(options.intakes, options.door.format);
    this.#query = new URLSearchParams(options.door.parameters);
  }

  /** Why nothing is taken though nothing says for how long: a key that is not accepted, a closed gate. Null where it is not so. */
  get waitsFor(): string | null {
    return this.#waitsFor;
  }

  /**
   * Resolves with true once all records are on the log or refused for good, with false where it was given up before. Never rejects.
   * `from`: the topic and the partition.
   */
  async take(records: readonly SourceRecord[], from: string, giveUp: AbortSignal): Promise<boolean> {
    const { intake, normalizer } = this.#format;
    const bodies = bodiesOf(normalizer.name, records, intake.capsOf(normalizer).inflated);
    return this.#takeAll(bodies, from, giveUp);
  }

  async #takeAll(bodies: readonly RecordBody[], from: string, giveUp: AbortSignal): Promise<boolean> {
    const queue = bodies.values();
    let isWhole = true;
    const work = async (): Promise<void> => {
      for (const body of queue) isWhole = (await this.#takeBody(body, from, giveUp)) && isWhole;
    };
    await Promise.all(Array.from({ length: Math.min(MAX_AT_ONCE, bodies.length) }, work));
    return isWhole;
  }

  async #takeBody(body: RecordBody, from: string, giveUp: AbortSignal): Promise<boolean> {
    while (!giveUp.aborted) {
      const error = await this.#tryOnce(body, from);
      if (error === null) return true;
      if (isOfBody(error)) {
        // nothing of it was taken: the others do not pay for the one that cannot be read
        if (body.records.length > 1) return this.#takeAll(body.records.map(bodyOf), from, giveUp);
        this.#refuse(body, error, from);
        return true;
      }
      const { retryAfter } = error.options;
      if (retryAfter === undefined) this.#waitsFor = error.message;
      this.#note(body, error, from);
      await waitToRetry(retryAfter, giveUp);
    }
    return false;
  }

  async #tryOnce({ body, records }: RecordBody, from: string): Promise<HttpError | null> {
    const { keys, door, log } = this.#options;
    const { intake, normalizer } = this.#format;
    const client = `${from}@${records[0]?.offset ?? ''}`;
    try {
      const principal = principalOf(door.key, keys, keyless(door.name));
      const envelope = { principal, path: this.#path, client, contentType: door.contentType, query: this.#query };
      await intake.take(doorDelivery({ ...envelope, body }), normalizer);
      this.#waitsFor = null;
      return null;
    } catch (thrown) {
      const error = httpErrorOf(thrown);
      if (error !== null) return error;
      log.error({ err: thrown, record: client }, 'Records of a door failed unexpectedly.');
      return new HttpError(500, 'internal_error', 'The record could not be read.');
    }
  }

  #refuse(body: RecordBody, error: HttpError, from: string): void {
    const { metrics, door } = this.#options;
    metrics.lost.inc({ door: door.name, reason: error.status === 413 ? 'length' : 'refused' });
    this.#note(body, error, from);
  }

  #note({ body, records }: RecordBody, error: HttpError, from: string): void {
    const { keys, door } = this.#options;
    const client = `${from}@${records[0]?.offset ?? ''}`;
    noteRefusal(this.#options, keys.ownerOf?.(door.key) ?? null, error, {
      ...{ format: door.format, path: this.#path, client, sample: sampleOf(body) },
    });
  }

  get #path(): string {
    return `kafka:${this.#options.door.name}`;
  }
}

/** Whether it is the body's own fault, which no later try would take: all else is waited for, since the topic keeps the records. */
const isOfBody = ({ status }: HttpError): boolean => status === 400 || status === 413 || status === 500;
