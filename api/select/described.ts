/** The description of VictoriaLogs' read API (https://docs.victoriametrics.com/victorialogs/querying/#http-api). */
import Joi from 'joi';
import { anyMembers, json, LINES_TYPE, list, members, ok, text, whole, type Answer, type Operation } from '../http/operation.ts';

const time = Joi.string().description('A time as VictoriaLogs reads it; without one all entries that the plan keeps.');
const common = {
  query: Joi.string().required().description('LogsQL.').example('level:error'),
  ...{ start: time, end: time },
  timeout: Joi.string().description('Shortens the time that the query may take.').example('10s'),
  extra_filters: Joi.array().items(Joi.string()).description('LogsQL or JSON that entries match too; repeated.'),
  extra_stream_filters: Joi.array().items(Joi.string()).description('As `extra_filters`, of streams.'),
};
const limit = Joi.number().integer().min(0);
const step = Joi.string().default('1d');
const offset = Joi.string().description('Moves buckets.');
const field = Joi.string().required();
const filter = Joi.string().allow('').description('Text that the name or value has.');

/** JSON lines. */
const LINES: Answer = {
  description: 'JSON lines; all values are strings.',
  content: { [LINES_TYPE]: anyMembers(text()), 'application/stream+json': anyMembers(text()) },
};
const values = ok(members({ values: list(members({ value: text(), hits: whole() })) }));
const vector = ok(members({ status: Joi.string().valid('success'), data: anyMembers() }, { stats: anyMembers() }));
const hits = ok(members({ hits: list(anyMembers()) }));
const facets = ok(
  members({ facets: list(members({ field_name: text(), values: list(members({ field_value: text(), hits: whole() })) })) }),
);

type Path = readonly [id: string, summary: string, more: Readonly<Record<string, Joi.Schema>>, answers: Operation['answers']];
const PATHS: Readonly<Record<string, Path>> = {
  query: ['vlQuery', 'Entries as JSON lines', { limit, offset: limit }, { 200: LINES }],
  hits: [
    'vlHits',
    'How many entries match, in buckets',
    { step, offset, field: Joi.array().items(Joi.string()), fields_limit: limit },
    hits,
  ],
  facets: [
    'vlFacets',
    'The most frequent values of each field',
    { limit, max_values_per_field: limit, max_value_len: limit, keep_const_fields: Joi.string() },
    facets,
  ],
  stats_query: ['vlStats', "Stats as Prometheus' vector", { time }, vector],
  stats_query_range: ['vlStatsRange', "Stats as Prometheus' matrix", { step, offset }, vector],
  field_names: ['vlFieldNames', 'Names of fields', { filter }, values],
  field_values: ['vlFieldValues', 'Values of a field', { field, limit, filter }, values],
  stream_field_names: ['vlStreamFieldNames', 'Names of labels of streams', { filter }, values],
  stream_field_values: ['vlStreamFieldValues', 'Values of a label of streams', { field, limit, filter }, values],
  streams: ['vlStreams', 'Streams', { limit }, values],
  stream_ids: ['vlStreamIds', 'Ids of streams', { limit }, values],
};

/** The description of a path below `/select/logsql/`. */
export function describedPath(name: string): Operation {
  const [id, summary, more, answers] = PATHS[name] as Path;
  return { id, tag: 'victorialogs', summary, query: Joi.object({ ...common, ...more }), isForm: true, answers };
}

export const TAIL: Operation = {
  ...{ id: 'vlTail', tag: 'live', summary: 'Entries as JSON lines, as they come' },
  query: Joi.object({
    ...common,
    start_offset: Joi.string().default('5s'),
    offset: Joi.string().default('5s'),
    refresh_interval: Joi.string(),
  }),
  ...{ isForm: true, answers: { 200: LINES } },
};
export const TENANT_IDS: Operation = {
  ...{ id: 'vlTenantIds', tag: 'victorialogs', summary: 'The tenant of the key', never: [400, 408, 413, 429, 504] },
  answers: { 200: json(list(members({ account_id: whole(), project_id: whole() }))) },
};
