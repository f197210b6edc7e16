/** Prometheus' `/rules` and `/alerts` (https://prometheus.io/docs/prometheus/latest/querying/api/#rules), out of the states of rules. */
import { conjunction, ofTenant, sql } from '../../pipeline/core/sql.ts';
import { readJson } from '../../pipeline/core/read-json.ts';
import { readMetricRule, type MetricRule, type ReadMetricRule } from '../../pipeline/alerting/metrics/metric-rule.ts';
import { parseSelector } from '../../promql/parser/parse.ts';
import { exponentText, readNumber } from '../../promql/values/numbers.ts';
import type { Json } from '../../pipeline/core/setting.ts';
import type { Deps, Request } from '../query/deps.ts';
import { tenantRows } from '../query/tenant-rows.ts';
import { judged } from './judged.ts';

/** The rules of the tenant as they are set, and which of them are wanted: all where a list is empty. */
export type RulesParameters = {
  readonly rules: readonly MetricRule[];
  readonly type: 'alert' | 'record' | '';
  readonly names: readonly string[];
  readonly groups: readonly string[];
  readonly files: readonly string[];
  readonly matches: readonly string[];
  readonly withAlerts: boolean;
  /** Groups of an answer, 0 for all, and the token of the group before the first one. */
  readonly limit: number;
  readonly after: string;
};

type Pairs = readonly (readonly [string, string])[];
type StateAlert = {
  readonly labels: Pairs;
  readonly annotations: Pairs;
  readonly value: string;
  readonly active_at: number;
  readonly state: 'pending' | 'firing';
  readonly kept_since: number | null;
};
type State = {
  readonly evaluated_at: number;
  readonly took_ms: number;
  readonly health: 'unknown' | 'ok' | 'err';
  readonly error: string | null;
  readonly alerts: readonly StateAlert[];
};

const NEVER: State = { evaluated_at: 0, took_ms: 0, health: 'unknown', error: null, alerts: [] };
/** The time that Go shows where there is none. */
const ZERO_TIME = '0001-01-01T00:00:00Z';
/** What groups are shown to be read from: rules of a tenant lie in no file. */
const FILE = 'logweir';

/** How each rule stands: of the states of one the last that was found. */
async function statesOf(request: Request, deps: Deps): Promise<ReadonlyMap<string, State>> {
  const rows = await tenantRows(
    sql`SELECT rule, argMax(state, (evaluated_at, version)) FROM metric_rule_states WHERE ${conjunction([ofTenant(request.tenantId)])} GROUP BY rule`,
    request,
    deps,
  );
  return new Map(rows.map(([rule, state]) => [String(rule), readJson(String(state)) as State]));
}

const shownTime = (ms: number): string => (ms === 0 ? ZERO_TIME : new Date(ms).toISOString());

const alertJson = ({ labels, annotations, value, active_at: activeAt, state, kept_since: kept }: StateAlert): object => ({
  labels: Object.fromEntries(labels),
  annotations: Object.fromEntries(annotations),
  ...{ state, activeAt: shownTime(activeAt) },
  ...(kept === null ? {} : { keepFiringSince: shownTime(kept) }),
  value: exponentText(readNumber(value) ?? NaN),
});

/** The state of a rule: that of its alerts which is worst. */
const stateOf = ({ health, alerts }: State): string =>
  alerts.some(({ state }) => state === 'firing') ? 'firing' : alerts.length > 0 ? 'pending' : health === 'unknown' ? 'unknown' : 'inactive';

function ruleJson({ kind, name, rule, forMs, keepMs, labels, annotations }: ReadMetricRule, state: State, withAlerts: boolean): object {
  const about = {
    ...{ name, query: rule.expr, health: state.health, ...(state.error === null ? {} : { lastError: state.error }) },
    ...{ evaluationTime: state.took_ms / 1000, lastEvaluation: shownTime(state.evaluated_at) },
  };
  if (kind === 'record') return { ...about, ...(Object.keys(labels).length === 0 ? {} : { labels }), type: 'recording' };
  return {
    ...{ state: stateOf(state), ...about, duration: forMs / 1000, keepFiringFor: keepMs / 1000, labels, annotations },
    ...{ alerts: withAlerts ? state.alerts.map(alertJson) : [], type: 'alerting' },
  };
}

/** Whether the labels of a rule are those that one of the selectors wants; templates are compared as they are written. */
async function matching(matches: readonly string[]): Promise<(rule: ReadMetricRule) => boolean> {
  const selectors = await judged(() => Promise.resolve(matches.map((match) => parseSelector(match))));
  return ({ labels }) =>
    selectors.length === 0 || selectors.some((selector) => selector.every((matcher) => matcher.matches(labels[matcher.name] ?? '')));
}

const isWanted = (list: readonly string[], value: string): boolean => list.length === 0 || list.includes(value);

/** `/rules`. */
export async function promqlRules(parameters: RulesParameters, request: Request, deps: Deps): Promise<string> {
  const { rules, type, names, groups, files, matches, withAlerts, limit, after } = parameters;
  const states = await statesOf(request, deps);
  const matchesLabels = await matching(matches);
  const read = rules.map((rule) => readMetricRule(rule as unknown as Json)).filter((one) => typeof one !== 'string');
  const wanted = read.filter(
    (one) =>
      (type === '' || (type === 'record') === (one.kind === 'record')) && isWanted(names, one.name) && isWanted(groups, one.rule.group) && isWanted(files, FILE) && matchesLabels(one), // prettier-ignore
  );
  const byGroup = [...Map.groupBy(wanted, ({ rule }) => rule.group)].filter(([group]) => after === '' || group > after);
  const sorted = byGroup.sort(([a], [b]) => (a < b ? -1 : 1));
  const shown = limit === 0 ? sorted : sorted.slice(0, limit);
  const data = shown.map(([name, own]) => {
    const all = own.map(({ rule }) => states.get(rule.id) ?? NEVER);
    return {
      ...{ name, file: FILE, interval: Math.min(...own.map(({ intervalMs }) => intervalMs)) / 1000, limit: 0 },
      rules: own.map((one, index) => ruleJson(one, all[index] ?? NEVER, withAlerts)),
      evaluationTime: all.reduce((sum, { took_ms: took }) => sum + took, 0) / 1000,
      lastEvaluation: shownTime(Math.max(...all.map(({ evaluated_at: at }) => at))),
    };
  });
  const last = shown.length < sorted.length ? shown.at(-1)?.[0] : undefined;
  return JSON.stringify({ status: 'success', data: { groups: data, ...(last === undefined ? {} : { groupNextToken: last }) } });
}

/** `/alerts`. */
export async function promqlAlerts({ rules }: Pick<RulesParameters, 'rules'>, request: Request, deps: Deps): Promise<string> {
  const states = await statesOf(request, deps);
  const alerts = rules.flatMap(({ id }) => states.get(id)?.alerts ?? []).map(alertJson);
  return JSON.stringify({ status: 'success', data: { alerts } });
}
