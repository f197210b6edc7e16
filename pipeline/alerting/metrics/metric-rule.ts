import type { Json } from '../../core/setting.ts';
import { FACTORS, type Side } from '../../detectors/detector.ts';
import { readDuration } from '../../../promql/values/durations.ts';

const MINUTE_MS = 60_000;
const DAY_MS = 86_400_000;
/** Characters of a name and of a group's, of an expression, and of the values of labels and annotations; labels and annotations of a rule. */
const MAX_NAME = 100;
const MAX_EXPRESSION = 2000;
const MAX_LABEL = 1000;
const MAX_ANNOTATION = 2000;
const MAX_LABELS = 30;
/** How often a rule is evaluated, and how long it may wait and go on. Milliseconds. */
const LEAST_INTERVAL = 10_000;
const MOST_INTERVAL = DAY_MS;
const MOST_FOR = 30 * DAY_MS;

const LABEL = /^[a-zA-Z_][a-zA-Z0-9_]*$/;
const METRIC = /^[a-zA-Z_:][a-zA-Z0-9_:]*$/;

type Texts = Readonly<Record<string, string>>;

/** What is watched is evaluated by whole minutes, so often at least. */
const MOST_STEP = 3_600_000;
/** To which sides a series that is watched may fire, and how easily. */
const DIRECTIONS: Readonly<Record<string, Side | null>> = { up: 'up', down: 'down', both: null };
const WATCH_SENSITIVITIES = ['low', 'normal', 'high'] as const;

/** A rule over metrics as its setting has it, in the words of Prometheus' rule files: `alert` or `record`; or `watch`, which detectors do. */
export type MetricRule = {
  readonly id: string;
  readonly created_at: string;
  readonly group: string;
  readonly alert?: string;
  readonly record?: string;
  readonly watch?: string;
  readonly expr: string;
  /** `up`, `down` or `both`, and `low`, `normal` or `high`: of what is watched. */
  readonly direction?: string;
  readonly sensitivity?: string;
  /** Durations as `1m`. */
  readonly interval: string;
  readonly for?: string;
  readonly keep_firing_for?: string;
  readonly labels?: Texts;
  readonly annotations?: Texts;
};

/** A rule, with its durations as milliseconds. */
export type ReadMetricRule = {
  readonly rule: MetricRule;
  readonly kind: 'alert' | 'record' | 'watch';
  /** Of the alert, of the series, or of what is watched. */
  readonly name: string;
  readonly intervalMs: number;
  readonly forMs: number;
  readonly keepMs: number;
  /** Of what is watched: the side that fires, null for both; and the factor of its sensitivity. */
  readonly side: Side | null;
  readonly factor: number;
  readonly labels: Texts;
  readonly annotations: Texts;
};

const MEMBERS = ['id', 'created_at', 'group', 'alert', 'record', 'watch', 'expr', 'interval', 'for', 'keep_firing_for', 'direction', 'sensitivity', 'labels', 'annotations']; // prettier-ignore
const isText = (value: unknown, most: number): value is string => typeof value === 'string' && value !== '' && value.length <= most;

/** Reads the members of a rule; a sentence where one is not right. The expression and templates are not parsed (`metricRuleFault`). */
export function readMetricRule(value: Json): ReadMetricRule | string {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return 'A rule is an object.';
  const given = value as Readonly<Record<string, unknown>>;
  const other = Object.keys(given).find((name) => !MEMBERS.includes(name));
  if (other !== undefined) return `A rule over metrics has no ${JSON.stringify(other)}; it has ${MEMBERS.join(', ')}.`;
  const rule = given as unknown as MetricRule;
  const { alert, record, watch, interval, for: wait = '0s', keep_firing_for: keep = '0s', labels = {}, annotations = {} } = rule;
  const fault = namesFault(given) ?? textsFault('labels', labels, MAX_LABEL) ?? textsFault('annotations', annotations, MAX_ANNOTATION);
  if (fault !== null) return fault;
  const [intervalMs, forMs, keepMs] = [msOf(interval), msOf(wait), msOf(keep)];
  if (!(intervalMs >= LEAST_INTERVAL && intervalMs <= MOST_INTERVAL && intervalMs % 1000 === 0))
    return 'The interval of a rule is a duration of whole seconds from 10s to 1d.';
  if (!(forMs <= MOST_FOR && keepMs <= MOST_FOR)) return '"for" and "keep_firing_for" are durations of at most 30d, such as 5m.';
  if (alert === undefined && (forMs > 0 || keepMs > 0 || Object.keys(annotations).length > 0))
    return `A rule that ${record === undefined ? 'watches' : 'records'} has neither "for" and "keep_firing_for" nor annotations.`;
  const watching = watchOf(given, intervalMs);
  if (typeof watching === 'string') return watching;
  const kind = record !== undefined ? 'record' : watch !== undefined ? 'watch' : 'alert';
  return { rule, kind, name: (alert ?? record ?? watch) as string, intervalMs, forMs, keepMs, ...watching, labels, annotations };
}

/** How detectors look at what is watched; a sentence where a member is not right. */
function watchOf(
  { watch, direction, sensitivity }: Readonly<Record<string, unknown>>,
  intervalMs: number,
): Pick<ReadMetricRule, 'side' | 'factor'> | string {
  if (watch === undefined)
    return direction === undefined && sensitivity === undefined
      ? { side: null, factor: 1 }
      : 'The members "direction" and "sensitivity" are of rules that watch.';
  if (intervalMs % MINUTE_MS !== 0 || intervalMs > MOST_STEP) return 'What is watched has an interval of whole minutes from 1m to 1h.';
  const [way, ease] = [direction ?? 'both', sensitivity ?? 'low'];
  if (typeof way !== 'string' || !Object.hasOwn(DIRECTIONS, way)) return `The direction is one of ${Object.keys(DIRECTIONS).join(', ')}.`;
  const found = WATCH_SENSITIVITIES.find((one) => one === ease);
  return found === undefined
    ? `The sensitivity is one of ${WATCH_SENSITIVITIES.join(', ')}.`
    : { side: DIRECTIONS[way] ?? null, factor: FACTORS[found] };
}

/** Not a number for what is none. */
const msOf = (text: unknown): number => (typeof text === 'string' ? (readDuration(text) ?? NaN) : NaN);

function namesFault({ id, created_at: createdAt, group, alert, record, watch, expr }: Readonly<Record<string, unknown>>): string | null {
  if (!isText(id, 40) || !isText(createdAt, 40)) return 'A rule has the strings id and created_at.';
  if (!isText(group, MAX_NAME)) return `The group of a rule has 1 to ${String(MAX_NAME)} characters.`;
  if ([alert, record, watch].filter((one) => one !== undefined).length !== 1)
    return 'A rule over metrics has one of "alert", "record" and "watch".';
  if (alert !== undefined && !isText(alert, MAX_NAME)) return `The name of an alert has 1 to ${String(MAX_NAME)} characters.`;
  if (watch !== undefined && !isText(watch, MAX_NAME)) return `The name of what is watched has 1 to ${String(MAX_NAME)} characters.`;
  if (record !== undefined && !(isText(record, MAX_NAME) && METRIC.test(record)))
    return `What is recorded is named as a metric: letters, digits, "_" and ":", 1 to ${String(MAX_NAME)} characters.`;
  return isText(expr, MAX_EXPRESSION) ? null : `The expression of a rule has 1 to ${String(MAX_EXPRESSION)} characters.`;
}

function textsFault(what: 'labels' | 'annotations', texts: unknown, most: number): string | null {
  if (typeof texts !== 'object' || texts === null || Array.isArray(texts)) return `The ${what} of a rule are an object of strings.`;
  const all = Object.entries(texts);
  if (all.length > MAX_LABELS) return `A rule has at most ${String(MAX_LABELS)} ${what}.`;
  const name = all.map(([own]) => own).find((own) => !LABEL.test(own) || own.startsWith('__') || own.length > MAX_NAME);
  if (name !== undefined)
    return `The names of ${what} are of letters, digits and "_", and do not begin with "__" (got ${JSON.stringify(name.slice(0, MAX_NAME))}).`;
  if (what === 'labels' && all.some(([own]) => own === 'alertname')) return 'The label "alertname" is the name of the alert.';
  const long = all.find(([, value]) => typeof value !== 'string' || value.length > most);
  return long === undefined ? null : `The value of ${JSON.stringify(long[0])} is a string of at most ${String(most)} characters.`;
}

/** The minute of a time in milliseconds. */
export const minuteOfMs = (ms: number): number => Math.floor(ms / MINUTE_MS);

/** Values that are right, as settings. */
export const METRIC_RULE_EXAMPLES: readonly Json[] = [
  {
    ...{ id: 'mr_a', created_at: '2026-11-27T00:00:00.000Z', group: 'node', alert: 'HighLoad', expr: 'node_load1 > 4', interval: '1m' },
    ...{ for: '5m', keep_firing_for: '0s', labels: { severity: 'critical' } },
    annotations: { summary: 'Load of {{ $labels.instance }} is {{ $value | humanize }}' },
  },
  {
    ...{ id: 'mr_b', created_at: '2026-11-27T00:00:00.000Z', group: 'http', record: 'job:requests:rate5m', interval: '30s' },
    expr: 'sum by (job) (rate(http_requests_total[5m]))',
  },
  {
    ...{ id: 'mr_c', created_at: '2026-11-27T00:00:00.000Z', group: 'http', watch: 'Requests', interval: '1m' },
    ...{ expr: 'sum by (job) (rate(http_requests_total[5m]))', direction: 'down', sensitivity: 'normal' },
  },
];
