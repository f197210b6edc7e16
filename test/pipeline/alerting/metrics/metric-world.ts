import type { AlertRow } from '../../../../pipeline/alerting/book/alert.ts';
import { seriesText, type EvaluatedSeries, type TraceExemplar } from '../../../../pipeline/alerting/metrics/evaluated.ts';
import type { MetricRunner, Outcome } from '../../../../pipeline/alerting/metrics/evaluations.ts';
import { metricRuleKey, METRIC_RULES } from '../../../../pipeline/alerting/metrics/metric-rule-fault.ts';
import { createMetricRules } from '../../../../pipeline/alerting/metrics/metric-rules.ts';
import type { ReadMetricRule } from '../../../../pipeline/alerting/metrics/metric-rule.ts';
import type { KafkaMessage } from '../../../../pipeline/bus/connection/kafka.ts';
import type { AbsoluteRecord } from '../../../../pipeline/bus/producer/absolute-record.ts';
import { encodeTick } from '../../../../pipeline/bus/records/record.ts';
import { SETTING, settingText, type Json } from '../../../../pipeline/core/setting.ts';
import { metricRuleStateLayout, type MetricRuleState } from '../../../../pipeline/counters/metric-rule-states.ts';
import { hostedMerger, partialInputOf, partialsSignal } from '../../../../pipeline/processors/merge/partials.ts';
import { derivedRows } from '../../../fakes/derived-rows.ts';
import { TestBook } from '../../../fakes/test-book.ts';

/** 2026-11-28 00:00 UTC. */
export const START = 1_795_824_000_000;
const STALE = 0x7ff0000000000002n;

/** What an expression gives at a time: labels and value of each series; a string: it fails. */
export type Answer = (
  rule: ReadMetricRule,
  time: number,
) => readonly (readonly [labels: Readonly<Record<string, string>>, value: number, exemplars?: readonly TraceExemplar[]])[] | string;

export const alertRule = (more: Readonly<Record<string, Json>> = {}): Json => ({
  ...{ id: 'mr_1', created_at: '2026-11-28T00:00:00.000Z', group: 'g', alert: 'High', expr: 'load > 4', interval: '30s', for: '1m' },
  ...{ keep_firing_for: '0s', labels: { severity: 'critical' }, annotations: { summary: 'Load is high' }, ...more },
});
export const recordRule = (more: Readonly<Record<string, Json>> = {}): Json => ({
  ...{ id: 'mr_2', created_at: '2026-11-28T00:00:00.000Z', group: 'g', record: 'load:max', expr: 'max(load)', interval: '30s', ...more },
});

export const watchRule = (more: Readonly<Record<string, Json>> = {}): Json => ({
  ...{ id: 'mr_3', created_at: '2026-11-28T00:00:00.000Z', group: 'g', watch: 'Load', expr: 'load', interval: '1m', ...more },
});

const pairsOf = (labels: Readonly<Record<string, string>>): [string, string][] =>
  Object.entries(labels).sort(([a], [b]) => (a < b ? -1 : 1));

/** What the query worker makes of a sample (`api/prometheus/evaluate-rule.ts`), without templates. */
function seriesOf(
  { kind, name, labels, annotations }: ReadMetricRule,
  own: Readonly<Record<string, string>>,
  value: number,
  exemplars: readonly TraceExemplar[] = [],
): EvaluatedSeries {
  const named = { alert: { alertname: name }, record: { __name__: name }, watch: {} }[kind];
  const all = { ...own, ...labels, ...named };
  return { labels: pairsOf(all), value, annotations: kind === 'alert' ? Object.entries(annotations) : [], exemplars };
}

/** One partition of `partials.v1` with rules over metrics, their host, which may be killed, and all that comes of it. */
export class MetricWorld {
  now = START;
  readonly log: KafkaMessage[] = [];
  readonly rows: AlertRow[] = [];
  /** What is stored of the series: the last value of each time, null for an end. */
  readonly samples = new Map<string, Map<number, number | null>>();
  readonly states = new Map<string, MetricRuleState>();
  /** For which times each rule was evaluated. */
  readonly evaluated: (readonly [rule: string, time: number])[] = [];
  outage = false;
  /** The plan of tenant 1 has no metrics. */
  isOff = false;
  /** Evaluations that take too long before one succeeds. */
  slow = 0;
  readonly #hosted;
  #state: unknown;
  #next = 0;
  #saved: { readonly bytes: Buffer; readonly next: number } | null = null;
  readonly #book = new TestBook();
  #tickedAt = 0;

  constructor(answer: Answer) {
    const runner: MetricRunner = {
      now: () => this.now,
      standingOf: (tenantId) => (tenantId !== 1 ? null : this.isOff ? 'off' : { retentionDays: 14 }),
      evaluate: (_tenantId, rule, time): Promise<Outcome> => {
        if (this.outage) return Promise.resolve(null);
        if (this.slow > 0) {
          this.slow -= 1;
          return Promise.resolve({ error: 'it ran too long', isSlow: true });
        }
        this.evaluated.push([rule.name, time]);
        const found = answer(rule, time);
        if (typeof found === 'string') return Promise.resolve({ error: found });
        return Promise.resolve({ series: seriesText(found.map(([labels, value, exemplars]) => seriesOf(rule, labels, value, exemplars))) });
      },
    };
    this.#hosted = hostedMerger(createMetricRules(runner));
    this.#state = this.#hosted.init();
  }

  set(slot: number, value: Json, version = 1, tenantId = 1): void {
    const setting = { processor: METRIC_RULES, tenantId, key: metricRuleKey(slot), value, version };
    this.#append([{ ...encodeTick(partialsSignal, { [SETTING]: settingText(setting) }), topic: 'partials.v1', partition: 0, key: null }]);
    this.#read();
  }

  /** Some seconds pass. `onStep` is called at each of them, between what is written and what is read. */
  async pass(seconds: number, onStep: () => void = () => undefined): Promise<void> {
    for (let second = 0; second < seconds; second++) {
      this.now += 1000;
      if (this.now - this.#tickedAt >= 10_000) {
        this.#append([{ ...encodeTick(partialsSignal), topic: 'partials.v1', partition: 0, key: null }]);
        this.#tickedAt = this.now;
      }
      this.#read();
      const written = this.#hosted.news?.(this.#state as never, 0, this.#next) ?? [];
      onStep();
      this.#append(written);
      await new Promise((resolve) => setImmediate(resolve));
    }
  }

  /** A record of others, or again. */
  append(record: AbsoluteRecord): void {
    this.#append([record]);
    this.#read();
  }

  save(): void {
    this.#saved = { bytes: Buffer.from(this.#hosted.snapshot(this.#state as never)), next: this.#next };
  }

  /** The host ends: what was not written is lost, and it goes on from its last snapshot. */
  kill(): void {
    const state = this.#saved === null ? this.#hosted.init() : this.#hosted.restore(this.#saved.bytes);
    if (state === null) throw new Error('The snapshot cannot be read.');
    [this.#state, this.#next] = [state, this.#saved?.next ?? 0];
  }

  get size(): number {
    return this.#hosted.snapshot(this.#state as never).length;
  }

  /** The latest row of each alert. */
  get alerts(): AlertRow[] {
    return [...new Map(this.rows.map((row) => [row.id, row])).values()];
  }

  /** The values of a series, in the order of time. */
  valuesOf(series: string): (readonly [seconds: number, value: number | null])[] {
    const all = [...(this.samples.get(series) ?? [])].sort(([a], [b]) => a - b);
    return all.map(([time, value]) => [(time - START) / 1000, value] as const);
  }

  #append(records: readonly AbsoluteRecord[]): void {
    for (const { topic, value, headers } of records)
      if (topic === 'partials.v1')
        this.log.push({ value, headers, offset: String(this.log.length), timestamp: String(this.now) } as unknown as KafkaMessage);
  }

  #read(): void {
    for (; this.#next < this.log.length; this.#next++) {
      const message = this.log[this.#next] as KafkaMessage;
      this.#take([...this.#hosted.fold(this.#state as never, partialInputOf(0, message))]);
    }
  }

  #take(records: readonly AbsoluteRecord[]): void {
    this.rows.push(...this.#book.take(records, this.now));
    for (const { labels, time, bits } of derivedRows(records)) {
      const key = JSON.stringify(pairsOf(labels));
      const own = this.samples.get(key) ?? new Map<number, number | null>();
      own.set(time, bits === STALE ? null : (new Float64Array(BigUint64Array.of(bits).buffer)[0] as number));
      this.samples.set(key, own);
    }
    for (const { topic, value, headers } of records) {
      if (topic !== 'metric_rule_states.v1') continue;
      const rows = metricRuleStateLayout.read(value, Number((headers as Record<string, string>)['count']));
      if (typeof rows === 'string') throw new Error(rows);
      for (const row of rows) this.states.set(row.rule, row);
    }
    this.#append(records);
  }
}

/** The key of a series in `samples`. */
export const seriesKey = (labels: Readonly<Record<string, string>>): string => JSON.stringify(pairsOf(labels));
