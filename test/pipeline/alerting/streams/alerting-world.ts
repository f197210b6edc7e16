import { expect } from 'chai';
import type { Alert, AlertRow } from '../../../../pipeline/alerting/book/alert.ts';
import type { AbsoluteRecord } from '../../../../pipeline/bus/producer/absolute-record.ts';
import type { KafkaMessage } from '../../../../pipeline/bus/connection/kafka.ts';
import { encodeTick } from '../../../../pipeline/bus/records/record.ts';
import { SETTING, settingText, type Json } from '../../../../pipeline/core/setting.ts';
import { alerting } from '../../../../pipeline/alerting/streams/alerting.ts';
import { inputOf } from '../../../../pipeline/processors/base/input.ts';
import { partialInputOf, partialsSignal, hostedProcessor, hostedMerger } from '../../../../pipeline/processors/merge/partials.ts';
import type { Fold } from '../../../../pipeline/processors/base/processor.ts';
import { slicesOf } from '../../../../pipeline/processors/base/slices.ts';
import { rates } from '../../../../pipeline/processors/rates/rates.ts';
import { TestBook } from '../../../fakes/test-book.ts';
import { logMessage, tickMessage } from '../../processors/inputs.ts';

const MINUTE_MS = 60_000;
/** 2026-11-24 00:00 UTC. */
export const START = 1_795_478_400_000;
/** When something happens: after four hours, which is more than a stream is learned for. */
export const THEN = 240;
const SOURCES = 2;

/** Entries of a service in a minute, so many of them errors, in a partition of the log. */
export type Came = { readonly service: string; readonly host?: string; readonly entries: number; readonly errors?: number; readonly partition?: number; readonly tenantId?: number }; // prettier-ignore

/** A state as it is after it was written down. */
function restored<State>({ snapshot, restore }: Pick<Fold<State, never>, 'snapshot' | 'restore'>, state: State): State {
  const found = restore(Buffer.from(snapshot(state)));
  if (found === null) throw new Error('The snapshot cannot be read.');
  return found;
}

/** What is told, by the way of the service: `rates` reads partitions of the log, `alerting` reads one of `partials.v1`. */
export class AlertingWorld {
  readonly #first = hostedProcessor(rates);
  readonly #counted = Array.from({ length: SOURCES }, () => this.#first.init());
  readonly #offsets = [0, 0];
  readonly #second = hostedMerger(alerting);
  #watched = this.#second.init();
  #book = new TestBook();
  #offset = 0;
  #held: { readonly partition: number; readonly messages: KafkaMessage[] } | null = null;
  minute = 0;
  readonly rows: AlertRow[] = [];
  /** The alerts that each input has told. */
  readonly told: AlertRow[][] = [];

  /** Minutes in which this came: half of it in the middle of each, and the rest at its end. */
  run(minutes: number, came: (minute: number) => readonly Came[]): void {
    for (const end = this.minute + minutes; this.minute < end; this.minute++)
      for (const part of [0, 1]) {
        const at = START + this.minute * MINUTE_MS + 29_000 + part * 30_000;
        for (const one of came(this.minute)) this.#log(at, part, one);
        for (let source = 0; source < SOURCES; source++) this.#input(source, tickMessage(this.#next(source), at + 500));
      }
  }

  /** The same where a partition of the log is not read meanwhile, and is at the end. */
  hold(partition: number, minutes: number, came: (minute: number) => readonly Came[]): void {
    const messages: KafkaMessage[] = [];
    this.#held = { partition, messages };
    this.run(minutes, came);
    this.#held = null;
    for (const message of messages) this.#input(partition, message);
  }

  resolve(alert: Alert, note: string): void {
    this.rows.push(...this.#book.resolve(alert, note, START + this.minute * MINUTE_MS));
  }

  /** A record on `partials.v1`. */
  append(record: Pick<AbsoluteRecord, 'value' | 'headers'>): void {
    this.#take(record, START + this.minute * MINUTE_MS);
  }

  /** Says something to the merger. */
  set(value: Json, { tenantId = 0, version = 1 }: { tenantId?: number; version?: number } = {}): void {
    const setting = { processor: 'alerting', tenantId, key: 'sensitivity', value, version };
    const message = tickMessage(this.#offset++, START + this.minute * MINUTE_MS, setting);
    const tick = encodeTick(partialsSignal, { [SETTING]: settingText(setting) });
    this.#second.fold(this.#watched, partialInputOf(0, { ...message, ...tick } as KafkaMessage));
  }

  /** Begins again from a snapshot. */
  restart(): void {
    this.#watched = restored(this.#second, this.#watched);
    this.#book.restart();
  }

  /** Goes on with what a release before wrote down, and a book that knows nothing. */
  upgrade(snapshot: Buffer): void {
    this.#watched = restored({ snapshot: () => snapshot, restore: (bytes) => this.#second.restore(bytes) }, this.#watched);
    this.#book = new TestBook();
  }

  /** The snapshot, at once; and in slices, with their number. */
  snapshot(): Buffer {
    return this.#second.snapshot(this.#watched);
  }

  sliced(): { readonly slices: number; readonly bytes: Buffer } {
    const all = slicesOf(this.#second, this.#watched);
    for (let slices = 0; ; slices++) {
      const { done, value } = all.next();
      if (done === true) return { slices, bytes: value };
    }
  }

  /** Others that know the same. */
  copy(): AlertingWorld {
    const copy = new AlertingWorld();
    copy.#counted.splice(0, SOURCES, ...this.#counted.map((state) => restored(this.#first, state)));
    copy.#offsets.splice(0, SOURCES, ...this.#offsets);
    copy.#watched = restored(this.#second, this.#watched);
    copy.#book = this.#book.copy();
    [copy.#offset, copy.minute] = [this.#offset, this.minute];
    copy.rows.push(...this.rows);
    return copy;
  }

  /** The last word on each alert, in the order in which they fired. */
  get alerts(): AlertRow[] {
    return [...new Map(this.rows.map((row) => [row.id, row])).values()];
  }

  #next(source: number): number {
    const offset = this.#offsets[source] ?? 0;
    this.#offsets[source] = offset + 1;
    return offset;
  }

  #log(at: number, part: number, { service, host = '', entries, errors = 0, partition = 0, tenantId = 1 }: Came): void {
    const half = (all: number): number => Math.floor((all + part) / 2);
    const _time = new Date(at - 1000).toISOString();
    const rows = Array.from({ length: half(entries) }, (_none, index) => ({ _time, _msg: 'x', service, host, level: index < half(errors) ? 'error' : 'info' })); // prettier-ignore
    if (rows.length > 0)
      this.#input(
        partition,
        logMessage(rows, { offset: this.#next(partition), appendedAt: at, tenantId, streamFields: ['service', 'host'] }),
      );
  }

  #input(source: number, message: KafkaMessage): void {
    if (this.#held?.partition === source) {
      this.#held.messages.push(message);
      return;
    }
    for (const record of this.#first.fold(this.#counted[source], inputOf(source, message)))
      if (record.topic === 'partials.v1') this.#take(record, Number(message.timestamp));
  }

  #take({ value, headers }: Pick<AbsoluteRecord, 'value' | 'headers'>, at: number): void {
    const message = { value, headers, offset: String(this.#offset++), timestamp: String(at) } as KafkaMessage;
    const records = this.#second.fold(this.#watched, partialInputOf(0, message));
    const rows = this.#book.take(records, at);
    this.rows.push(...rows);
    if (rows.length > 0) this.told.push(rows);
  }
}

/** Counts around a level, not always the same. */
export const around = (level: number, minute: number): number => level + ((minute * 7) % 9) - 4;
export const usual = (minute: number): Came[] => [
  { service: 'checkout', entries: around(30, minute), errors: minute % 3 === 0 ? 1 : 0 },
  { service: 'cart', entries: around(30, minute + 4) },
];

const worlds = new Map<(minute: number) => readonly Came[], AlertingWorld>();

/** A world of one's own that knows what is usual, which is learned once. */
export function learned(came: (minute: number) => readonly Came[] = usual): AlertingWorld {
  let world = worlds.get(came);
  if (world === undefined) {
    world = new AlertingWorld();
    world.run(THEN, came);
    expect(world.rows).to.deep.equal([]);
    worlds.set(came, world);
  }
  return world.copy();
}
