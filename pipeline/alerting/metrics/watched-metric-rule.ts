import { sampleText } from '../../../promql/values/numbers.ts';
import { labelsText, type Labels } from '../../samples/definition.ts';
import type { DerivedSample } from '../../samples/derived-samples.ts';
import { AlertStates, type ActiveAlert, type AlertEvent } from './alert-states.ts';
import type { Evaluated } from './evaluated.ts';
import type { ReadMetricRule } from './metric-rule.ts';
import { SeriesWatch, type SeriesFound } from './series-watch.ts';

/** What a rule, and a series that it gave last, take beside their strings. Bytes, about. */
const RULE_BYTES = 500;
const SERIES_BYTES = 100;
/** How often the labels of an alert are held: with it, and by its two series. */
const SERIES_OF_ALERT = 3;
/** Characters of a state as it is stored. */
const MOST_STATE = 100_000;
const SUSPENDED = 'the plan of the tenant has no metrics';
const FULL = 'the rules of the tenant hold as many alerts and series as they may';

const bytesOf = (series: readonly { readonly labels: Labels }[]): number =>
  series.reduce((sum, { labels }) => sum + SERIES_BYTES + labelsText(labels).length, 0);

/** What comes of an evaluation: what fires or has ended, what was found of series that are watched, and the samples that are recorded. */
export type MetricResult = {
  readonly events: readonly AlertEvent[];
  readonly found: readonly SeriesFound[];
  readonly samples: readonly DerivedSample[];
};

/** What an alert, or a series that fires, is shown as. Times in milliseconds. */
type Shown = Pick<ActiveAlert, 'labels' | 'annotations' | 'value' | 'activeAt' | 'firedAt' | 'keptSince'>;
type Written = readonly [number, number, number, string, string | null, AlertStates, readonly Labels[], SeriesWatch?];

/** A rule of a tenant over metrics: how it stands after the evaluations that were taken. */
export class WatchedMetricRule {
  /** Of its setting. */
  readonly version: number;
  /** Null behind a snapshot, until its setting is there. */
  read: ReadMetricRule | null;
  /** The time of the last evaluation, or when it was set: milliseconds. */
  evaluatedAt: number;
  #tookMs = 0;
  #health: 'unknown' | 'ok' | 'err' = 'unknown';
  #error: string | null = null;
  #alerts = new AlertStates();
  #watched = new SeriesWatch();
  /** What it gave last, by the string of the labels: a series that it does not give any more has ended. */
  #series = new Map<string, Labels>();
  #bytes = 0;

  constructor(version: number, read: ReadMetricRule | null, evaluatedAt: number) {
    [this.version, this.read, this.evaluatedAt] = [version, read, evaluatedAt];
  }

  /** What it holds, about. Bytes. */
  get bytes(): number {
    return RULE_BYTES + this.#alerts.bytes + this.#watched.bytes + this.#bytes;
  }

  /** Goes on with what another version knew, where it means the same series and alerts. */
  follow(other: WatchedMetricRule): boolean {
    const [one, before] = [this.read, other.read];
    const isSame =
      one !== null &&
      before !== null &&
      one.rule.id === before.rule.id &&
      one.kind === before.kind &&
      one.name === before.name &&
      one.rule.expr === before.rule.expr &&
      // a past by other steps is another one, and what fires on one side would not end
      (one.kind !== 'watch' || (one.intervalMs === before.intervalMs && one.side === before.side)) &&
      JSON.stringify(one.labels) === JSON.stringify(before.labels);
    if (!isSame) return false;
    [this.#tookMs, this.#health, this.#error] = [other.#tookMs, other.#health, other.#error];
    [this.evaluatedAt, this.#alerts, this.#watched] = [other.evaluatedAt, other.#alerts, other.#watched];
    [this.#series, this.#bytes] = [other.#series, other.#bytes];
    return true;
  }

  /** Takes an evaluation; null where it is known, or of another version. `most`: bytes that it may take more. */
  take(evaluated: Evaluated, most: number): MetricResult | null {
    const { version, time, tookMs, error, series } = evaluated;
    const { read } = this;
    if (read === null || version !== this.version || time <= this.evaluatedAt) return null;
    [this.evaluatedAt, this.#tookMs] = [time, tookMs];
    const isAlert = read.kind === 'alert';
    // what is watched begins as far as there is room
    const growth = isAlert ? SERIES_OF_ALERT * this.#alerts.growth(evaluated) : read.kind === 'watch' ? 0 : bytesOf(series) - this.#bytes;
    const fault = error ?? (growth > 0 && growth > most ? FULL : null);
    this.#health = fault === null ? 'ok' : 'err';
    this.#error = fault;
    // as in Prometheus, what fires goes on firing while its rule cannot be evaluated
    if (fault !== null) return { events: [], found: [], samples: [] };
    if (read.kind === 'watch') return { events: [], found: this.#watched.take(evaluated, read, most), samples: [] };
    const events = isAlert ? this.#alerts.take(evaluated, read) : [];
    const now: DerivedSample[] = isAlert ? this.#alerts.samples(time) : series.map(({ labels, value }) => ({ labels, time, value }));
    return { events, found: [], samples: [...now, ...this.#ended(now, time)] };
  }

  /** The ends of the series that it gave last. */
  end(time: number): readonly DerivedSample[] {
    return this.#ended([], time);
  }

  /** It is not evaluated any more, and forgets what it knows. Gives the ends of its series. */
  suspend(at: number): readonly DerivedSample[] {
    [this.#alerts, this.#watched, this.#health, this.#error] = [new AlertStates(), new SeriesWatch(), 'unknown', SUSPENDED];
    return this.end(at);
  }

  /** It is evaluated again, from a time on (milliseconds): what was missed meanwhile is not made up for. */
  resume(at: number): void {
    [this.evaluatedAt, this.#error] = [Math.max(this.evaluatedAt, at), null];
  }

  /** How it stands, as a JSON object of at most 100,000 characters. */
  state(): string {
    const alerts: string[] = [];
    let [length, omitted] = [0, 0];
    const watched = this.#watched.firing.flatMap(
      ({ labels, firing }): Shown[] =>
      firing === null ? [] : [{ labels, annotations: [], value: firing.value, activeAt: firing.since, firedAt: firing.since, keptSince: null }], // prettier-ignore
    );
    for (const { labels, annotations, value, activeAt, firedAt, keptSince } of [...this.#alerts.all, ...watched]) {
      const shown = JSON.stringify({
        ...{ labels, annotations, value: sampleText(value), active_at: activeAt },
        ...{ state: firedAt === null ? 'pending' : 'firing', kept_since: keptSince },
      });
      length += shown.length;
      if (length > MOST_STATE) omitted += 1;
      else alerts.push(shown);
    }
    const about = { evaluated_at: this.evaluatedAt, took_ms: this.#tookMs, health: this.#health, error: this.#error, omitted };
    return `${JSON.stringify(about).slice(0, -1)},"alerts":[${alerts.join(',')}]}`;
  }

  toJSON(): unknown {
    const { version, evaluatedAt } = this;
    const written = [version, evaluatedAt, this.#tookMs, this.#health, this.#error, this.#alerts, [...this.#series.values()]];
    return this.#watched.isEmpty ? written : [...written, this.#watched];
  }

  /** What `toJSON` gave; throws where it is anything else. */
  static from(json: unknown): WatchedMetricRule {
    const [version, evaluatedAt, tookMs, health, error, alerts, series, watched] = json as Written;
    const read = new WatchedMetricRule(version, null, evaluatedAt);
    [read.#tookMs, read.#health, read.#error] = [tookMs, health as 'ok', error];
    read.#alerts = AlertStates.from(alerts);
    if (watched !== undefined) read.#watched = SeriesWatch.from(watched);
    read.#keep(series);
    return read;
  }

  #ended(now: readonly DerivedSample[], time: number): DerivedSample[] {
    const before = this.#series;
    this.#keep(now.map(({ labels }) => labels));
    return [...before].filter(([key]) => !this.#series.has(key)).map(([, labels]) => ({ labels, time, value: null }));
  }

  #keep(series: readonly Labels[]): void {
    this.#series = new Map(series.map((labels) => [labelsText(labels), labels]));
    this.#bytes = bytesOf(series.map((labels) => ({ labels })));
  }
}
