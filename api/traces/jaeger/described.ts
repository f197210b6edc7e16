/** The description of Jaeger's query API (https://www.jaegertracing.io/docs/1.76/apis/). */
import Joi from 'joi';
import { anyMembers, list, ok, text, whole, type Operation } from '../../http/operation.ts';

const micros = Joi.string().description('Unix time in microseconds.');
const duration = Joi.string().description("Go's duration, as in 1.5s.");
const service = Joi.string();
const search = {
  ...{ service, operation: service, tags: Joi.string().description('A JSON object.'), tag: Joi.array().items(Joi.string()) },
  ...{ start: micros, end: micros, lookback: Joi.string(), minDuration: duration, maxDuration: duration },
  ...{ limit: Joi.number().integer(), traceID: Joi.array().items(Joi.string()), raw: Joi.boolean() },
};
const metrics = {
  ...{ service: Joi.array().items(Joi.string()), spanKind: Joi.array().items(Joi.string()), groupByOperation: Joi.boolean() },
  ...{ endTs: Joi.string(), lookback: Joi.string(), step: Joi.string(), ratePer: Joi.string(), quantile: Joi.number() },
};
const v3 = anyMembers().description('Each parameter as `query.service_name` or `query.serviceName`.');

const answer = ok(Joi.object({ data: Joi.any().required(), total: whole(), limit: whole(), offset: whole(), errors: Joi.any() }).unknown());
const any = ok(anyMembers());

type Path = readonly [id: string, summary: string, query: Joi.ObjectSchema, path?: Joi.ObjectSchema | null, answers?: Operation['answers']];
const id = Joi.object({ trace_id: Joi.string() });
const PATHS: Readonly<Record<string, Path>> = {
  '/api/services': ['Services', 'Services', Joi.object({})],
  '/api/services/{service}/operations': ['OperationNames', 'Names of operations', Joi.object({}), Joi.object({ service })],
  '/api/operations': ['Operations', 'Operations of a service', Joi.object({ service, spanKind: Joi.string() })],
  '/api/traces': ['Traces', 'Whole traces that match', Joi.object(search)],
  '/api/traces/{trace_id}': ['Trace', 'One trace', Joi.object({ start: micros, end: micros, raw: Joi.boolean() }), id],
  '/api/dependencies': ['Dependencies', 'Calls between services', Joi.object({ endTs: Joi.string(), lookback: Joi.string(), service })],
  '/api/metrics/latencies': ['Latencies', 'Quantiles of durations', Joi.object(metrics), null, any],
  '/api/metrics/calls': ['Calls', 'Calls by service', Joi.object(metrics), null, any],
  '/api/metrics/errors': ['Errors', 'Shares of errors', Joi.object(metrics), null, any],
  '/api/metrics/minstep': ['MinStep', 'The least step of metrics', Joi.object({})],
  '/api/v3/services': ['V3Services', 'Services', v3, null, ok(Joi.object({ services: list(text()) }).unknown())],
  '/api/v3/operations': ['V3Operations', 'Operations of a service', v3, null, any],
  '/api/v3/traces': ['V3Traces', "Whole traces that match, as OpenTelemetry's JSON", v3, null, any],
  '/api/v3/trace-summaries': ['V3Summaries', 'What lists show of traces', v3, null, any],
  '/api/v3/dependencies': ['V3Dependencies', 'Calls between services', v3, null, any],
  '/api/v3/traces/{trace_id}': ['V3Trace', "One trace, as OpenTelemetry's JSON", v3, id, any],
};

/** Of v3 any parameter may be there, and those of lists without a form are not looked at. */
function statusesOf(path: string): Pick<Operation, 'errors' | 'never'> {
  const isV3 = path.includes('/v3/');
  const isOfTraces = path.includes('/trace');
  const isFound = path.includes('{trace_id}') || path === '/api/v3/traces';
  return { errors: [...(isV3 && isOfTraces ? [400] : []), ...(isFound ? [404] : [])] };
}

/** The description of a path of Jaeger; `isRoot`: at the root of the host. */
export function describedPath(path: string, isRoot: boolean): Operation {
  const [name, summary, query, parts, answers = answer] = PATHS[path] as Path;
  return {
    ...{ id: `jaeger${isRoot ? 'Root' : ''}${name}`, tag: 'jaeger', summary, query, answers },
    ...(parts == null ? {} : { path: parts }),
    ...statusesOf(path),
  };
}
