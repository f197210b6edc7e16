/** Checks of query parameters and bodies: one joi schema for each endpoint, one sentence for what was wrong. */
import Joi from 'joi';
import { MAX_QUERY_LENGTH } from '../../logsql/parser/parser.ts';
import { ALERT_SEVERITIES, ALERT_STATES } from '../../pipeline/alerting/book/alert.ts';
import { unknownNames } from './hints.ts';
import { httpErrorOf, invalidBody, invalidParameter } from '../../pipeline/core/errors.ts';

const query = Joi.string()
  .trim(false)
  .max(MAX_QUERY_LENGTH)
  .custom((text: string) => {
    if (text.trim() === '') throw new Error('is empty; use "*" for all entries');
    return text;
  })
  .description('LogsQL; `*` for all entries.')
  .example('level:error service:web');
/** A query of a body that has messages of its own. */
export const previewQuery = query.messages({ 'any.custom': '{{#label}} {{#error.message}}' });
const TIMES = 'A time: `now`, back from now (`-15m`, `-7d`), ISO 8601 (also partial), or Unix time in s, ms, µs or ns.';
export const time = Joi.alternatives(Joi.string(), Joi.number().unsafe())
  .custom((value: string | number) => String(value))
  .description(TIMES)
  .example('-15m');
const messages = {
  'any.custom': '{{#label}} {{#error.message}}',
  'string.empty': '{{#label}} is empty',
  'string.max': '{{#label}} has more than {{#limit}} characters',
};

export type SearchParameters = {
  readonly query: string;
  readonly start: string;
  readonly end: string;
  readonly limit: number;
  readonly before: string | null;
  /** What is said of members of the body that are not known. */
  readonly notes?: readonly string[];
};
export type WindowParameters = { readonly query: string; readonly start: string; readonly end: string };
export type HitsParameters = WindowParameters & { readonly step: string; readonly fields_by: readonly string[] };

export type FacetsParameters = WindowParameters & { readonly limit: number };

export const searchSchema = Joi.object<SearchParameters>({
  query: query.required(),
  start: time.default('-1h'),
  end: time.default('now'),
  limit: Joi.number().integer().min(1).max(10_000).default(1000).description('Most entries of the page.'),
  before: time.allow(null).default(null).description('The `oldest_time` of the page before.'),
});

const SEARCH_MEMBERS = ['query', 'start', 'end', 'limit', 'before'];
/** The parameters that each endpoint knows. */
export const WINDOW = ['query', 'start', 'end'] as const;
export const HITS = [...WINDOW, 'step', 'fields_by'] as const;
export const FACETS = [...WINDOW, 'limit'] as const;
export const ALERTS = ['state', 'severity', 'detector_type', 'service', 'since', 'until', 'limit', 'offset'] as const;
export const INCIDENTS = ['state', 'service', 'since', 'until', 'limit', 'offset'] as const;
export const MEASURES = ['name', 'start', 'end', 'label', 'service'] as const;

export const windowSchema = Joi.object<WindowParameters>({
  query: query.default('*'),
  start: time.default('-1h'),
  end: time.default('now'),
});

/** Fields that cannot be grouped by, since the answer uses their names. */
const TAKEN = ['time', 'hits', 'stream', '_time'];
export const STEPS: Readonly<Record<string, number>> = { '1m': 60, '5m': 300, '15m': 900, '1h': 3600, '6h': 21_600, '1d': 86_400 };

export const hitsSchema = windowSchema.append<HitsParameters>({
  step: Joi.string()
    .valid(...Object.keys(STEPS))
    .default('1m')
    .description('The width of a bucket; buckets are aligned in UTC.'),
  fields_by: Joi.array()
    .items(
      Joi.string()
        .max(256)
        .invalid(...TAKEN),
    )
    .max(10)
    .default([])
    .description('Fields to group by; repeated, or with commas.')
    .messages({
      'any.invalid': '{{#label}} cannot be "time", "_time", "hits" or "stream", which the answer uses itself',
      'array.max': '{{#label}} has more than 10 fields',
    }),
});

export const facetsSchema = windowSchema.append<FacetsParameters>({
  limit: Joi.number().integer().min(1).max(1000).default(20).description('Values of each field.'),
});

export type MeasuresParameters = Omit<WindowParameters, 'query'> & {
  readonly name: string | null;
  /** Names and values that a series must have; one without the label has the value ''. */
  readonly labels: readonly (readonly [string, string])[];
};

const LABEL_HINT = 'must be a name and a value, as in label=zone:eu';
const measuresSchema = Joi.object<MeasuresParameters>({
  start: time.default('-1d'),
  end: time.default('now'),
  name: Joi.string().max(100).allow(null).default(null),
  labels: Joi.array()
    .items(Joi.array().items(Joi.string().allow('').max(4096)).length(2))
    .max(10)
    .label('label'),
});

export type AlertsParameters = {
  readonly state: string | null;
  readonly severity: string | null;
  readonly detector_type: string | null;
  readonly service: string | null;
  /** Fired then or later, and then or earlier; as in windows. */
  readonly since: string | null;
  readonly until: string | null;
  readonly limit: number;
  readonly offset: number;
};

export const alertsSchema = Joi.object<AlertsParameters>({
  state: Joi.string()
    .valid(...ALERT_STATES, 'all')
    .default(null),
  severity: Joi.string()
    .valid(...ALERT_SEVERITIES, 'all')
    .default(null),
  detector_type: Joi.string().max(100).default(null).description('Which detector has found it.').example('log_rate'),
  service: Joi.string().max(512).default(null).description('The service that it is about.').example('web'),
  since: time.default(null),
  until: time.default(null),
  limit: Joi.number().integer().min(1).max(2000).default(100),
  offset: Joi.number().integer().min(0).max(1_000_000_000).default(0).description('How many come before the page.'),
});

export type IncidentsParameters = Pick<AlertsParameters, 'state' | 'service' | 'since' | 'until' | 'limit' | 'offset'>;

export const incidentsSchema = Joi.object<IncidentsParameters>({
  ...{ state: Joi.string().valid(...ALERT_STATES, 'all').default(null), service: Joi.string().max(512).default(null) }, // prettier-ignore
  ...{ since: time.default(null), until: time.default(null) },
  limit: Joi.number().integer().min(1).max(100).default(50),
  offset: Joi.number().integer().min(0).max(1_000_000_000).default(0),
});

export type AlertParameters = { readonly id: number };

export const resolveSchema = Joi.object<{ readonly note: string | null }>({ note: Joi.string().allow('', null).max(4096).default('') });

/** Schemas with the preferences of `check`: joi compiles these once, in place of 30 µs for each request. */
const prepared = new WeakMap<Joi.ObjectSchema, Joi.ObjectSchema>();
function preparedOf<T>(schema: Joi.ObjectSchema<T>): Joi.ObjectSchema<T> {
  const known = prepared.get(schema);
  if (known !== undefined) return known as Joi.ObjectSchema<T>;
  const made = schema.prefs({ abortEarly: true, stripUnknown: true, convert: true, messages, errors: { wrap: { label: false } } });
  prepared.set(schema, made);
  return made;
}

export function check<T>(schema: Joi.ObjectSchema<T>, value: unknown): T {
  const result = preparedOf(schema).validate(value);
  if (result.error !== undefined) throw httpErrorOf(result.error) ?? invalidParameter(`${result.error.message}.`);
  return result.value;
}

/** The body of `/search`. */
export function searchParameters(body: unknown): SearchParameters {
  if (typeof body !== 'object' || body === null || Array.isArray(body)) throw invalidBody('The body must be a JSON object with a "query".');
  return { ...check(searchSchema, body), notes: unknownNames(Object.keys(body), SEARCH_MEMBERS, 'member') };
}

/** Parameters of the URL; those that appear once as strings. */
export const single = (parameters: URLSearchParams, names: readonly string[]): Record<string, unknown> =>
  Object.fromEntries(names.flatMap((name) => (parameters.has(name) ? [[name, parameters.get(name) ?? '']] : [])));

export const windowParameters = (parameters: URLSearchParams): WindowParameters => check(windowSchema, single(parameters, WINDOW));

export function hitsParameters(parameters: URLSearchParams): HitsParameters {
  // a value with commas is a list, and a field that is named twice counts once
  const fields = parameters.getAll('fields_by').flatMap((text) => text.split(',').map((name) => name.trim()));
  const named = [...new Set(fields.filter((name) => name !== ''))];
  return check(hitsSchema, { ...single(parameters, HITS), fields_by: named });
}

export const facetsParameters = (parameters: URLSearchParams): FacetsParameters => check(facetsSchema, single(parameters, FACETS));

export function measuresParameters(parameters: URLSearchParams): MeasuresParameters {
  const labels = parameters.getAll('label').map((text) => {
    const [, name, value] = /^([^:]+):([^]*)$/.exec(text) ?? [];
    if (name === undefined || value === undefined) throw invalidParameter(`label ${JSON.stringify(text)} ${LABEL_HINT}.`);
    return [name, value];
  });
  const service = parameters.has('service') ? [['service', parameters.get('service') ?? '']] : [];
  return check(measuresSchema, { ...single(parameters, ['name', 'start', 'end']), labels: [...service, ...labels] });
}

export const alertsParameters = (parameters: URLSearchParams): AlertsParameters => check(alertsSchema, single(parameters, ALERTS));

export const incidentsParameters = (parameters: URLSearchParams): IncidentsParameters =>
  check(incidentsSchema, single(parameters, INCIDENTS));

/** The number of an alert or incident in a path. Throws HttpError 400. */
export function alertParameters(id: string | undefined, what = 'alert'): AlertParameters {
  const number = Number(id);
  if (!/^[1-9]\d{0,15}$/.test(id ?? '') || !Number.isSafeInteger(number))
    throw invalidParameter(`The id of an ${what} is a positive integer (got ${JSON.stringify(id)}).`);
  return { id: number };
}

/** The note of a resolution, empty for none. Throws HttpError 400. */
export function resolveParameters(body: unknown): string {
  if (body !== undefined && (typeof body !== 'object' || body === null || Array.isArray(body)))
    throw invalidBody('The body must be a JSON object, or nothing.');
  return check(resolveSchema, body ?? {}).note ?? '';
}
