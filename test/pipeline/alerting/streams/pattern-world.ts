import type { Alert, AlertRow } from '../../../../pipeline/alerting/book/alert.ts';
import type { AbsoluteRecord } from '../../../../pipeline/bus/producer/absolute-record.ts';
import type { KafkaMessage } from '../../../../pipeline/bus/connection/kafka.ts';
import { encodeTick } from '../../../../pipeline/bus/records/record.ts';
import { SETTING, settingText, type Json } from '../../../../pipeline/core/setting.ts';
import { alerting } from '../../../../pipeline/alerting/streams/alerting.ts';
import { inputOf } from '../../../../pipeline/processors/base/input.ts';
import { partialInputOf, partialsSignal, hostedProcessor, hostedMerger } from '../../../../pipeline/processors/merge/partials.ts';
import { clusters } from '../../../../pipeline/processors/patterns/clusters.ts';
import { createPatterns } from '../../../../pipeline/processors/patterns/patterns.ts';
import type { Processor } from '../../../../pipeline/processors/base/processor.ts';
import { rates } from '../../../../pipeline/processors/rates/rates.ts';
import { resolutionRecord } from '../../../../pipeline/alerting/book/command.ts';
import { TestBook } from '../../../fakes/test-book.ts';
import { HostedFold } from '../../../fakes/hosted-fold.ts';
import type { Random } from '../../../fuzz/random.ts';
import { logMessage, tickMessage } from '../../processors/inputs.ts';

const MINUTE_MS = 60_000;
/** 2026-11-24 00:00 UTC. */
const START = 1_795_478_400_000;
const PARTITIONS = [0, 1];
const COUNTING: readonly Processor[] = [rates, createPatterns()];

/** So many entries of a minute with this message, in a stream of a partition of the log. */
export type Came = { readonly _msg: string; readonly count: number; readonly level?: string; readonly service?: string; readonly host?: string; readonly partition?: number }; // prettier-ignore
export type Saved = { readonly counting: readonly Buffer[]; readonly merging: readonly Buffer[] };

/** What is told of entries by the way of the service: `rates` and `patterns` read partitions of the log, `alerting` and `clusters` one of `partials.v1`. */
export class PatternWorld {
  readonly #counting: readonly HostedFold[];
  readonly #merging: readonly HostedFold[];
  readonly #offsets: number[];
  #offset: number;
  minute: number;
  readonly rows: AlertRow[] = [];
  readonly #book = new TestBook();

  constructor(saved: Saved | null = null, minute = 0) {
    this.#counting = PARTITIONS.flatMap(
      (partition) =>
      COUNTING.map((processor, index) => new HostedFold(hostedProcessor(processor) as never, (message) => inputOf(partition, message), saved?.counting[partition * COUNTING.length + index] ?? null)), // prettier-ignore
    );
    this.#merging = [alerting, clusters].map(
      (merger, index) => new HostedFold(hostedMerger(merger as never) as never, (message) => partialInputOf(0, message), saved?.merging[index] ?? null), // prettier-ignore
    );
    this.minute = minute;
    this.#offsets = PARTITIONS.map(() => 2 * minute);
    this.#offset = 1_000_000 * minute;
  }

  /** Minutes in which this came; `after` may kill. */
  run(minutes: number, came: (minute: number) => readonly Came[], after: (world: PatternWorld) => void = () => undefined): void {
    for (const end = this.minute + minutes; this.minute < end; this.minute++) {
      const at = START + this.minute * MINUTE_MS;
      for (const partition of PARTITIONS) {
        const _time = new Date(at + 20_000).toISOString();
        const entries = came(this.minute).flatMap(
          ({ _msg, count, level = 'error', service = 'checkout', host = 'a', partition: own = 0 }) =>
          own === partition ? Array.from({ length: count }, (_none, index) => ({ _time, _msg: `${_msg} ${String(index)}`, level, service, host })) : [], // prettier-ignore
        );
        const offset = this.#offsets[partition] as number;
        this.#offsets[partition] = offset + 2;
        this.#input(partition, entries.length === 0 ? tickMessage(offset, at + 30_000) : logMessage(entries, { offset, appendedAt: at + 30_000, streamFields: ['service', 'host'] })); // prettier-ignore
        this.#input(partition, tickMessage(offset + 1, at + 45_000));
      }
      after(this);
    }
  }

  set(value: Json, version = 1): void {
    const setting = { processor: 'alerting', tenantId: 0, key: 'sensitivity', value, version };
    this.#append(encodeTick(partialsSignal, { [SETTING]: settingText(setting) }), START + this.minute * MINUTE_MS);
  }

  resolve(alert: Alert, note: string): void {
    const at = START + this.minute * MINUTE_MS;
    this.#tell(resolutionRecord({ alert, note }), at);
  }

  saved(): Saved {
    return { counting: this.#counting.map((one) => one.snapshot()), merging: this.#merging.map((one) => one.snapshot()) };
  }

  /** One of its processes is killed, and some have told a snapshot. */
  disturb(random: Random): void {
    for (const one of [...this.#counting, ...this.#merging]) if (random.below(6) === 0) one.save();
    const at = START + this.minute * MINUTE_MS;
    const counting = random.pick(this.#counting);
    for (const record of counting.kill()) this.#written(record, at);
    for (const record of random.pick(this.#merging).kill()) this.#tell(record, at);
  }

  /** The last word on each alert, in the order in which they fired. */
  get alerts(): AlertRow[] {
    return [...new Map(this.rows.map((row) => [row.id, row])).values()];
  }

  #input(partition: number, message: KafkaMessage): void {
    for (const one of this.#counting.slice(partition * COUNTING.length, (partition + 1) * COUNTING.length))
      for (const record of one.take(message)) this.#written(record, Number(message.timestamp));
  }

  #written(record: AbsoluteRecord, at: number): void {
    if (record.topic === 'partials.v1') this.#append(record, at);
  }

  #append({ value, headers }: Pick<AbsoluteRecord, 'value' | 'headers'>, at: number): void {
    const message = { value, headers, offset: String(this.#offset++), timestamp: String(at) } as unknown as KafkaMessage;
    for (const one of this.#merging) for (const record of one.take(message)) this.#tell(record, at);
  }

  #tell(record: AbsoluteRecord, at: number): void {
    this.rows.push(...this.#book.take([record], at));
    this.#written(record, at);
  }
}
