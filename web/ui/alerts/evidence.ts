/** What an alert shows, read piece by piece: evidence is free in form, so each piece is there only where it has the form that is drawn. */
import { parseStream } from '../../../pipeline/core/labels.ts';
import type { Answer } from '../../client/client.ts';

export type Alert = Answer<'GET /api/v1/tenants/{tenant_id}/alerts/{alert_id}'>;
export type Changed = { readonly field: string; readonly value: string; readonly share: number; readonly before: number };
type Series = { readonly start: number; readonly stepMs: number; readonly values: readonly (number | null)[] };

export type Evidence = {
  readonly z: number | null;
  readonly current: number | null;
  readonly mean: number | null;
  readonly expected: { readonly low: number; readonly high: number } | null;
  readonly window: { readonly start: string; readonly end: string } | null;
  readonly openedAt: string | null;
  readonly series: Series | null;
  readonly link: { readonly query: string; readonly start: string; readonly end: string } | null;
  readonly why: readonly Changed[];
  readonly samples: readonly string[];
  readonly templates: readonly { readonly template: string; readonly share: number }[];
  readonly traces: readonly { readonly id: string; readonly note: string }[];
  /** Ids of replays of users who saw it. */
  readonly sessions: readonly string[];
  readonly fingerprint: string | null;
  /** That of a rule by LogsQL, which can be changed here. */
  readonly ruleId: string | null;
  /** What this page knows no form for, as rows of a table. */
  readonly others: readonly (readonly [name: string, value: string])[];
};

type Bag = Readonly<Record<string, unknown>>;
const MOST_OTHERS = 100;
const MOST_TEXT = 2000;
const MOST_NOTE = 120;
const STEPS: Readonly<Record<string, number>> = { s: 1e3, m: 6e4, h: 36e5, d: 864e5 };

const bagOf = (value: unknown): Bag => (typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Bag) : {});
const listOf = (value: unknown): readonly unknown[] => (Array.isArray(value) ? (value as unknown[]) : []);
const numberOf = (value: unknown): number | null => (typeof value === 'number' && Number.isFinite(value) ? value : null);
const textIn = (value: unknown): string | null => (typeof value === 'string' && value !== '' ? value : null);
const timeIn = (value: unknown): string | null => (typeof value === 'string' && !Number.isNaN(Date.parse(value)) ? value : null);

const KNOWN = new Set(['z_score', 'current_value', 'baseline_mean', 'expected', 'window', 'opened_at', 'series', 'links', 'why', 'sample_messages', 'templates', 'slow_traces', 'failing_traces', 'exemplars', 'sessions', 'fingerprint', 'scale_minutes', 'direction']); // prettier-ignore

function seriesOf(value: unknown): Series | null {
  const { minute, start, step, values } = bagOf(value);
  const begun = timeIn(minute) ?? timeIn(start);
  const [, size = '1', unit = 'm'] = /^(\d{1,4})([smhd])$/.exec(textIn(step) ?? '1m') ?? [];
  const numbers = listOf(values).map(numberOf);
  return begun === null || numbers.length < 2
    ? null
    : { start: Date.parse(begun), stepMs: Number(size) * (STEPS[unit] ?? 6e4), values: numbers };
}

function windowOf(value: unknown): Evidence['window'] {
  const [start, end] = [timeIn(bagOf(value)['start']), timeIn(bagOf(value)['end'])];
  return start === null || end === null ? null : { start, end };
}

/** Reads the evidence of an alert; pieces of another form are among `others`. */
export function readEvidence(evidence: unknown): Evidence {
  const bag = bagOf(evidence);
  const { low, high } = bagOf(bag['expected']);
  const [least, most] = [numberOf(low), numberOf(high)];
  const links = bagOf(bag['links']);
  const ends = windowOf(links);
  const linked = textIn(links['query']);
  const read = {
    ...{ z: numberOf(bag['z_score']), current: numberOf(bag['current_value']), mean: numberOf(bag['baseline_mean']) },
    expected: least === null || most === null ? null : { low: least, high: most },
    window: windowOf(bag['window']),
    openedAt: timeIn(bag['opened_at']),
    series: seriesOf(bag['series']),
    link: linked === null || ends === null ? null : { query: linked, ...ends },
    why: listOf(bag['why']).map(changedOf).filter((one) => one !== null),
    samples: listOf(bag['sample_messages']).map(textIn).filter((one) => one !== null),
    templates: listOf(bag['templates']).map(templateOf).filter((one) => one !== null),
    traces: [
      ...[...listOf(bag['slow_traces']), ...listOf(bag['failing_traces'])].map(traceOf),
      ...listOf(bag['exemplars']).map(exemplarOf),
    ].filter((one) => one !== null),
    sessions: listOf(bag['sessions']).map(textIn).filter((one) => one !== null),
    fingerprint: textIn(bag['fingerprint']),
    ruleId: /^ru_[\w-]{1,60}$/.exec(textIn(bagOf(bag['rule'])['id']) ?? '')?.[0] ?? null,
  }; // prettier-ignore
  return { ...read, others: rowsOf(bag) };
}

function changedOf(value: unknown): Changed | null {
  const { field, value: text, share, baseline_share: before } = bagOf(value);
  const [now, then] = [numberOf(share), numberOf(before)];
  return typeof field !== 'string' || now === null || then === null ? null : { field, value: String(text), share: now, before: then };
}

function templateOf(value: unknown): { template: string; share: number } | null {
  const { template, share } = bagOf(value);
  const part = numberOf(share);
  return typeof template !== 'string' || part === null ? null : { template, share: part };
}

function traceOf(value: unknown): { id: string; note: string } | null {
  const { trace_id: id, duration_ms: took } = bagOf(value);
  const ms = numberOf(took);
  return typeof id !== 'string' ? null : { id, note: ms === null ? 'failed' : `${ms.toLocaleString('en-US', { maximumFractionDigits: 1 })} ms` }; // prettier-ignore
}

/** A sample of a metric that has a trace. */
function exemplarOf(value: unknown): { id: string; note: string } | null {
  const { trace_id: id, metric, value: sample } = bagOf(value);
  if (typeof id !== 'string' || (typeof sample !== 'number' && typeof sample !== 'string')) return null;
  return { id, note: `${textIn(metric) ?? 'sample'} ${plainText(sample)}`.slice(0, MOST_NOTE) };
}

/** `duration_p95_ms` as `duration p95` with ` ms` behind the number. */
const UNITS: readonly (readonly [RegExp, string])[] = [
  [/_ms$/, ' ms'],
  [/_minutes$/, ' min'],
  [/_seconds$/, ' s'],
  [/_bytes$/, ' B'],
  [/_per_min(?:ute)?$/, ' a minute'],
];

/** A name and a value as a person reads them. */
export function rowOf(name: string, value: unknown): readonly [string, string] {
  const unit = typeof value === 'number' ? UNITS.find(([pattern]) => pattern.test(name)) : undefined;
  const bare = unit === undefined ? name : name.replace(unit[0], '');
  return [bare.replaceAll('_', ' '), (plainText(value) + (unit?.[1] ?? '')).slice(0, MOST_TEXT)];
}

function plainText(value: unknown): string {
  if (typeof value === 'number') return value.toLocaleString('en-US', { maximumFractionDigits: 3 });
  if (typeof value === 'string') return value;
  return value === undefined ? '' : JSON.stringify(value);
}

function rowsOf(bag: Bag): (readonly [string, string])[] {
  return Object.entries(bag)
    .filter(([name]) => !KNOWN.has(name))
    .flatMap(([name, value]) => {
      const inner = Object.entries(bagOf(value));
      return inner.length === 0 ? [rowOf(name, value)] : inner.map(([part, one]) => rowOf(`${name}_${part}`, one));
    })
    .slice(0, MOST_OTHERS);
}

/** One incident of the list, or an alert that belongs to none. */
export type Group = { readonly incident: number | null; readonly alerts: readonly Alert[] };

/** Alerts of one incident stand together, where the newest of them stands; those that fire come first. */
export function grouped(alerts: readonly Alert[]): { readonly firing: readonly Group[]; readonly resolved: readonly Group[] } {
  const groups = new Map<string, { incident: number | null; alerts: Alert[] }>();
  for (const alert of alerts) {
    const key = alert.incident_id === null ? `alert ${String(alert.id)}` : `incident ${String(alert.incident_id)}`;
    const group = groups.get(key) ?? { incident: alert.incident_id, alerts: [] };
    groups.set(key, group);
    group.alerts.push(alert);
  }
  const all = [...groups.values()];
  const fires = ({ alerts: own }: Group): boolean => own.some(({ state }) => state === 'firing');
  return { firing: all.filter(fires), resolved: all.filter((group) => !fires(group)) };
}

/** An alert that came by the socket in place of the one before, or in front. */
export function merged(alerts: readonly Alert[], next: Alert): readonly Alert[] {
  return alerts.some(({ id }) => id === next.id) ? alerts.map((one) => (one.id === next.id ? next : one)) : [next, ...alerts];
}

/** A share as it is read: `99.6 %`, never 0 % of what is not nothing. */
export function shareText(share: number): string {
  const all = 100 * share;
  if (all > 0 && all < 0.1) return '< 0.1 %';
  return `${all.toFixed(all < 10 || (all > 99 && all < 100) ? 1 : 0).replace(/\.0$/, '')} %`;
}

/** A number as a figure: three digits that count. */
export const figureText = (value: number): string =>
  value.toLocaleString('en-US', { maximumFractionDigits: Math.abs(value) >= 100 ? 0 : Math.abs(value) >= 10 ? 1 : 2 });

/** Labels that many streams share, which tell no two alerts of one title apart. */
const SHARED = new Set(['service', 'service.name', 'env']);
const MOST_PLACE = 80;

/** What tells a stream from others of its service: `pod=web-1`; empty where it has nothing else, or is no stream. */
export function placeOf(stream: string): string {
  try {
    const labels = [...parseStream(stream)].filter(([name]) => !SHARED.has(name));
    return labels.map(([name, value]) => `${name}=${value}`).join(' ').slice(0, MOST_PLACE); // prettier-ignore
  } catch {
    return '';
  }
}
