import { labelsText, type Labels } from '../../samples/definition.ts';
import { seriesLabels, type DerivedSample } from '../../samples/derived-samples.ts';
import type { Evaluated, EvaluatedSeries, TraceExemplar } from './evaluated.ts';
import type { ReadMetricRule } from './metric-rule.ts';

/** An alert that fires is reported again after so long at the earliest. Milliseconds. */
const REPORT_MS = 60_000;
/** What an alert takes in addition to its labels and annotations. Bytes, about. */
const ALERT_BYTES = 300;
/** What an exemplar takes beside the name of its metric. Bytes, about. */
const EXEMPLAR_BYTES = 120;

/** An alert of a rule: what is true of its expression for one label set. Times in milliseconds. */
export type ActiveAlert = {
  readonly labels: Labels;
  readonly annotations: Labels;
  readonly value: number;
  /** What leads to traces: of the last evaluation that found some, the newest first. */
  readonly exemplars: readonly TraceExemplar[];
  readonly activeAt: number;
  /** Null while it is pending. */
  readonly firedAt: number | null;
  /** Since when it goes on by `keep_firing_for` alone; null for not. */
  readonly keptSince: number | null;
  /** In how many evaluations it has fired, and when that was reported last. */
  readonly fires: number;
  readonly reportedAt: number;
};

/** An alert that fires, or has ended. */
export type AlertEvent = { readonly alert: ActiveAlert; readonly state: 'firing' | 'resolved' };

const sizeOf = ({ labels, annotations, exemplars }: Pick<ActiveAlert, 'labels' | 'annotations' | 'exemplars'>): number =>
  ALERT_BYTES +
  labelsText(labels).length +
  labelsText(annotations).length +
  exemplars.reduce((sum, { metric }) => sum + EXEMPLAR_BYTES + metric.length, 0);

/** An alert with what is new of it; exemplars stay until there are others. */
const renewed = (alert: ActiveAlert, own: EvaluatedSeries | undefined): ActiveAlert =>
  own === undefined ? alert : { ...alert, ...own, exemplars: own.exemplars.length > 0 ? own.exemplars : alert.exemplars };

/**
 * The alerts of a rule as Prometheus has them: pending until what is true has been so for `for`, then firing, as long as it is true and for
 * `keep_firing_for` longer.
 */
export class AlertStates {
  #alerts = new Map<string, ActiveAlert>();
  #bytes = 0;

  get all(): readonly ActiveAlert[] {
    return [...this.#alerts.values()];
  }

  /** What they take, about. */
  get bytes(): number {
    return this.#bytes;
  }

  /** What they would take more after a result. */
  growth({ series }: Pick<Evaluated, 'series'>): number {
    let bytes = 0;
    for (const one of series) {
      const known = this.#alerts.get(labelsText(one.labels));
      bytes += sizeOf(one) - (known === undefined ? 0 : sizeOf(known));
    }
    return bytes;
  }

  /** Takes the result of an evaluation; gives what fires anew, is to be reported again, or has ended. */
  take({ series, time }: Pick<Evaluated, 'series' | 'time'>, { forMs, keepMs }: Pick<ReadMetricRule, 'forMs' | 'keepMs'>): AlertEvent[] {
    const next = new Map<string, ActiveAlert>();
    const came = new Map(series.map((one) => [labelsText(one.labels), one]));
    const events: AlertEvent[] = [];
    for (const [key, alert] of this.#alerts) {
      const own = came.get(key);
      const keptSince = own === undefined ? (alert.keptSince ?? time) : null;
      const isKept = own !== undefined || (alert.firedAt !== null && keepMs > 0 && time - (keptSince ?? time) < keepMs);
      if (isKept) next.set(key, { ...renewed(alert, own), keptSince });
      else if (alert.firedAt !== null) events.push({ alert, state: 'resolved' });
    }
    for (const [key, one] of came)
      if (!next.has(key)) next.set(key, { ...one, activeAt: time, firedAt: null, keptSince: null, fires: 0, reportedAt: 0 });
    for (const [key, alert] of next) {
      if (alert.firedAt === null && time - alert.activeAt < forMs) continue;
      const isReported = alert.firedAt === null || time - alert.reportedAt >= REPORT_MS;
      const firing = { ...alert, firedAt: alert.firedAt ?? time, fires: alert.fires + 1, reportedAt: isReported ? time : alert.reportedAt };
      next.set(key, firing);
      if (isReported) events.push({ alert: firing, state: 'firing' });
    }
    this.#set(next);
    return events;
  }

  /** The series `ALERTS` and `ALERTS_FOR_STATE`, as Prometheus writes them. */
  samples(time: number): DerivedSample[] {
    return this.all.flatMap(({ labels, activeAt, firedAt }) => {
      const state = firedAt === null ? 'pending' : 'firing';
      return [
        { labels: seriesLabels([...labels, ['__name__', 'ALERTS'], ['alertstate', state]]), time, value: 1 },
        { labels: seriesLabels([...labels, ['__name__', 'ALERTS_FOR_STATE']]), time, value: Math.floor(activeAt / 1000) },
      ];
    });
  }

  toJSON(): unknown {
    return this.all.map(({ labels, annotations, value, ...times }) => [labels, annotations, String(value), times]);
  }

  /** What `toJSON` gave; throws where it is anything else. */
  static from(json: unknown): AlertStates {
    const read = new AlertStates();
    // a release before has no exemplars
    type Others = Omit<ActiveAlert, 'labels' | 'annotations' | 'value' | 'exemplars'> & Partial<Pick<ActiveAlert, 'exemplars'>>;
    const all = json as readonly [Labels, Labels, string, Others][];
    read.#set(
      new Map(
        all.map(([labels, annotations, value, { exemplars = [], ...times }]) => [
          labelsText(labels),
          { labels, annotations, value: Number(value), exemplars, ...times },
        ]),
      ),
    );
    return read;
  }

  #set(alerts: Map<string, ActiveAlert>): void {
    this.#alerts = alerts;
    this.#bytes = 0;
    for (const alert of alerts.values()) this.#bytes += sizeOf(alert);
  }
}
