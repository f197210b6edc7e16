import { LogsqlSyntaxError } from '../../../logsql/base/errors.ts';
import { ExactFilter } from '../../../logsql/filters/exact.ts';
import { AndFilter } from '../../../logsql/filters/logic.ts';
import { StreamFilter } from '../../../logsql/filters/stream.ts';
import { TimeFilter } from '../../../logsql/filters/time.ts';
import { parseQuery } from '../../../logsql/parser/parser.ts';
import { StatsPipe, type StatsCall } from '../../../logsql/pipes/stats.ts';
import type { Filter, Measure } from '../../../logsql/base/types.ts';
import { ALERT_SEVERITIES, type AlertSeverity } from '../../alerting/book/alert.ts';
import { serviceOf } from '../../core/labels.ts';
import type { Json } from '../../core/setting.ts';
import { conditionFault, parseCondition, type Condition } from './condition.ts';

/** The lengths of windows, and their minutes. */
export const EVERY = { '1m': 1, '5m': 5, '15m': 15, '1h': 60 } as const;
/** How easily a detector of values fires: factors on its thresholds. */
export const RULE_SENSITIVITIES = { low: 1.3, normal: 1, high: 0.8 } as const;
/** Characters of a query and of a name, instructions of the regexps of a query together, fields of `by (…)`, and windows of `for`. */
const MAX_QUERY = 1000;
/** Characters of its filters as they are written out, which alerts show: each word of `f:(a or b)` names its field again. */
const MAX_FILTERS = 4000;
const MAX_NAME = 100;
const MAX_PROGRAM = 1000;
const MAX_BY = 4;
const MAX_FOR = 60;
const METRIC = /^[a-zA-Z_:][a-zA-Z0-9_:]*$/;
/** What runs on the stream. */
const RUNS = 'count, rate, sum, avg, min, max, quantile, median, count_uniq';

/** Over what rules are evaluated. */
export const RULE_SIGNALS = ['logs', 'spans'] as const;
export type RuleSignal = (typeof RULE_SIGNALS)[number];

/** A rule as its setting has it. */
export type Rule = {
  readonly id: string;
  readonly name: string;
  /** Absent: logs. */
  readonly signal?: RuleSignal;
  /** A LogsQL filter, and a stats pipe with one function. */
  readonly query: string;
  readonly every: keyof typeof EVERY;
  /** Absent: it only records. */
  readonly if?: string;
  /** The name of the series that its values are recorded as; absent: they are not. */
  readonly record?: string;
  /** Windows in a row that must be beyond the bound of a threshold. */
  readonly for: number;
  readonly severity: AlertSeverity;
  readonly sensitivity: keyof typeof RULE_SENSITIVITIES;
  readonly created_at: string;
};

/** A rule, ready to be evaluated. */
export type CompiledRule = {
  readonly rule: Rule;
  readonly filter: Filter;
  /** That of `if (…)`. */
  readonly condition: Filter | null;
  readonly by: readonly string[];
  /** What is measured, of which fields; as it was written. */
  readonly measure: Measure;
  readonly fields: readonly string[];
  readonly written: string;
  /** Minutes of a window. */
  readonly minutes: number;
  readonly when: Condition;
  /** The service that the filter names; empty for none. */
  readonly service: string;
};

/** Over what a rule is evaluated. */
export const signalOf = ({ signal = 'logs' }: Pick<Rule, 'signal'>): RuleSignal => signal;

const MEMBERS: readonly (keyof Rule)[] = [
  'id',
  'name',
  'signal',
  'query',
  'every',
  'if',
  'record',
  'for',
  'severity',
  'sensitivity',
  'created_at',
];
const isText = (value: unknown, most: number): value is string => typeof value === 'string' && value !== '' && value.length <= most;
const oneOf = (value: unknown, words: readonly string[]): boolean => typeof value === 'string' && words.includes(value);

/** What is wrong with the members of a rule other than its query and its condition, as a sentence; null for nothing. */
function membersFault(value: Readonly<Record<string, unknown>>): string | null {
  const other = Object.keys(value).find((name) => !MEMBERS.some((member) => member === name));
  if (other !== undefined) return `A rule has no ${JSON.stringify(other)}; it has ${MEMBERS.join(', ')}.`;
  const { id, name, signal, query, every, for: windows, severity, sensitivity, created_at: createdAt } = value;
  const { if: condition, record } = value;
  if (!isText(id, 40) || !isText(createdAt, 40)) return 'A rule has the strings id and created_at.';
  if (condition === undefined ? record === undefined : !isText(condition, 200)) return 'A rule has a condition "if", or a name "record".';
  if (record !== undefined && !(isText(record, MAX_NAME) && METRIC.test(record)))
    return `What is recorded is named as a metric: letters, digits, "_" and ":", 1 to ${String(MAX_NAME)} characters.`;
  if (!isText(name, MAX_NAME)) return `The name of a rule has 1 to ${String(MAX_NAME)} characters.`;
  if (signal !== undefined && !oneOf(signal, RULE_SIGNALS)) return `The signal of a rule is one of ${RULE_SIGNALS.join(', ')}.`;
  if (!isText(query, MAX_QUERY)) return `The query of a rule has 1 to ${String(MAX_QUERY)} characters.`;
  if (!oneOf(every, Object.keys(EVERY))) return `A rule is evaluated every ${Object.keys(EVERY).join(', ')}.`;
  if (!oneOf(severity, ALERT_SEVERITIES)) return `The severity is one of ${ALERT_SEVERITIES.join(', ')}.`;
  if (!oneOf(sensitivity, Object.keys(RULE_SENSITIVITIES)))
    return `The sensitivity is one of ${Object.keys(RULE_SENSITIVITIES).join(', ')}.`;
  return Number.isInteger(windows) && (windows as number) >= 1 && (windows as number) <= MAX_FOR
    ? null
    : `"for" is a number of windows from 1 to ${String(MAX_FOR)}.`;
}

/** Reads a rule; returns what is wrong as a sentence where it is not valid. */
export function compileRule(value: Json): CompiledRule | string {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return 'A rule is an object.';
  const fault = membersFault(value as Readonly<Record<string, unknown>>);
  if (fault !== null) return fault;
  const rule = value as unknown as Rule;
  const when: Condition | string = rule.if === undefined ? { kind: 'none' } : parseCondition(rule.if);
  if (typeof when === 'string') return when;
  if (when.kind !== 'threshold' && rule.for !== 1) return '"for" belongs to a condition such as "value > 5"; a detector has none.';
  const read = readQuery(rule.query);
  return typeof read === 'string' ? read : { ...read, rule, when, minutes: EVERY[rule.every] };
}

/** What is wrong with a rule where these are the detectors of others, as a sentence; null for nothing. */
export function ruleFault(value: Json, others: readonly string[]): string | null {
  const compiled = compileRule(value);
  return typeof compiled === 'string' ? compiled : conditionFault(compiled.when, others);
}

function readQuery(text: string): Omit<CompiledRule, 'rule' | 'when' | 'minutes'> | string {
  let query;
  try {
    query = parseQuery(text, { now: 0n, programSize: MAX_PROGRAM });
  } catch (error) {
    if (error instanceof LogsqlSyntaxError) return `The query is not LogsQL: ${error.message}`;
    throw error;
  }
  const [pipe, ...others] = query.pipes;
  if (!(pipe instanceof StatsPipe) || others.length > 0)
    return 'The query is a filter and one stats pipe, such as `level:error | stats count()`; other pipes do not run on the stream.';
  const [call, ...calls] = pipe.calls;
  if (call === undefined || calls.length > 0) return 'The stats pipe of a rule has one function; make a rule for each.';
  const bucket = pipe.by.find((field) => field.bucket !== null);
  if (bucket !== undefined) return 'The stats pipe of a rule has no buckets; its windows are those of "every".';
  const by = pipe.by.map(({ name }) => name);
  if (by.length > MAX_BY) return `A rule groups by at most ${String(MAX_BY)} fields.`;
  const fault = callFault(call, by) ?? filterFault(query.filter) ?? (call.condition === null ? null : filterFault(call.condition));
  if (fault !== null) return fault;
  const filters = query.filter.toString().length + (call.condition?.toString().length ?? 0);
  if (filters > MAX_FILTERS)
    return `The filters of a rule have at most ${String(MAX_FILTERS)} characters as they are written out, where each word names its field (got ${String(filters)}).`;
  const { measure, fields } = call.stats;
  return {
    ...{ filter: query.filter, condition: call.condition, by, measure: measure as Measure },
    fields: fields[0] === '*' ? [] : fields,
    written: call.stats.toString(),
    service: serviceNamedBy(query.filter),
  };
}

const isPattern = (field: string): boolean => field.endsWith('*');
const ofPosition = (field: string): boolean => field === '_time' || field === '_stream_id';

function callFault({ stats }: StatsCall, by: readonly string[]): string | null {
  const { measure, fields } = stats;
  if (measure === undefined) return `${stats.toString()} does not run on the stream; there are ${RUNS}.`;
  if (fields.some(isPattern)) return `${stats.toString()} must name its fields, without "*".`;
  if (measure.kind !== 'count' && measure.kind !== 'rate' && fields.length === 0) return `${stats.toString()} must name its fields.`;
  if (fields.length > MAX_BY) return `The function of a rule has at most ${String(MAX_BY)} fields.`;
  const place = [...fields, ...by].find(ofPosition);
  return place === undefined ? null : `A rule neither measures nor groups by ${place}.`;
}

/** What is wrong with a filter for the stream, as a sentence. */
function filterFault(filter: Filter): string | null {
  for (const part of filter.parts ?? []) {
    const fault = filterFault(part);
    if (fault !== null) return fault;
  }
  if (filter.parts !== undefined) return null;
  if (filter.subquery !== undefined) return 'The query of a rule has no query inside it: it sees one entry at a time.';
  if (filter instanceof TimeFilter) return 'The query of a rule has no _time: filter; its windows are those of "every".';
  if (filter.fields.includes('_stream_id')) return 'The query of a rule takes streams by their labels, such as {service="web"}.';
  const pattern = filter.fields.find(isPattern);
  return pattern === undefined ? null : `The filters of a rule must name their fields, without "*" (got ${JSON.stringify(pattern)}).`;
}

/** The service that all entries of a filter are of, as far as the filter names it. */
function serviceNamedBy(filter: Filter): string {
  for (const part of filter instanceof AndFilter ? filter.parts : [filter]) {
    if (part instanceof ExactFilter && part.field === 'service') return part.value;
    if (!(part instanceof StreamFilter)) continue;
    try {
      const service = serviceOf(part.toString());
      if (service !== '') return service;
    } catch {
      // a selector that is not a label set names none
    }
  }
  return '';
}

/** Values that are right, as settings. */
export const RULE_EXAMPLES: readonly Json[] = [
  {
    ...{ id: 'ru_a', name: 'slow checkout', query: '{service="checkout"} | stats quantile(0.99, duration_ms)', every: '1m' },
    ...{ if: 'value > 500', for: 1, severity: 'warning', sensitivity: 'low', created_at: '2026-11-24T00:00:00.000Z' },
  },
  {
    ...{ id: 'ru_b', name: 'entries by app', query: '* | stats by (app) count() if (level:error)', every: '5m' },
    ...{ if: 'anomaly up', for: 1, severity: 'critical', sensitivity: 'normal', created_at: '2026-11-24T00:00:00.000Z' },
  },
  {
    ...{ id: 'ru_c', name: 'failing calls', signal: 'spans', query: 'status:error kind:server | stats by (service) count()', every: '1m' },
    ...{ if: 'value > 5', for: 2, severity: 'critical', sensitivity: 'low', created_at: '2026-11-24T00:00:00.000Z' },
  },
];
