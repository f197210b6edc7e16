import { durationText } from '../../../promql/values/durations.ts';
import { sampleText, shortNumber } from '../../../promql/values/numbers.ts';
import { RULE, type Alert, type AlertSeverity } from '../book/alert.ts';
import type { AlertText, AlertWords, Subject } from '../book/reports.ts';
import { timeText } from '../book/shown-alert.ts';
import { renderStream } from '../../core/labels.ts';
import { objectOf } from '../../core/read-json.ts';
import type { Finding } from '../../detectors/detector.ts';
import { labelsText, type Labels } from '../../samples/definition.ts';
import type { ActiveAlert, AlertEvent } from './alert-states.ts';
import type { TraceExemplar } from './evaluated.ts';
import { minuteOfMs, type ReadMetricRule } from './metric-rule.ts';

/** What an alert of a rule over metrics is about. */
export type MetricSubject = Subject & { readonly read: ReadMetricRule; readonly alert: ActiveAlert };

/** What people write into the label `severity`, by what it is here; `warning` for all else. */
const SEVERITIES: ReadonlyMap<string, AlertSeverity> = new Map(
  Object.entries<AlertSeverity>({
    ...{ critical: 'critical', page: 'critical', error: 'critical', fatal: 'critical', emergency: 'critical', high: 'critical' },
    ...{ info: 'info', information: 'info', informational: 'info', none: 'info', notice: 'info', low: 'info' },
  }),
);
/** Around an evaluation a link shows so much, before and behind it. Milliseconds. */
const AROUND_MS = 30 * 60_000;
const QUOTED = 200;

/** A time in milliseconds as ISO 8601, in whole seconds. */
export const iso = (ms: number): string => timeText(Math.floor(ms / 1000));
/** A text as it is quoted. */
export const cut = (text: string): string => (text.length <= QUOTED ? text : `${text.slice(0, QUOTED)}…`);
/** The first of these labels that has a value; empty for none. */
export const valueOf = (labels: Labels, ...names: readonly string[]): string => {
  for (const wanted of names) {
    const found = labels.find(([name]) => name === wanted)?.[1] ?? '';
    if (found !== '') return found;
  }
  return '';
};

/** The severity that labels name. */
export const severityOf = (labels: Labels): AlertSeverity => SEVERITIES.get(valueOf(labels, 'severity').toLowerCase()) ?? 'warning';

/** The labels of an alert without its name. */
const ownLabels = ({ labels }: ActiveAlert): Labels => labels.filter(([name]) => name !== 'alertname');

/** Its label set, and its service. */
export const placeOfAlert = (alert: ActiveAlert): { readonly stream: string; readonly service: string } => ({
  stream: renderStream(ownLabels(alert)),
  service: valueOf(alert.labels, 'service', 'service_name', 'job'),
});

/** The finding of an alert at an evaluation. */
export function metricFinding({ alert, state }: AlertEvent, time: number, { intervalMs }: ReadMetricRule): Finding {
  const minute = minuteOfMs(time);
  return {
    ...{ detector: RULE, side: 'up', state, firedAt: minuteOfMs(alert.firedAt ?? time), updatedAt: minute, fireCount: alert.fires },
    ...{ z: 0, value: Number.isFinite(alert.value) ? alert.value : 0, mean: 0, expected: { low: 0, high: 0 } },
    ...{ window: { start: minute, end: minute }, scale: Math.max(1, Math.round(intervalMs / 60_000)) },
    ...(state === 'resolved' ? { quiet: true as const } : {}),
  };
}

function textOf({ read, alert }: MetricSubject): AlertText {
  const { name, rule, forMs } = read;
  const summary = valueOf(alert.annotations, 'summary', 'title');
  const description = valueOf(alert.annotations, 'description', 'message');
  const shown = ownLabels(alert).filter(([label]) => label !== 'severity');
  const of = shown.length === 0 ? '' : ` of ${cut(renderStream(shown))}`;
  const waited = forMs === 0 ? '' : `, for ${durationText(forMs)}`;
  return {
    title: summary === '' ? `${name}${of}: ${shortNumber(alert.value)}` : summary,
    description:
      description === '' ? `The rule ${name} fires: \`${cut(rule.expr)}\` is ${shortNumber(alert.value)}${of}${waited}.` : description,
    severity: severityOf(alert.labels),
  };
}

type Times = { readonly start: string; readonly end: string };
/** The paths at which an expression, and its exemplars, are seen around an alert. */
export function metricLinks(expr: string, times: Times, { hasExemplars }: { readonly hasExemplars: boolean }): object {
  const path = (name: string, more: object): string => `/prometheus/api/v1/${name}?${new URLSearchParams({ query: expr, ...times, ...more }).toString()}`; // prettier-ignore
  return { metrics: path('query_range', { step: '60' }), ...(hasExemplars ? { exemplars: path('query_exemplars', {}) } : {}), ...times };
}

/** The rule of an alert that a release before kept. */
export const formerRule = ({ evidence }: Pick<Alert, 'evidence'>): string =>
  (objectOf(evidence) as { readonly rule?: { readonly id?: string } }).rule?.id ?? '';

/** An exemplar, with the path of its trace. */
const shownExemplar = ({ trace, span, value, time, metric }: TraceExemplar): object => ({
  ...{ trace_id: trace, ...(span === '' ? {} : { span_id: span }) },
  // as JSON has no number for NaN and infinities
  ...{ value: Number.isFinite(Number(value)) ? Number(value) : value, time: new Date(time).toISOString(), metric },
  link: `/traces/${trace}`,
});

/** The words of alerts of rules over metrics. */
export const metricWords: AlertWords<MetricSubject> = {
  key: ({ firedAt }, { read, alert }) => ['metrics', read.rule.id, labelsText(alert.labels), firedAt],
  text: (_finding, subject) => textOf(subject),
  evidence({ window }, { read, alert }) {
    const { id, group, expr, interval, for: wait = '0s', keep_firing_for: keep = '0s' } = read.rule;
    const at = window.end * 60_000;
    const times = { start: iso(Math.min(alert.activeAt, at) - AROUND_MS), end: iso(at + AROUND_MS) };
    return JSON.stringify({
      rule: { id, name: read.name, signal: 'metrics', group, query: expr, every: interval, for: wait, keep_firing_for: keep },
      current_value: Number.isFinite(alert.value) ? alert.value : sampleText(alert.value),
      window: { start: iso(alert.activeAt), end: iso(at + 60_000) },
      active_at: iso(alert.activeAt),
      direction: 'up',
      labels: Object.fromEntries(alert.labels),
      annotations: Object.fromEntries(alert.annotations),
      ...(alert.exemplars.length === 0 ? {} : { exemplars: alert.exemplars.map(shownExemplar) }),
      links: metricLinks(expr, times, { hasExemplars: alert.exemplars.length > 0 }),
    });
  },
  about: ({ read }) => read.rule.id,
  aboutFormer: formerRule,
};
