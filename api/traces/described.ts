/** The description of the endpoints of traces. */
import Joi from 'joi';
import { anyMembers, HINTS_MEMBER, list, members, moment, ok, text, whole, WINDOW_MEMBER, type Operation } from '../http/operation.ts';
import { SEARCH } from '../search/described.ts';
import { logsSchema, tracesSchema, windowSchema } from './parameters.ts';

const page = { window: WINDOW_MEMBER };
const hints = { hints: HINTS_MEMBER };
const summary = members({
  trace_id: text(),
  root_service: text(),
  root_operation: text(),
  has_root: Joi.boolean().description('False where the span without a parent has not arrived.'),
  start: moment(),
  duration: whole('Nanoseconds.'),
  ...{ spans: whole(), errors: whole(), services: list(text()) },
});
const path = Joi.object({ trace_id: Joi.string().hex() });

export const TRACES: Operation = {
  ...{ id: 'listTraces', tag: 'traces', summary: 'Traces with a span that matches, newest first', query: tracesSchema },
  answers: ok(members({ traces: list(summary), next_cursor: text().allow(null), ...page }, hints)),
};
export const TRACE: Operation = {
  ...{ id: 'getTrace', tag: 'traces', summary: "A trace, as OpenTelemetry's JSON", path, errors: [404] },
  answers: ok(members({ resourceSpans: list(anyMembers()) }, hints)),
};
export const TRACE_LOGS: Operation = {
  ...{ id: 'searchTraceLogs', tag: 'traces', summary: 'The entries of a trace', path, query: logsSchema, errors: [404] },
  answers: SEARCH.answers,
};
const edge = Joi.object({
  caller: text().required(),
  callee: text().required(),
  calls: whole().required(),
  errors: whole().required(),
}).unknown();
export const SERVICE_MAP: Operation = {
  ...{ id: 'getServiceMap', tag: 'traces', summary: 'Calls between services', query: windowSchema },
  answers: ok(Joi.object({ edges: list(edge).required(), window: WINDOW_MEMBER.required(), hints: HINTS_MEMBER }).unknown()),
};
export const SERVICES: Operation = {
  ...{ id: 'listServices', tag: 'traces', summary: 'Services that have sent spans', query: windowSchema },
  answers: ok(members({ services: list(text()), has_more: Joi.boolean(), ...page }, hints)),
};
export const OPERATIONS: Operation = {
  ...{
    id: 'listOperations',
    tag: 'traces',
    summary: 'Operations of a service',
    path: Joi.object({ service: Joi.string() }),
    query: windowSchema,
  },
  answers: ok(members({ operations: list(Joi.any()), has_more: Joi.boolean(), ...page }, hints)),
};
