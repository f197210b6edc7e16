/**
 * What an operation takes and answers, as joi schemas. The description of the API (`api/openapi`) is made from them: parameters from the schemas
 * that its handler checks with, answers from those that tests check every answer against.
 */
import Joi from 'joi';

/** The sections of the description. */
export const TAGS = {
  logs: 'Search, count and group entries.',
  patterns: 'Message templates, found without configuration.',
  alerts: 'Alerts and incidents, found without configuration, and what watches.',
  rules: 'What a tenant watches itself.',
  webhooks: 'Where alerts are announced.',
  traces: 'Traces, services, and calls between them.',
  metrics: 'Series and samples.',
  replay: 'What users saw.',
  live: 'Entries and alerts as they come.',
  account: 'Sessions, keys, projects, saved searches; what was refused, and what the plan allows.',
  victorialogs: 'The read API of VictoriaLogs.',
  jaeger: 'The query API of Jaeger.',
  prometheus: 'The query API of Prometheus.',
  ingest: 'What shippers send.',
  ai: 'A model explains, and writes queries.',
  mcp: 'For AI assistants.',
  service: 'The service itself.',
} as const;
export type Tag = keyof typeof TAGS;

/** What a status answers: a schema for each media type; none: no body. */
export type Answer = {
  readonly description: string;
  readonly content?: Readonly<Record<string, Joi.Schema>>;
  readonly headers?: Readonly<Record<string, string>>;
};

export type Operation = {
  /** Its name in generated clients: `searchEntries`. */
  readonly id: string;
  readonly tag: Tag;
  readonly summary: string;
  readonly description?: string;
  /** Parts of the path, but for the tenant's number. */
  readonly path?: Joi.ObjectSchema;
  readonly query?: Joi.ObjectSchema;
  /** Parameters of the URL that may as well be a form (`application/x-www-form-urlencoded`) where the method is POST. */
  readonly isForm?: true;
  /** The body by its media types; `isOptional`: it may be left out. */
  readonly body?: { readonly content: Readonly<Record<string, Joi.Schema>>; readonly isOptional?: true; readonly description?: string };
  readonly answers: Readonly<Record<number, Answer>>;
  /** Statuses of errors beyond those that all operations of its kind have. */
  readonly errors?: readonly number[];
  /** Statuses of its kind that it never has: nothing of the request is read, or nothing counts it. */
  readonly never?: readonly number[];
};

export const JSON_TYPE = 'application/json';
export const LINES_TYPE = 'application/x-ndjson';
export const EVENTS_TYPE = 'text/event-stream';
export const TEXT_TYPE = 'text/plain';

/** An answer in JSON. */
export const json = (schema: Joi.Schema, description = 'What was requested.'): Answer => ({
  description,
  content: { [JSON_TYPE]: schema },
});

/** The answers of an operation that has one that is good. */
export const ok = (schema: Joi.Schema, description?: string): { readonly 200: Answer } => ({ 200: json(schema, description) });

/** A body in JSON. */
export const jsonBody = (schema: Joi.Schema): { readonly content: Readonly<Record<string, Joi.Schema>> } => ({
  content: { [JSON_TYPE]: schema },
});

/** Members of an answer. All are there unless `optional`. */
export const members = (all: Readonly<Record<string, Joi.Schema>>, optional: Readonly<Record<string, Joi.Schema>> = {}): Joi.ObjectSchema =>
  Joi.object({ ...Object.fromEntries(Object.entries(all).map(([name, schema]) => [name, schema.required()])), ...optional });

/** A list of an answer. */
export const list = (items: Joi.Schema): Joi.ArraySchema => Joi.array().items(items);

/** An object whose names are not known. */
export const anyMembers = (values: Joi.Schema = Joi.any()): Joi.ObjectSchema => Joi.object().pattern(Joi.string().allow(''), values);

/** Any text of an answer, the empty one too. */
export const text = (description?: string): Joi.StringSchema => {
  const schema = Joi.string().allow('');
  return description === undefined ? schema : schema.description(description);
};
export const whole = (description?: string): Joi.NumberSchema => {
  const schema = Joi.number().integer();
  return description === undefined ? schema : schema.description(description);
};
/** A time of an answer. */
export const moment = (description = 'ISO 8601 in UTC, to the nanosecond where that is known.'): Joi.StringSchema =>
  Joi.string().description(description).example('2026-11-21T14:00:00Z');

/** What an answer says of its window, and hints that it may have. */
export const WINDOW_MEMBER = members({ start: moment(), end: moment() }).description('What was searched.');
export const HINTS_MEMBER = list(text()).description(
  'Sentences: names that are not known and were ignored, what the query may have meant.',
);
