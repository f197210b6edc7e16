import type { Alert, AlertRow } from '../../../../pipeline/alerting/book/alert.ts';
import type { AbsoluteRecord } from '../../../../pipeline/bus/producer/absolute-record.ts';
import type { KafkaMessage } from '../../../../pipeline/bus/connection/kafka.ts';
import { encodeTick } from '../../../../pipeline/bus/records/record.ts';
import { SETTING, settingText, type Json } from '../../../../pipeline/core/setting.ts';
import { createCustomDetectors } from '../../../../pipeline/alerting/custom/custom-merger.ts';
import type { DetectorRunner } from '../../../../pipeline/alerting/custom/detector-runner.ts';
import { CUSTOM_DETECTORS } from '../../../../pipeline/alerting/settings/switch.ts';
import { inputOf } from '../../../../pipeline/processors/base/input.ts';
import { partialInputOf, partialsSignal, hostedProcessor, hostedMerger } from '../../../../pipeline/processors/merge/partials.ts';
import type { Fold } from '../../../../pipeline/processors/base/processor.ts';
import type { Position } from '../../../../pipeline/processors/base/position.ts';
import { ruleAlerts } from '../../../../pipeline/alerting/rules/rule-alerts.ts';
import { rules } from '../../../../pipeline/processors/rules/rules.ts';
import { ruleKey } from '../../../../pipeline/processors/rules/rules-fold.ts';
import { TestBook } from '../../../fakes/test-book.ts';
import { logMessage, tickMessage } from '../../processors/inputs.ts';
import { MINUTE_MS, START } from './rule-world.ts';

const SOURCES = 2;
/** Far more than anything takes that comes to an end. */
const MOST_ROUNDS = 5000;

/** Who folds a log, from its last snapshot on where it was killed: what it gave since then it gives again. */
class Host {
  readonly #log: readonly KafkaMessage[];
  readonly #read: (message: KafkaMessage) => Position;
  #hosted: Fold<unknown, never>;
  #state: unknown;
  #next = 0;
  #saved: { readonly bytes: Buffer; readonly next: number };

  constructor(hosted: Fold<never, never>, log: readonly KafkaMessage[], read: (message: KafkaMessage) => Position) {
    this.#hosted = hosted;
    [this.#log, this.#read, this.#state] = [log, read, this.#hosted.init()];
    this.#saved = { bytes: Buffer.from(this.#hosted.snapshot(this.#state)), next: 0 };
  }

  get isBehind(): boolean {
    return this.#hosted.isBehind?.(this.#state) === true;
  }

  get size(): number {
    return this.#hosted.snapshot(this.#state).length;
  }

  /** What it gives of the records that it has not had. */
  *fold(): Generator<AbsoluteRecord> {
    for (; this.#next < this.#log.length; this.#next++)
      yield* this.#hosted.fold(this.#state, this.#read(this.#log[this.#next] as KafkaMessage) as never);
  }

  news(): readonly AbsoluteRecord[] {
    return this.#hosted.news?.(this.#state, 0, this.#next) ?? [];
  }

  save(): void {
    this.#saved = { bytes: Buffer.from(this.#hosted.snapshot(this.#state)), next: this.#next };
  }

  kill(hosted: Fold<never, never> = this.#hosted as Fold<never, never>): void {
    this.#hosted = hosted;
    const state = this.#hosted.restore(this.#saved.bytes);
    if (state === null) throw new Error('The snapshot cannot be read.');
    [this.#state, this.#next] = [state, this.#saved.next];
  }
}

/** Entries that come in a minute of a partition of the log. */
export type Came = { readonly entries: readonly object[]; readonly partition?: number };

const hostedCustom = (runner: DetectorRunner): Fold<never, never> => hostedMerger(createCustomDetectors(runner)) as Fold<never, never>;

/** Rules by the way of the service: two partitions of the log, one of `partials.v1`, and those who fold it: alerts of rules, and detectors of one's own. */
export class DetectorWorld {
  readonly log: KafkaMessage[] = [];
  readonly #sources: KafkaMessage[][] = Array.from({ length: SOURCES }, () => []);
  readonly #evaluating: Host[];
  readonly #alerting: Host;
  #custom: Host | null;
  readonly #book = new TestBook();
  readonly rows: AlertRow[] = [];
  minute = 0;

  constructor(runner: DetectorRunner) {
    const first = hostedProcessor(rules) as Fold<never, never>;
    this.#evaluating = this.#sources.map((log, partition) => new Host(first, log, (message) => inputOf(partition, message)));
    this.#alerting = new Host(hostedMerger(ruleAlerts) as Fold<never, never>, this.log, (message) => partialInputOf(0, message));
    this.#custom = new Host(hostedCustom(runner), this.log, (message) => partialInputOf(0, message));
  }

  /** The last word on each alert, in the order in which they fired. */
  get alerts(): AlertRow[] {
    return [...new Map(this.rows.map((row) => [row.id, row])).values()];
  }

  /** All that was told, each once. */
  get told(): string[] {
    return [...new Set(this.rows.map((row) => JSON.stringify(row)))];
  }

  get sizes(): readonly number[] {
    return [this.#alerting.size, this.#custom?.size ?? 0];
  }

  set(value: Json, { slot = 1, version = 1, tenantId = 1 } = {}): void {
    const setting = { processor: rules.name, tenantId, key: ruleKey(slot), value, version };
    for (const log of this.#sources) log.push(tickMessage(log.length, this.#now, setting));
  }

  /** Says something of a detector of one's own: that it is off, or (null) on. */
  switch(key: string, value: Json, version: number): void {
    const setting = { processor: CUSTOM_DETECTORS, tenantId: 0, key, value, version };
    this.append(encodeTick(partialsSignal, { [SETTING]: settingText(setting) }));
  }

  resolve(row: AlertRow, note: string): void {
    const alert: Alert = { ...row, resolvedAt: null, incidentId: row.incidentId === 0 ? null : row.incidentId };
    this.rows.push(...this.#book.resolve(alert, note, this.#now));
  }

  append({ value, headers }: Pick<AbsoluteRecord, 'value' | 'headers'>): void {
    this.log.push({ value, headers, offset: String(this.log.length), timestamp: String(this.#now) } as KafkaMessage);
  }

  /** Minutes in which this came; what is found of each is told before the next one comes. */
  async run(minutes: number, came: (minute: number) => readonly Came[], tenantId = 1): Promise<void> {
    for (const end = this.minute + minutes; this.minute < end; this.minute++) {
      for (const { entries, partition = 0 } of came(this.minute)) this.#send(partition, entries, tenantId);
      for (const log of this.#sources) log.push(tickMessage(log.length, this.#now + 30_000));
      this.append(encodeTick(partialsSignal));
      await this.settle();
    }
  }

  /** Until nobody has anything to say any more. */
  async settle(): Promise<void> {
    for (let calm = 0, round = 0; calm < 2; round++) {
      if (round === MOST_ROUNDS) throw new Error('It does not come to an end.');
      const before = this.log.length;
      for (const host of this.#evaluating) for (const record of host.fold()) this.append(record);
      for (const record of this.#alerting.fold()) this.#take(record);
      for (const record of [...(this.#custom?.fold() ?? []), ...(this.#custom?.news() ?? [])]) this.append(record);
      for (let turn = 0; turn < 20; turn++) await Promise.resolve();
      calm = this.log.length === before && this.#custom?.isBehind !== true ? calm + 1 : 0;
    }
  }

  /** Who evaluates (0 and 1), tells alerts (2), or asks detectors (3) takes a snapshot. */
  save(which: number): void {
    this.#hosts[which]?.save();
  }

  /** It is killed, and begins again from its last snapshot. */
  kill(which: number): void {
    this.#hosts[which]?.kill();
  }

  /** Who asks detectors goes on with others; with none at all nobody does. */
  detectors(runner: DetectorRunner | null): void {
    if (runner === null) this.#custom = null;
    else this.#custom?.kill(hostedCustom(runner));
  }

  /** What is told by whoever folds the same commands from their beginning. */
  replayed(): string[] {
    const book = new TestBook();
    const rows = this.#book.messages.flatMap(({ value, headers, timestamp }) =>
      book.take([{ topic: 'alert-commands.v1', value, headers } as never], Number(timestamp)),
    );
    return [...new Set(rows.map((row) => JSON.stringify(row)))];
  }

  /** The commands that were reported, each once; and those of whoever folds the same log from its beginning, without any detector. */
  reported(): { readonly reported: readonly string[]; readonly replayed: readonly string[] } {
    const host = new Host(hostedMerger(ruleAlerts) as Fold<never, never>, this.log, (message) => partialInputOf(0, message));
    const own = [...host.fold()].filter(({ topic }) => topic === 'alert-commands.v1');
    const textsOf = (records: readonly Pick<KafkaMessage, 'value' | 'headers'>[]): string[] => [
      ...new Set(
        records.flatMap(({ value, headers }) => {
          const [reporter, source] = [headers?.['reporter']?.toString(), headers?.['source']?.toString()];
          return reporter === 'user' ? [] : [`${String(source)} ${String(value)}`];
        }),
      ),
    ];
    return { reported: textsOf(this.#book.messages).sort(), replayed: textsOf(own).sort() };
  }

  get #hosts(): Host[] {
    return [...this.#evaluating, this.#alerting, ...(this.#custom === null ? [] : [this.#custom])];
  }

  get #now(): number {
    return START + this.minute * MINUTE_MS + 20_000;
  }

  #send(partition: number, entries: readonly object[], tenantId: number): void {
    const log = this.#sources[partition] as KafkaMessage[];
    const rows = entries.map((entry) => ({ _time: new Date(this.#now - 1000).toISOString(), _msg: 'x', ...entry }));
    log.push(logMessage(rows, { offset: log.length, appendedAt: this.#now, tenantId, retentionDays: 14, streamFields: ['service'] }));
  }

  #take(record: AbsoluteRecord): void {
    if (record.topic === partialsSignal.topic.name) this.append(record);
    else this.rows.push(...this.#book.take([record], this.#now));
  }
}
