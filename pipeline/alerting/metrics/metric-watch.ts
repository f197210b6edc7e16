import type { AlertCommand } from '../book/command.ts';
import { Reports, type AlertWords } from '../book/reports.ts';
import type { Finding } from '../../detectors/detector.ts';
import type { DerivedSample } from '../../samples/derived-samples.ts';
import type { Evaluated } from './evaluated.ts';
import type { ReadMetricRule } from './metric-rule.ts';
import { formerRule, metricFinding, metricWords, placeOfAlert, type MetricSubject } from './metric-words.ts';
import { placeOfSeries, seriesWords, type SeriesSubject } from './series-words.ts';
import { WatchedMetricRule } from './watched-metric-rule.ts';

const CHANGED = 'auto: the rule was changed';
const DELETED = 'auto: the rule was deleted';
const OFF = 'auto: the plan has no metrics';
/** The retention of a tenant of which no rule was evaluated yet. Days. */
const UNKNOWN_RETENTION = 30;

type AnySubject = MetricSubject | SeriesSubject;
const isOfAlert = (subject: AnySubject): subject is MetricSubject => 'alert' in subject;

/** The words of alerts of all kinds of rules over metrics. */
const words: AlertWords<AnySubject> = {
  key: (finding, subject) => (isOfAlert(subject) ? metricWords.key(finding, subject) : seriesWords.key(finding, subject)),
  text: (finding, subject) => (isOfAlert(subject) ? metricWords.text(finding, subject) : seriesWords.text(finding, subject)),
  evidence: (finding, subject) => (isOfAlert(subject) ? metricWords.evidence(finding, subject) : seriesWords.evidence(finding, subject)),
  about: ({ read }) => read.rule.id,
  aboutFormer: formerRule,
};

/** What is to be reported and recorded, and the rules whose state has changed. */
export type WatchResult = {
  readonly commands: readonly AlertCommand[];
  readonly samples: readonly DerivedSample[];
  readonly changed: readonly WatchedMetricRule[];
};

const NOTHING: WatchResult = { commands: [], samples: [], changed: [] };

/** The rules of a tenant over metrics. */
export class MetricWatch {
  retentionDays = UNKNOWN_RETENTION;
  /** Whether the tenant's records come to this partition: settings come to all of them. */
  isHere = false;
  /** Its plan has no metrics: nothing fires or is recorded. */
  isOff = false;
  /** By slot. */
  readonly rules = new Map<number, WatchedMetricRule>();
  #reports = new Reports(words);

  /** What alerts and series take, about. Bytes. */
  get bytes(): number {
    let bytes = this.#reports.bytes;
    for (const rule of this.rules.values()) bytes += rule.bytes;
    return bytes;
  }

  /** True where nothing is left of it. */
  isOver(now: number): boolean {
    return this.rules.size === 0 && this.#reports.isOver(Math.floor(now / 1000));
  }

  /** A rule is set in a slot, or removed with null. `at`: append time, milliseconds. */
  set(slot: number, version: number, read: ReadMetricRule | null, at: number): WatchResult {
    const known = this.rules.get(slot);
    if (known !== undefined && known.version >= version) return NOTHING;
    const next = read === null ? null : new WatchedMetricRule(version, read, at);
    const goesOn = known !== undefined && next !== null && next.follow(known);
    if (next === null) this.rules.delete(slot);
    else this.rules.set(slot, next);
    const id = known?.read?.rule.id;
    if (known === undefined || goesOn || id === undefined) return { ...NOTHING, changed: next === null ? [] : [next] };
    const note = next?.read?.rule.id === id ? CHANGED : DELETED;
    return {
      commands: this.#reports.end((one) => one.about === id, Math.floor(at / 1000), note),
      samples: known.end(at),
      changed: next === null ? [] : [next],
    };
  }

  /** Takes the result of an evaluation. `at`: append time, milliseconds; `most`: bytes that alerts and series may take more. */
  take(tenantId: number, evaluated: Evaluated, at: number, most: number): WatchResult {
    // it may have been evaluated before
    const rule = this.isOff ? undefined : this.rules.get(evaluated.slot);
    const read = rule?.read ?? null;
    const result = rule?.take(evaluated, most) ?? null;
    if (rule === undefined || read === null || result === null) return NOTHING;
    const room = this.bytes + most;
    const common = { read, tenantId, retentionDays: this.retentionDays, isNews: () => this.bytes < room };
    const report = (finding: Finding, subject: AnySubject): readonly AlertCommand[] =>
      [this.#reports.take(finding, subject, Math.floor(at / 1000))].filter((command) => command !== null);
    const commands = [
      ...result.events.flatMap((event) => {
        const { alert } = event;
        return report(metricFinding(event, evaluated.time, read), { ...common, alert, ...placeOfAlert(alert) });
      }),
      ...result.found.flatMap(({ finding, series }) => {
        const labels = series?.labels ?? null;
        return report(finding, { ...common, labels, recent: series?.recent ?? [], ...placeOfSeries(labels) });
      }),
    ];
    return { commands, samples: result.samples, changed: [rule] };
  }

  /** Its plan has no metrics from here on: what fires has ended, what is pending is forgotten. Or it has them again, and rules begin anew. */
  turn(isOff: boolean, at: number): WatchResult {
    if (isOff === this.isOff) return NOTHING;
    this.isOff = isOff;
    const rules = [...this.rules.values()];
    if (!isOff) {
      for (const rule of rules) rule.resume(at);
      return { ...NOTHING, changed: rules };
    }
    const commands = this.#reports.end(() => true, Math.floor(at / 1000), OFF);
    return { commands, samples: rules.flatMap((rule) => rule.suspend(at)), changed: rules };
  }

  toJSON(): unknown {
    return [this.retentionDays, this.isHere, [...this.rules], this.#reports, ...(this.isOff ? [true] : [])];
  }

  /** What `toJSON` gave; throws where it is anything else. */
  static from(json: unknown): MetricWatch {
    const [retentionDays, isHere, rules, reports, isOff = false] = json as [number, boolean, [number, unknown][], unknown, boolean?];
    const read = new MetricWatch();
    [read.retentionDays, read.isHere, read.isOff] = [retentionDays, isHere, isOff];
    for (const [slot, rule] of rules) read.rules.set(slot, WatchedMetricRule.from(rule));
    read.#reports = Reports.from(reports, words);
    return read;
  }
}
