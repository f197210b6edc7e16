/** The description of Prometheus' query API (https://prometheus.io/docs/prometheus/latest/querying/api/). */
import Joi from 'joi';
import { anyMembers, list, members, ok, text, type Operation } from '../http/operation.ts';

const time = Joi.alternatives(Joi.string(), Joi.number()).description('Unix time in seconds, or RFC 3339.');
const duration = Joi.alternatives(Joi.string(), Joi.number()).description('Seconds, or a duration such as 5m.');
const query = Joi.string().required().description('PromQL.').example('sum by (job) (rate(http_requests_total[5m]))');
const limit = Joi.number().integer().min(0).description('Most series of the answer; 0 for all.');
const evaluated = { query, timeout: duration, lookback_delta: duration, limit, stats: Joi.string() };
const match = Joi.array().items(Joi.string()).description('Selectors; repeated.');
const series = { 'match[]': match, start: time, end: time, limit };

const success = (data: Joi.Schema): Operation['answers'] =>
  ok(members({ status: Joi.string().valid('success'), data }, { warnings: list(text()), infos: list(text()) }));
const result = members(
  { resultType: Joi.string().valid('vector', 'matrix', 'scalar', 'string'), result: Joi.array() },
  { stats: anyMembers() },
);

type Path = readonly [id: string, summary: string, query: Readonly<Record<string, Joi.Schema>>, data: Joi.Schema, name?: Joi.Schema];
const PATHS: Readonly<Record<string, Path>> = {
  '/query': ['promQuery', 'A PromQL expression at one time', { ...evaluated, time }, result],
  '/query_range': [
    'promQueryRange',
    'A PromQL expression over a range of times',
    { ...evaluated, start: time.required(), end: time.required(), step: duration.required() },
    result,
  ],
  '/series': ['promSeries', 'Series that selectors match', { ...series, 'match[]': match.required() }, list(anyMembers(text()))],
  '/labels': ['promLabels', 'Names of labels', series, list(text())],
  '/label/{name}/values': ['promLabelValues', 'Values of a label', series, list(text()), Joi.string()],
  '/metadata': ['promMetadata', 'Types, units and descriptions', { metric: Joi.string(), limit, limit_per_metric: limit }, anyMembers()],
  '/query_exemplars': [
    'promExemplars',
    'Exemplars of the series of an expression',
    { query, start: time, end: time, limit },
    list(members({ seriesLabels: anyMembers(text()), exemplars: list(anyMembers()) })),
  ],
  '/rules': [
    'promRules',
    'Rules over metrics, with their alerts',
    {
      type: Joi.string().valid('alert', 'record'),
      ...{ 'rule_name[]': match, 'rule_group[]': match, 'file[]': match, 'match[]': match, exclude_alerts: Joi.string() },
      ...{ group_limit: limit, group_next_token: Joi.string() },
    },
    Joi.object({ groups: list(anyMembers()).required(), groupNextToken: text() }),
  ],
  '/alerts': ['promAlerts', 'Alerts of rules over metrics', {}, members({ alerts: list(anyMembers()) })],
  '/format_query': ['promFormat', 'An expression, formatted', { query }, text()],
  '/parse_query': ['promParse', 'An expression as a tree', { query }, anyMembers()],
  '/status/buildinfo': ['promBuildInfo', 'What Grafana looks for', {}, anyMembers(text())],
};

/** Expressions that cannot be evaluated are 422; what reads no series cannot have one. */
const statusesOf = (path: string): Pick<Operation, 'errors' | 'never'> => ({
  ...(['/query', '/query_range', '/query_exemplars', '/series', '/labels', '/label/{name}/values'].includes(path) ? { errors: [422] } : {}),
  ...(path === '/status/buildinfo' ? { never: [400, 413, 408, 429, 504] } : {}),
});

/** The description of a path below `…/prometheus/api/v1`; none for one that is not in the table. */
export function describedPath(path: string): { readonly operation?: Operation } {
  const found = PATHS[path];
  if (found === undefined) return {};
  const [id, summary, parameters, data, name] = found;
  const operation: Operation = {
    ...{ id, tag: 'prometheus', summary, query: Joi.object(parameters), isForm: true, answers: success(data) },
    ...statusesOf(path),
    ...(name === undefined ? {} : { path: Joi.object({ name }) }),
  };
  return { operation };
}
