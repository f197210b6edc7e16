import { RULE } from '../book/alert.ts';
import type { Finding, Side } from '../../detectors/detector.ts';
import { valueDetectors, type PointSeries } from '../../detectors/point-series.ts';
import { GroupTraces } from './group-traces.ts';
import { groupOf, type GroupValue } from '../exchange/rule-values.ts';
import { isBeyond, type Condition } from '../../processors/rules/condition.ts';
import { CustomFindings, SHOWN } from './custom-findings.ts';
import { RULE_SENSITIVITIES, type CompiledRule } from '../../processors/rules/rule.ts';
import { Threshold, type ThresholdEvent } from './threshold.ts';

/** A window of a group that is over, or has come so far. */
export type Seen = { readonly start: number; readonly value: number | null; readonly entries: number };

/** What watches the values of a group: a number that they are compared with, a detector, or one of others, which is sent values. */
type Watch =
  | { readonly kind: 'none' }
  | { readonly kind: 'threshold'; readonly threshold: Threshold }
  | { readonly kind: 'detector'; readonly series: PointSeries; readonly side: Side | null; readonly factor: number }
  | { readonly kind: 'custom'; readonly findings: CustomFindings };

/** The side of a threshold. */
const sideOf = (when: Condition): Side => (when.kind === 'threshold' && when.operator.startsWith('<') ? 'down' : 'up');

/** The finding of a value that is compared with a number. */
export function thresholdFinding(published: ThresholdEvent, { start, value }: Seen, minutes: number, bound: number, side: Side): Finding {
  return {
    ...{ detector: RULE, side, ...published, z: 0, value: value ?? 0, mean: bound, scale: minutes },
    expected: side === 'up' ? { low: Math.min(0, bound), high: bound } : { low: bound, high: Math.max(0, bound) },
    window: { start, end: start + minutes - 1 },
    ...(published.state === 'resolved' ? { quiet: true as const } : {}),
  };
}

/** A group of a rule, window by window in their order. */
export class RuleGroup {
  readonly labels: readonly string[];
  /** The start of the last window that had entries. */
  seenAt: number;
  /** Of spans: what shows its last window; null for nothing. */
  traces: GroupTraces | null = null;
  readonly #recent: (number | null)[];
  readonly #watch: Watch;
  #name: string | null = null;

  constructor(compiled: CompiledRule, labels: readonly string[], seenAt: number, kept?: unknown, recent: (number | null)[] = []) {
    [this.labels, this.seenAt, this.#recent] = [labels, seenAt, recent];
    this.#watch = watchOf(compiled, kept);
  }

  /** The values of the last windows, the newest last. */
  get recent(): readonly (number | null)[] {
    return this.#recent;
  }

  /** The finding of a window that is still open, where its value only grows. */
  rise(compiled: CompiledRule, seen: Seen): Finding | null {
    const { when, minutes } = compiled;
    if (this.#watch.kind !== 'threshold' || when.kind !== 'threshold' || seen.value === null) return null;
    if (!isBeyond(seen.value, when.operator, when.bound)) return null;
    const published = this.#watch.threshold.rise(seen.start + minutes - 1, minutes);
    return published === null ? null : thresholdFinding(published, seen, minutes, when.bound, sideOf(when));
  }

  /** Its name for a detector of one's own. */
  get name(): string {
    return (this.#name ??= groupOf(this.labels));
  }

  /** The finding of a window that is over. `appendedAt`: as time is on `partials.v1`, milliseconds. */
  close(compiled: CompiledRule, seen: Seen, appendedAt: number): Finding | null {
    const { when, minutes, rule } = compiled;
    const { start, value, entries } = seen;
    this.#push(seen);
    if (entries > 0) this.seenAt = start;
    if (this.#watch.kind === 'none') return null;
    if (this.#watch.kind === 'custom') return this.#watch.findings.end({ end: start + minutes - 1, minutes }, appendedAt);
    if (this.#watch.kind === 'threshold') {
      if (when.kind !== 'threshold') return null;
      const isHot = value !== null && isBeyond(value, when.operator, when.bound);
      const published = this.#watch.threshold.close(start + minutes - 1, isHot, { minutes, windows: rule.for });
      return published === null ? null : thresholdFinding(published, seen, minutes, when.bound, sideOf(when));
    }
    const { series, side, factor } = this.#watch;
    const finding = series.add({ minute: start, value, entries, errors: 0 }, factor).at(-1);
    return finding === undefined || (side !== null && finding.side !== side) ? null : { ...finding, detector: RULE };
  }

  /** A window is over of which not all entries were evaluated: it has no finding. */
  pass(start: number): void {
    this.#push({ start, value: null, entries: 0 });
  }

  /** The last window's value for a detector of one's own; null where none watches it. */
  lastValue(): GroupValue | null {
    if (this.#watch.kind !== 'custom') return null;
    const { findings } = this.#watch;
    const [value, entries] = [this.#recent.at(-1) ?? null, findings.entries.at(-1) ?? 0];
    return [this.name, value, entries];
  }

  /**
   * What a detector of one's own has found, with what was known of its window; null where that came before. `appendedAt`: as time is on
   * `partials.v1`, milliseconds.
   */
  hear(
    { minutes }: CompiledRule,
    finding: Finding,
    appendedAt: number,
  ): (Pick<Seen, 'entries'> & { readonly series: (number | null)[] }) | null {
    if (this.#watch.kind !== 'custom' || !this.#watch.findings.take(finding, appendedAt)) return null;
    const { findings } = this.#watch;
    const last = Math.max(0, this.#recent.length - findings.since(finding.window.end, minutes));
    return { series: this.#recent.slice(0, last), entries: findings.entries[last - 1] ?? 0 };
  }

  toJSON(): unknown {
    const watch = this.#watch;
    const kept =
      watch.kind === 'threshold'
        ? watch.threshold
        : watch.kind === 'custom'
          ? watch.findings
          : watch.kind === 'none'
            ? null
            : watch.series.snapshot().toString('base64');
    return [this.labels, this.seenAt, kept, this.#recent, ...(this.traces === null ? [] : [this.traces])];
  }

  /** What `toJSON` gave; throws where it is anything else. */
  static from(compiled: CompiledRule, json: unknown): RuleGroup {
    const [labels, seenAt, kept, recent, traces] = json as [string[], number, unknown, (number | null)[], unknown?];
    const read = new RuleGroup(compiled, labels, seenAt, kept, recent);
    read.traces = GroupTraces.from(traces);
    return read;
  }

  #push({ start, value, entries }: Seen): void {
    this.#recent.push(value);
    if (this.#recent.length > SHOWN) this.#recent.shift();
    if (this.#watch.kind === 'custom') this.#watch.findings.push(start, entries);
  }
}

/** What watches a rule's values: as it was kept, or from the beginning where nothing was, or what a detector does not read any more. */
function watchOf({ when, minutes, rule }: CompiledRule, kept: unknown): Watch {
  if (when.kind === 'none') return { kind: 'none' };
  if (when.kind === 'threshold') return { kind: 'threshold', threshold: kept === undefined ? new Threshold() : Threshold.from(kept) };
  if (when.isCustom) return { kind: 'custom', findings: new CustomFindings(kept) };
  const detector = valueDetectors.find(when.detector);
  if (detector === undefined) throw new Error(`BUG: the rule ${rule.id} has no detector ${when.detector}.`);
  const restored = typeof kept === 'string' ? detector.restoreSeries(Buffer.from(kept, 'base64')) : null;
  return {
    kind: 'detector',
    series: restored ?? detector.newSeries(minutes),
    side: when.side,
    factor: RULE_SENSITIVITIES[rule.sensitivity],
  };
}
