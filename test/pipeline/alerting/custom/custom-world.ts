import type { Alert, AlertRow } from '../../../../pipeline/alerting/book/alert.ts';
import type { AbsoluteRecord } from '../../../../pipeline/bus/producer/absolute-record.ts';
import type { KafkaMessage } from '../../../../pipeline/bus/connection/kafka.ts';
import { encodeTick } from '../../../../pipeline/bus/records/record.ts';
import { SETTING, settingText, type Json } from '../../../../pipeline/core/setting.ts';
import { alerting } from '../../../../pipeline/alerting/streams/alerting.ts';
import { createCustomDetectors } from '../../../../pipeline/alerting/custom/custom-merger.ts';
import type { DetectorRunner } from '../../../../pipeline/alerting/custom/detector-runner.ts';
import { partialInputOf, partialRecord, partialsSignal, hostedMerger } from '../../../../pipeline/processors/merge/partials.ts';
import { encodeRates, type StreamCounts } from '../../../../pipeline/processors/rates/rates.ts';
import { TestBook } from '../../../fakes/test-book.ts';

const MINUTE_MS = 60_000;
/** 2026-11-24 00:00 UTC, in minutes and in milliseconds. */
export const START = 29_924_640;
export const START_MS = START * MINUTE_MS;

export const streamOf = (service: string): string => `{service="${service}"}`;
const idOf = (service: string): string => service.padEnd(8, '.').slice(0, 8);
/** Far more than anything takes that comes to an end. */
const MOST_ROUNDS = 5000;
const INFO = 2;
const ERROR = 5;

/** What came of a service in a minute, by the minute's own time; the minute itself without one. */
export type Came = { readonly service: string; readonly entries: number; readonly errors?: number; readonly minute?: number };

/** A partition of `partials.v1`: what `rates` says lies on it, and what detectors of one's own have found, which `alerting` takes. */
export class CustomWorld {
  readonly log: KafkaMessage[] = [];
  readonly rows: AlertRow[] = [];
  readonly #book = new TestBook();
  readonly #hosted;
  readonly #alerting = hostedMerger(alerting);
  #custom: never;
  #watched = this.#alerting.init();
  #taken = 0;
  #saved: { readonly bytes: Buffer; readonly taken: number };
  minute = 0;
  #sources = 0;

  constructor(runner: DetectorRunner) {
    this.#hosted = hostedMerger(createCustomDetectors(runner));
    this.#custom = this.#hosted.init() as never;
    this.#saved = { bytes: Buffer.from(this.#hosted.snapshot(this.#custom)), taken: 0 };
  }

  /** The last word on each alert, in the order in which they fired. */
  get alerts(): AlertRow[] {
    return [...new Map(this.rows.map((row) => [row.id, row])).values()];
  }

  get isBehind(): boolean {
    return this.#hosted.isBehind?.(this.#custom) === true;
  }

  /** Minutes in which this came; what is found of each is on the log before the next one comes. */
  async run(minutes: number, came: (minute: number) => readonly Came[], tenantId = 1): Promise<void> {
    for (const end = this.minute + minutes; this.minute < end; this.minute++) {
      this.counted(came(this.minute), tenantId);
      await this.settle();
    }
  }

  /** A partial of this minute. */
  counted(came: readonly Came[], tenantId = 1): void {
    const appendedAt = START_MS + this.minute * MINUTE_MS + 59_000;
    const source = { partition: 0, offset: this.#sources++, number: 0, appendedAt };
    const value = encodeRates(came.map((one) => countsOf(one, this.minute)));
    this.#append(partialRecord('rates', source, { kind: 'partial', tenantId, retentionDays: 7, value }), appendedAt);
  }

  /** Until nothing is asked or told any more. */
  async settle(): Promise<void> {
    for (let calm = 0, round = 0; calm < 2; round++) {
      if (round === MOST_ROUNDS) throw new Error('It does not come to an end.');
      const told = this.#hosted.news?.(this.#custom, 0, this.#taken) ?? [];
      for (const record of told) this.#append(record, START_MS + this.minute * MINUTE_MS + 59_500);
      for (let turn = 0; turn < 20; turn++) await Promise.resolve();
      calm = told.length === 0 && !this.isBehind ? calm + 1 : 0;
    }
  }

  resolve(alert: Alert, note: string): void {
    this.rows.push(...this.#book.resolve(alert, note, START_MS + this.minute * MINUTE_MS));
  }

  set(processor: string, key: string, value: Json, version = 1): void {
    const setting = { processor, tenantId: 0, key, value, version };
    this.#append({ topic: 'partials.v1', partition: 0, key: null, ...encodeTick(partialsSignal, { [SETTING]: settingText(setting) }) }, START_MS + this.minute * MINUTE_MS); // prettier-ignore
  }

  /** Takes a snapshot, from which the detectors go on after `kill`. */
  save(): void {
    this.#saved = { bytes: Buffer.from(this.#hosted.snapshot(this.#custom)), taken: this.#taken };
  }

  /** The process of the detectors was killed: another one goes on from the last snapshot, maybe with other detectors. */
  kill(runner: DetectorRunner): void {
    const hosted = hostedMerger(createCustomDetectors(runner));
    const restored = hosted.restore(this.#saved.bytes);
    if (restored === null) throw new Error('The snapshot cannot be read.');
    this.#custom = restored as never;
    for (const message of this.log.slice(this.#saved.taken)) hosted.fold(this.#custom, partialInputOf(0, message));
  }

  /** What is told by whoever folds the same log from its beginning. */
  replayed(): AlertRow[] {
    const state = this.#alerting.init();
    const book = new TestBook();
    return this.log.flatMap((message) => book.take(this.#alerting.fold(state, partialInputOf(0, message)), Number(message.timestamp)));
  }

  #append({ value, headers }: AbsoluteRecord, at: number): void {
    const message = { value, headers, offset: String(this.log.length), timestamp: String(at) } as KafkaMessage;
    this.log.push(message);
    this.rows.push(...this.#book.take(this.#alerting.fold(this.#watched, partialInputOf(0, message)), at));
    this.#hosted.fold(this.#custom, partialInputOf(0, message));
    this.#taken = this.log.length;
  }
}

function countsOf({ service, entries, errors = 0, minute }: Came, now: number): StreamCounts {
  const bySeverity = new Array<number>(7).fill(0);
  [bySeverity[INFO], bySeverity[ERROR]] = [entries - errors, errors];
  return { id: idOf(service), stream: streamOf(service), minutes: [{ minute: START + (minute ?? now), bySeverity }] };
}
