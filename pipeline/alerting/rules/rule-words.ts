import { ExactFilter } from '../../../logsql/filters/exact.ts';
import { allOf } from '../../../logsql/filters/logic.ts';
import { RULE } from '../book/alert.ts';
import { timeText } from '../book/shown-alert.ts';
import { renderStream, serviceOf } from '../../core/labels.ts';
import type { Finding } from '../../detectors/detector.ts';
import type { AlertWords, Subject } from '../book/reports.ts';
import { objectOf } from '../../core/read-json.ts';
import { signalOf, type CompiledRule } from '../../processors/rules/rule.ts';
import type { GroupTraces } from './group-traces.ts';
import { BUDGET, MOST_GROUPS } from '../../processors/rules/tenant-counts.ts';

/** What an alert of a rule is about: a group of it, or the rule itself where it could not be evaluated wholly. */
export type RuleSubject = Subject & {
  readonly compiled: CompiledRule;
  /** The values of the fields that the rule groups by. */
  readonly labels: readonly string[];
  readonly notice: 'budget' | 'groups' | null;
  /** Entries of the window that match the filter, and the values of the last windows, the newest last. */
  readonly entries: number;
  readonly series: readonly (number | null)[];
  /** Of spans: what shows them; null for nothing. */
  readonly traces: GroupTraces | null;
  /** Of a detector of one's own: when it fires, a sentence. */
  readonly about?: string;
};

/** How many windows of entries a link shows around a finding, before and behind it; and minutes at least. */
const AROUND_WINDOWS = 3;
const AROUND = 15;
const QUOTED = 200;

const plain = (value: number): string =>
  Math.abs(value) < 10 ? String(Number(value.toPrecision(3))) : Math.round(value).toLocaleString('en-US');
const iso = (minute: number): string => timeText(minute * 60);
const windowsOf = (minutes: number): string => (minutes === 1 ? 'minute' : minutes === 60 ? 'hour' : `${String(minutes)} minutes`);
const cut = (text: string): string => (text.length <= QUOTED ? text : `${text.slice(0, QUOTED)}…`);

/** What a rule counts. */
const rowsOf = ({ rule }: CompiledRule): 'entries' | 'spans' => (signalOf(rule) === 'spans' ? 'spans' : 'entries');

/** `p99 of duration_ms`, `Errors` of a count with a condition and so on: what a rule measures, to begin a sentence. */
function whatOf(compiled: CompiledRule): string {
  const { measure, fields, written, condition } = compiled;
  const of = fields.join(', ');
  const rows = rowsOf(compiled) === 'spans' ? 'Spans' : 'Entries';
  const where = condition === null ? '' : ` with ${cut(condition.toString())}`;
  switch (measure.kind) {
    case 'count':
      return `${rows}${where}`;
    case 'rate':
      return `${rows} a second${where}`;
    case 'quantile':
      return `p${String(Number(((measure.phi ?? 0.5) * 100).toPrecision(6)))} of ${of}${where}`;
    case 'count_uniq':
      return `Different ${of}${where}`;
    case 'sum':
    case 'avg':
    case 'min':
    case 'max':
      return `${{ sum: 'Sum', avg: 'Mean', min: 'Smallest', max: 'Largest' }[measure.kind]} ${of}${where}`;
    default:
      return written;
  }
}

/** Whether a sentence about what a rule measures is one of several things. */
const isPlural = ({ measure }: CompiledRule): boolean => ['count', 'rate', 'count_uniq'].includes(measure.kind);

/** The group, the service, or nothing. */
function whoseOf({ compiled, labels, service }: RuleSubject): string {
  const groups = compiled.by.map((field, index) => (field === 'service' ? labels[index] : `${field} ${String(labels[index])}`));
  const names = (groups.length > 0 ? groups.map(String) : [service]).filter((name) => name !== '').map(cut);
  return names.length === 0 ? '' : ` of ${names.join(', ')}`;
}

const beyond = { '>': 'above', '>=': 'at or above', '<': 'below', '<=': 'at or below', '==': 'at' } as const;

function conditionOf({ when, rule }: CompiledRule, { expected }: Finding): string {
  if (when.kind === 'detector') return `expected ${plain(expected.low)} to ${plain(expected.high)}, rule '${rule.name}'`;
  return when.kind === 'none' ? `rule '${rule.name}'` : `rule '${rule.name}' fires ${beyond[when.operator]} ${when.written}`;
}

/** The words of an alert of a rule. */
export const ruleWords: AlertWords<RuleSubject> = {
  about: ({ compiled }) => compiled.rule.id,
  aboutFormer: ({ evidence }) => (objectOf(evidence) as { readonly rule?: { readonly id?: string } }).rule?.id ?? '',

  key: ({ side, firedAt }, { compiled, labels, notice }) => [RULE, compiled.rule.id, notice ?? '', ...labels, side, firedAt],

  text(finding, subject) {
    const { compiled, notice, entries, about } = subject;
    const { severity, query } = compiled.rule;
    if (notice !== null) return noticeOf(notice, compiled, finding.value);
    const isThreshold = compiled.when.kind === 'threshold';
    const verb =
      isThreshold && compiled.when.operator === '==' ? (isPlural(compiled) ? 'are' : 'is') : finding.side === 'up' ? 'rose to' : 'fell to';
    const what = whatOf(compiled);
    const whose = whoseOf(subject);
    const value = plain(finding.value);
    const windows = compiled.rule.for === 1 ? '' : ` for ${String(compiled.rule.for)} windows in a row`;
    const isAllCounted = compiled.measure.kind === 'count' && finding.value === entries;
    const over = isThreshold && !isAllCounted ? `, over ${entries.toLocaleString('en-US')} ${rowsOf(compiled)}` : '';
    const why = isThreshold
      ? `The rule fires when the ${compiled.rule.if ?? ''}${windows}.`
      : about === undefined
        ? `Its baseline is ${plain(finding.mean)}, and ${plain(finding.expected.low)} to ${plain(finding.expected.high)} is usual.`
        : `${about} It expects ${plain(finding.mean)}, and nothing fires from ${plain(finding.expected.low)} to ${plain(finding.expected.high)}.`;
    return {
      title: `${what}${whose} ${verb} ${value}, ${conditionOf(compiled, finding)}`,
      description: `${what}${whose} ${isPlural(compiled) ? 'were' : 'was'} ${value} in the ${windowsOf(finding.scale)} from ${iso(finding.window.start)}${over}. ${why} Its query is \`${cut(query)}\`.`,
      severity,
    };
  },

  evidence(finding, { compiled, labels, notice, entries, series, service, traces }) {
    const { rule, by, minutes, when } = compiled;
    const { window, value, side } = finding;
    const around = Math.max(AROUND, AROUND_WINDOWS * minutes);
    const groups = by.map((field, index) => new ExactFilter(field, labels[index] ?? ''));
    const own = compiled.condition === null ? [] : [compiled.condition];
    const isOfAll = notice !== null;
    const { id, name, query, every, if: condition } = rule;
    const times = { start: iso(window.start - around), end: iso(window.end + 1 + around) };
    const isOfSpans = signalOf(rule) === 'spans';
    return JSON.stringify({
      rule: { id, name, ...(isOfSpans ? { signal: 'spans' } : {}), query, every, if: condition, for: rule.for },
      current_value: rounded(value),
      ...(isOfAll ? { notice } : when.kind === 'threshold' ? { threshold: when.bound } : pastOf(finding)),
      window: { start: iso(window.start), end: iso(window.end + 1) },
      scale_minutes: finding.scale,
      direction: side,
      ...(isOfAll
        ? {}
        : {
            [rowsOf(compiled)]: entries,
            ...(by.length === 0 ? {} : { group: Object.fromEntries(by.map((field, at) => [field, labels[at]])) }),
          }),
      series: { minute: iso(window.end + 1 - minutes * series.length), step: every, values: series.map((one) => one && rounded(one)) },
      ...(traces === null ? {} : tracesOf(traces)),
      links: {
        // an alert that names traces is not about entries
        ...(isOfSpans ? { traces: `/traces?${new URLSearchParams({ ...(service === '' ? {} : { service }), ...times }).toString()}` } : {}),
        query: allOf([compiled.filter, ...(isOfAll ? [] : [...groups, ...own])]).toString(),
        // what is usual is compared with this, where too few match the query
        all: allOf([compiled.filter, ...(isOfAll ? [] : groups)]).toString(),
        ...times,
      },
    });
  },
};

/** As those of a service's alerts. */
const tracesOf = ({ slow, failed }: GroupTraces): object => ({
  slow_traces: slow.map(([trace, took]) => ({ trace_id: trace, duration_ms: rounded(took / 1e6) })),
  failing_traces: failed.map((trace) => ({ trace_id: trace })),
});

const rounded = (number: number): number => Number(number.toPrecision(6));

const pastOf = ({ z, mean, expected }: Finding): object => ({
  z_score: rounded(z),
  baseline_mean: rounded(mean),
  expected: { low: rounded(expected.low), high: rounded(expected.high) },
});

function noticeOf(notice: 'budget' | 'groups', compiled: CompiledRule, value: number): ReturnType<AlertWords<RuleSubject>['text']> {
  const { name } = compiled.rule;
  const rows = rowsOf(compiled);
  const entries = `${value.toLocaleString('en-US')} ${rows}`;
  return notice === 'budget'
    ? {
        title: `Rule '${name}' is over its budget: ${entries} were not evaluated`,
        description: `The rules of a tenant may take ${String(BUDGET / 1e9)} s of each ten seconds in a partition, in equal parts. Windows in which ${rows} were passed over fire nothing. Use cheaper filters, such as {service="web"} in front, or fewer rules.`,
        severity: 'info',
      }
    : {
        title: `Rule '${name}' has too many groups: ${entries} belong to none`,
        description: `A rule watches at most ${String(MOST_GROUPS)} groups; the others are not watched until some have had none for a day. Group by a field with fewer values.`,
        severity: 'info',
      };
}

/** The label set of a group, and its service: `service` among the labels, else the one that the rule names. */
export function placeOf({ by, service }: CompiledRule, labels: readonly string[]): { readonly stream: string; readonly service: string } {
  const stream = renderStream(by.map((field, index) => [field, labels[index] ?? ''] as const));
  const own = serviceOf(stream);
  return { stream, service: own === '' ? service : own };
}
