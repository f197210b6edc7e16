import type { Alert, AlertRow } from '../../../../pipeline/alerting/book/alert.ts';
import type { AbsoluteRecord } from '../../../../pipeline/bus/producer/absolute-record.ts';
import type { KafkaMessage } from '../../../../pipeline/bus/connection/kafka.ts';
import { encodeTick } from '../../../../pipeline/bus/records/record.ts';
import type { Json } from '../../../../pipeline/core/setting.ts';
import { inputOf } from '../../../../pipeline/processors/base/input.ts';
import { partialInputOf, partialsSignal, hostedProcessor, hostedMerger } from '../../../../pipeline/processors/merge/partials.ts';
import { ruleAlerts } from '../../../../pipeline/alerting/rules/rule-alerts.ts';
import { rules } from '../../../../pipeline/processors/rules/rules.ts';
import { ruleKey } from '../../../../pipeline/processors/rules/rules-fold.ts';
import { spanRules } from '../../../../pipeline/processors/rules/span-rules.ts';
import { spanInputOf } from '../../../../pipeline/processors/spans/span-input.ts';
import { spansSignal } from '../../../../pipeline/traces/spans-signal.ts';
import { spansMessage, type PlainSpan } from '../../../fakes/span-rows.ts';
import { derivedRows, type DerivedRow } from '../../../fakes/derived-rows.ts';
import { TestBook } from '../../../fakes/test-book.ts';
import { logMessage, tickMessage } from '../../processors/inputs.ts';

export const MINUTE_MS = 60_000;
/** 2026-11-24 00:00 UTC. */
export const START = 1_795_478_400_000;
const SOURCES = 2;
const STREAM_FIELDS = ['service'];

/** A rule as it is set, with what most have; a member that is null is absent. */
export const ruleOf = (said: Readonly<Record<string, Json>>): Json => {
  const rule: Readonly<Record<string, Json>> = {
    ...{ id: 'ru_1', name: 'mine', query: '* | stats count()', every: '1m', if: 'value > 5', for: 1 },
    ...{ severity: 'warning', sensitivity: 'low', created_at: '2026-11-24T00:00:00.000Z', ...said },
  };
  return Object.fromEntries(Object.entries(rule).filter(([, value]) => value !== null));
};

/** Entries that come at once. `at`: when they are appended, ms behind START; their own time is a second before, unless they have one. */
export type Sent = { readonly at: number; readonly entries: readonly object[]; readonly partition?: number; readonly tenantId?: number };

/** What is told of rules, by the way of the service: two partitions of the log, and one of `partials.v1`. */
export class RuleWorld {
  readonly #first = hostedProcessor(rules);
  #counted = Array.from({ length: SOURCES }, () => this.#first.init());
  readonly #offsets = Array.from({ length: SOURCES }, () => 0);
  /** Those of `spans.v1`, where it has some. */
  readonly #ofSpans = hostedProcessor(spanRules);
  #spans: unknown[];
  readonly #second = hostedMerger(ruleAlerts);
  #watched = this.#second.init();
  #book = new TestBook();
  #offset = 0;
  readonly rows: AlertRow[] = [];
  /** What is recorded of rules. */
  readonly samples: DerivedRow[] = [];
  /** The values of the partials. */
  readonly partials: string[] = [];

  constructor({ hasSpans = false } = {}) {
    this.#spans = Array.from({ length: hasSpans ? SOURCES : 0 }, () => this.#ofSpans.init());
  }

  /** Sets a rule in all partitions. */
  set(value: Json, { at = 0, slot = 1, version = 1, tenantId = 1 }: { at?: number; slot?: number; version?: number; tenantId?: number } = {}): void {
    const setting = { processor: rules.name, tenantId, key: ruleKey(slot), value, version };
    for (let source = 0; source < SOURCES; source++) {
      this.#input(source, tickMessage(this.#next(source), START + at, setting));
      this.#inputOfSpans(source, tickMessage(this.#next(source), START + at, setting, spansSignal));
    }
  } // prettier-ignore

  /** Spans that come at once; they begin a second before, unless they have a time. */
  sendSpans({ at, spans, partition = 0, tenantId = 1 }: { at: number; spans: readonly PlainSpan[]; partition?: number; tenantId?: number }): void {
    const rows = spans.map((span) => ({ time: BigInt(START + at - 1000) * 1_000_000n, ...span }));
    this.#inputOfSpans(partition, spansMessage(rows, { offset: this.#next(partition), appendedAt: START + at, tenantId }));
  } // prettier-ignore

  send({ at, entries, partition = 0, tenantId = 1 }: Sent): void {
    const rows = entries.map((entry) => ({ _time: new Date(START + at - 1000).toISOString(), _msg: 'x', ...entry }));
    for (let from = 0; from < rows.length; from += 2000)
      this.#input(
        partition,
        logMessage(rows.slice(from, from + 2000), {
          ...{ offset: this.#next(partition), appendedAt: START + at, tenantId },
          ...{ retentionDays: 14, streamFields: STREAM_FIELDS },
        }),
      );
  }

  /** Time passes in all partitions, also in that of the partials. */
  tick(at: number): void {
    for (let source = 0; source < SOURCES; source++) {
      this.#input(source, tickMessage(this.#next(source), START + at));
      this.#inputOfSpans(source, tickMessage(this.#next(source), START + at, undefined, spansSignal));
    }
    this.#take(encodeTick(partialsSignal), START + at);
  }

  /** Ticks each ten seconds, from one time to another. */
  ticks(from: number, to: number): void {
    for (let at = from; at <= to; at += 10_000) this.tick(at);
  }

  resolve(row: AlertRow, note: string, at: number): void {
    const alert: Alert = { ...row, resolvedAt: null, incidentId: row.incidentId === 0 ? null : row.incidentId };
    this.rows.push(...this.#book.resolve(alert, note, START + at));
  }

  /** Begins again from snapshots. */
  restart(): void {
    this.#counted = this.#counted.map((state) => this.#first.restore(this.#first.snapshot(state)));
    const watched = this.#second.restore(this.#second.snapshot(this.#watched));
    this.#spans = this.#spans.map((state) => this.#ofSpans.restore(this.#ofSpans.snapshot(state)));
    if (watched === null || this.#counted.includes(null) || this.#spans.includes(null)) throw new Error('A snapshot cannot be read.');
    this.#watched = watched;
    this.#book.restart();
  }

  /** Goes on with what a release before wrote down, and a book that knows nothing. */
  upgrade(snapshot: Buffer): void {
    const watched = this.#second.restore(snapshot);
    if (watched === null) throw new Error('A snapshot cannot be read.');
    this.#watched = watched;
    this.#book = new TestBook();
  }

  /** The last word on each alert, in the order in which they fired. */
  get alerts(): AlertRow[] {
    return [...new Map(this.rows.map((row) => [row.id, row])).values()];
  }

  /** What the merger writes down. */
  snapshot(): Buffer {
    return Buffer.from(this.#second.snapshot(this.#watched));
  }

  get sizes(): readonly number[] {
    return [...this.#counted.map((state) => this.#first.snapshot(state).length), this.#second.snapshot(this.#watched).length];
  }

  #next(source: number): number {
    const offset = this.#offsets[source] ?? 0;
    this.#offsets[source] = offset + 1;
    return offset;
  }

  #input(source: number, message: KafkaMessage): void {
    for (const record of this.#first.fold(this.#counted[source], inputOf(source, message))) {
      this.partials.push(record.value.toString());
      this.#take(record, Number(message.timestamp));
    }
  }

  #inputOfSpans(source: number, message: KafkaMessage): void {
    if (source >= this.#spans.length) return;
    for (const record of this.#ofSpans.fold(this.#spans[source], spanInputOf(source, message))) {
      this.partials.push(record.value.toString());
      this.#take(record, Number(message.timestamp));
    }
  }

  #take({ value, headers }: Pick<AbsoluteRecord, 'value' | 'headers'>, at: number): void {
    const message = { value, headers, offset: String(this.#offset++), timestamp: String(at) } as KafkaMessage;
    const records = this.#second.fold(this.#watched, partialInputOf(0, message));
    this.rows.push(...this.#book.take(records, at));
    this.samples.push(...derivedRows(records));
  }
}

export const evidenceOf = ({ evidence }: AlertRow): Readonly<Record<string, unknown>> => JSON.parse(evidence) as Record<string, unknown>;
