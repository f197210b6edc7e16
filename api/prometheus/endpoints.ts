import { HttpError } from '../../pipeline/core/errors.ts';
import type { Endpoint } from '../http/endpoint.ts';
import type { Exchange } from '../http/exchange.ts';
import type { QueryRuntime } from '../query/runtime.ts';
import { readArguments, type Arguments } from '../select/arguments.ts';
import { describedPath } from './described.ts';
import type { ExemplarParameters } from './exemplars.ts';
import type { MetricRule } from '../../pipeline/alerting/metrics/metric-rule.ts';
import type { MetadataParameters, PromqlQuery, SeriesParameters } from './operations.ts';
import type { RulesParameters } from './rule-states.ts';
import { durationOf, limitOf, queryOf, requiredDuration, requiredTime, timeOf } from './parameters.ts';

const BASE = '/api/v1/tenants/{tenant_id}/prometheus/api/v1';
/** Most selectors of a request. */
const MAX_SELECTORS = 20;

/** A path below BASE, the operation of the engine, and what that is given. */
type PromPath = readonly [path: string, operation: string, read: (from: Arguments, exchange: Exchange, rules: RulesOf) => unknown];

/** The rules of a tenant over metrics, as they are set. */
type RulesOf = (tenantId: number) => readonly MetricRule[];

const common = (from: Arguments): Pick<PromqlQuery, 'query' | 'lookback' | 'limit' | 'stats'> => ({
  query: queryOf(from),
  lookback: durationOf(from, 'lookback_delta'),
  limit: limitOf(from),
  stats: (from.get('stats') ?? '') !== '',
});

function atOnce(from: Arguments): PromqlQuery {
  const time = timeOf(from, 'time') ?? Date.now();
  return { ...common(from), start: time, end: time, step: null };
}

const overRange = (from: Arguments): PromqlQuery => ({
  ...common(from),
  start: requiredTime(from, 'start'),
  end: requiredTime(from, 'end'),
  step: requiredDuration(from, 'step'),
});

function seriesOf(from: Arguments): SeriesParameters {
  const matches = from.getAll('match[]');
  if (matches.length > MAX_SELECTORS)
    throw new HttpError(400, 'bad_data', `a request has at most ${String(MAX_SELECTORS)} parameters "match[]"`);
  const [start, end] = [timeOf(from, 'start'), timeOf(from, 'end')];
  if (start !== null && end !== null && end < start) throw new HttpError(400, 'bad_data', 'invalid parameter "end": end timestamp must not be before start time'); // prettier-ignore
  return { matches, start, limit: limitOf(from) };
}

function selectedSeries(from: Arguments): SeriesParameters {
  const parameters = seriesOf(from);
  if (parameters.matches.length === 0) throw new HttpError(400, 'bad_data', 'no match[] parameter provided');
  return parameters;
}

function exemplarsOf(from: Arguments): ExemplarParameters {
  const [start, end] = [timeOf(from, 'start'), timeOf(from, 'end')];
  if (start !== null && end !== null && end < start)
    throw new HttpError(400, 'bad_data', 'end timestamp must not be before start timestamp');
  return { query: queryOf(from), start, end };
}

const metadataOf = (from: Arguments): MetadataParameters => ({
  metric: from.get('metric') ?? '',
  limit: limitOf(from),
  perMetric: limitOf(from, 'limit_per_metric'),
});

/** `type=alert`, `rule_name[]` and so on. */
function rulesOf(from: Arguments, { principal: { tenantId } }: Exchange, rules: RulesOf): RulesParameters {
  const type = from.get('type') ?? '';
  if (type !== '' && type !== 'alert' && type !== 'record')
    throw new HttpError(400, 'bad_data', `invalid parameter "type": not supported value ${JSON.stringify(type)}`);
  const exclude = from.get('exclude_alerts') ?? '';
  if (!['', 'true', 'false', '1', '0', 't', 'f'].includes(exclude.toLowerCase()))
    throw new HttpError(400, 'bad_data', `invalid parameter "exclude_alerts": error converting ${JSON.stringify(exclude)} to a bool`);
  const matches = seriesOf(from).matches;
  return {
    ...{ rules: rules(tenantId), type, matches, names: from.getAll('rule_name[]'), groups: from.getAll('rule_group[]') },
    ...{ files: from.getAll('file[]'), withAlerts: !['true', '1', 't'].includes(exclude.toLowerCase()) },
    ...{ limit: limitOf(from, 'group_limit'), after: from.get('group_next_token') ?? '' },
  };
}

const PATHS: readonly PromPath[] = [
  ['/query', 'prometheus/query', atOnce],
  ['/query_range', 'prometheus/query', overRange],
  ['/series', 'prometheus/series', selectedSeries],
  ['/labels', 'prometheus/labels', seriesOf],
  ['/label/{name}/values', 'prometheus/label-values', (from, { params }) => ({ ...seriesOf(from), name: params['name'] ?? '' })],
  ['/metadata', 'prometheus/metadata', metadataOf],
  ['/query_exemplars', 'prometheus/exemplars', exemplarsOf],
  ['/rules', 'prometheus/rules', rulesOf],
  ['/alerts', 'prometheus/alerts', (_from, { principal: { tenantId } }, rules) => ({ rules: rules(tenantId) })],
  ['/format_query', 'prometheus/format', (from) => ({ query: queryOf(from) })],
  ['/parse_query', 'prometheus/parse', (from) => ({ query: queryOf(from) })],
];

/** What Grafana looks for in order to know what it may ask. */
const BUILD = { version: '3.0.0', revision: 'logweir', branch: '', buildUser: '', buildDate: '', goVersion: '' };

/** Prometheus' query API (https://prometheus.io/docs/prometheus/latest/querying/api/) over the samples of a tenant, with Prometheus' errors. */
export function createPrometheusEndpoints(runtime: QueryRuntime, rules: RulesOf): readonly Endpoint[] {
  const endpoint = (path: string, handle: Endpoint['handle']): Endpoint => ({
    ...{ methods: ['GET', 'POST'], path: BASE + path, errors: 'promql', access: { plane: 'app', scope: 'read' }, handle },
    ...describedPath(path),
  });
  return [
    ...PATHS.map(([path, operation, read]) =>
      endpoint(path, async (exchange) => {
        const from = await readArguments(exchange);
        const options = { timeoutMs: durationOf(from, 'timeout') ?? undefined };
        return { status: 200, ...(await runtime.run(exchange, operation, read(from, exchange, rules), options)) };
      }),
    ),
    endpoint('/status/buildinfo', () => Promise.resolve({ status: 200, body: { status: 'success', data: BUILD } })),
  ];
}
