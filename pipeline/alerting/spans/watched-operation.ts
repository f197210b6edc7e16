import { durationQuantile } from '../../core/duration-bins.ts';
import { readJson } from '../../core/read-json.ts';
import { CutOff, type ByteReader, type ByteWriter } from '../../core/snapshot-bytes.ts';
import { FACTORS, type Finding, type Sensitivity, type Series, type Side } from '../../detectors/detector.ts';
import { logRate } from '../../detectors/log-rate.ts';
import { durationP95, requestRate } from '../../detectors/span-detectors.ts';
import { newSeries, restoreSeries } from '../../detectors/series/series.ts';
import { ValueSeries } from '../../detectors/values/value-series.ts';
import type { SpanRate } from '../../processors/spans/span-rates.ts';

const MINUTE_MS = 60_000;
const QUANTILE = 0.95;
/** A minute with fewer requests has no quantile. */
const LEAST = 20;
/** So long after its end a minute's durations are all there, by append time. Minutes. */
const PATIENCE = 3;
/** Minutes that are passed one by one where nothing came; and minutes that may be open. */
const MOST_PASSED = 1440;
const MOST_OPEN = 90;
/** Traces that are kept to be shown, of each kind. */
const MOST_SHOWN = 5;
/** How long they are. Minutes. */
const SHOWN = 90;

export const DURATION = durationP95.name;
/** The names of what detectors of counts find of spans. */
const NAMES: Readonly<Record<string, string>> = { [logRate.name]: requestRate.name };

/** A trace that shows something: in which minute it came, and how long its span took, milliseconds. */
export type Shown = readonly [minute: number, trace: string, ms: number];

type Written = {
  readonly bins: [number, [number, number][]][];
  readonly slow: Shown[];
  readonly failed: Shown[];
  readonly firing: Side | null;
};

/** An operation of a service, or all of a service: the counts of its requests, and the 95 % quantile of their durations. */
export class WatchedOperation {
  readonly #series: Series;
  readonly #values: ValueSeries;
  /** Durations of minutes that are not closed. */
  readonly #bins = new Map<number, Map<number, number>>();
  #slow: Shown[] = [];
  #failed: Shown[] = [];
  /** The last minute that was closed. */
  #closed = 0;
  #firing: Side | null = null;
  /** When its last requests came, by append time, milliseconds. */
  seenAt = 0;

  constructor(series = newSeries(), values = new ValueSeries(1)) {
    this.#series = series;
    this.#values = values;
  }

  /** Adds what came of a minute. `at`: append time, milliseconds. */
  add([, , minute, entries, errors, bins, slowest, took, failed]: SpanRate, at: number): void {
    this.#series.add(minute, { entries, errors }, at);
    this.seenAt = Math.max(this.seenAt, at);
    if (slowest !== '') this.#slow = latest([...this.#slow, [minute, slowest, took / 1e6]], minute);
    if (failed !== '') this.#failed = latest([...this.#failed, [minute, failed, 0]], minute);
    if (minute <= this.#closed || minute < Math.floor(at / MINUTE_MS) - MOST_OPEN) return;
    const own = this.#bins.get(minute) ?? new Map<number, number>();
    for (const [bin, count] of bins) own.set(bin, (own.get(bin) ?? 0) + count);
    this.#bins.set(minute, own);
  }

  /** What was found up to an append time. */
  tick(through: number, sensitivity: (detector: string) => Sensitivity): Finding[] {
    const counts = this.#series.tick(through, (detector) => sensitivity(NAMES[detector] ?? detector));
    return [...counts.map((one) => ({ ...one, detector: NAMES[one.detector] ?? one.detector })), ...this.#durations(through, sensitivity)];
  }

  /** The side on which something fires; null for nothing. */
  firing(detector: string): Side | null {
    if (detector === DURATION) return this.#firing;
    const own = Object.keys(NAMES).find((name) => NAMES[name] === detector) ?? detector;
    const firing = this.#series.firing(own);
    return firing?.detector === own ? firing.side : null;
  }

  /** The counts of the last minutes; none of durations. */
  recent(detector: string, end: number, minutes: number): readonly number[] {
    return detector === DURATION ? [] : this.#series.recent(detector === 'error_rate' ? detector : 'log_rate', end, minutes);
  }

  /** Traces of a window, the slowest ones first, and those that failed. */
  shown({ start, end }: Finding['window']): { readonly slow: readonly Shown[]; readonly failed: readonly Shown[] } {
    const isIn = ([minute]: Shown): boolean => minute >= start && minute <= end;
    return { slow: this.#slow.filter(isIn).sort(([, , one], [, , other]) => other - one), failed: this.#failed.filter(isIn) };
  }

  write(to: ByteWriter): void {
    for (const number of [this.seenAt, this.#closed]) to.count(number);
    to.bytes(this.#series.snapshot());
    to.bytes(this.#values.snapshot());
    const bins = [...this.#bins].map(([minute, own]): [number, [number, number][]] => [minute, [...own]]);
    const more: Written = { bins, slow: this.#slow, failed: this.#failed, firing: this.#firing };
    to.bytes(Buffer.from(JSON.stringify(more)));
  }

  /** What `write` wrote; throws where it is anything else. */
  static read(from: ByteReader): WatchedOperation {
    const [seenAt, closed] = [from.count(), from.count()];
    const [series, values] = [restoreSeries(from.bytes()), ValueSeries.restore(from.bytes())];
    if (series === null || values === null) throw new CutOff();
    const { bins, slow, failed, firing } = readJson(from.bytes().toString()) as Written;
    const read = new WatchedOperation(series, values);
    for (const [minute, own] of bins) read.#bins.set(minute, new Map(own));
    [read.seenAt, read.#closed, read.#slow, read.#failed, read.#firing] = [seenAt, closed, slow, failed, firing];
    return read;
  }

  /** Closes minutes, in their order. */
  #durations(through: number, sensitivity: (detector: string) => Sensitivity): Finding[] {
    const last = Math.floor(through / MINUTE_MS) - PATIENCE - 1;
    const found: Finding[] = [];
    const first = this.#closed === 0 ? Math.min(last, ...this.#bins.keys()) : this.#closed + 1;
    for (let minute = Math.max(first, last - MOST_PASSED); minute <= last; minute++) {
      const own = this.#bins.get(minute) ?? new Map<number, number>();
      const requests = [...own.values()].reduce((sum, count) => sum + count, 0);
      const value = requests >= LEAST ? durationQuantile(own, QUANTILE) : null;
      const finding = value === null ? this.#values.pass(minute) : this.#values.add(minute, value / 1e6, FACTORS[sensitivity(DURATION)]);
      if (finding !== null) {
        this.#firing = finding.state === 'firing' ? finding.side : null;
        found.push({ ...finding, detector: DURATION });
      }
    }
    this.#closed = Math.max(this.#closed, last);
    for (const minute of this.#bins.keys()) if (minute <= last) this.#bins.delete(minute);
    // that durations become shorter is not an alert
    return found.filter(({ side }) => side === 'up');
  }
}

const latest = (shown: readonly Shown[], now: number): Shown[] => {
  const recent = shown.filter(([minute]) => minute > now - SHOWN);
  if (recent.length <= MOST_SHOWN) return recent;
  // the slowest of the last minutes stay, else the latest
  const old = recent.reduce((least, [minute, , ms], index) => (minute < now - 15 || ms < (recent[least]?.[2] ?? 0) ? index : least), 0);
  return recent.filter((_one, index) => index !== old);
};
