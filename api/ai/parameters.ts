import Joi from 'joi';
import { MAX_QUERY_LENGTH } from '../../logsql/parser/parser.ts';
import { invalidBody } from '../../pipeline/core/errors.ts';

/** Most characters of a question. */
const MAX_QUESTION = 2000;

const id = Joi.number().integer().min(1);
const time = Joi.string().max(100);
const question = Joi.string().trim().min(1).max(MAX_QUESTION);
const stream = Joi.boolean().default(true).description('Server-Sent Events; `false`: one JSON object when all of it is there.');

/** What `/ai/explain` takes. */
export const explainSchema = Joi.object({
  alert_id: id.description('Explain this alert.'),
  incident_id: id.description('Explain this incident.'),
  fingerprint: Joi.string().pattern(/^[0-9a-f]{1,64}$/).description('Explain this pattern.'), // prettier-ignore
  query: Joi.string().max(MAX_QUERY_LENGTH).description('Explain the entries that this LogsQL finds.').example('service:web level:error'),
  start: time.description('Of the entries: from when on.').example('-1h'),
  end: time.description('Of the entries: until when.').example('now'),
  question: question.description('What in particular is of interest.'),
  deep: Joi.boolean()
    .default(false)
    .description('With what else changed and fails: a deep root cause analysis, which has a share of credits.'),
  stream,
});
/** What `/ai/query` takes. */
export const querySchema = Joi.object({
  question: question.required().description('In plain words.').example('errors of payments in the last hour, by pod'),
  start: time.default('-1h').description('From when on the query shall look.'),
  end: time.default('now').description('Until when.'),
});

export type ExplainParameters = {
  readonly alert_id?: number;
  readonly incident_id?: number;
  readonly fingerprint?: string;
  readonly query?: string;
  readonly start?: string;
  readonly end?: string;
  readonly question?: string;
  readonly deep?: boolean;
  readonly stream?: boolean;
};
export type QueryParameters = { readonly question: string; readonly start: string; readonly end: string };

/** The body by a schema; members that it does not have are refused, since a misspelt one would be paid for. Throws HttpError 400. */
export function bodyBy(schema: Joi.ObjectSchema, body: unknown): unknown {
  if (typeof body !== 'object' || body === null || Array.isArray(body)) throw invalidBody('The body must be a JSON object.');
  // joi overlooks this one
  const objects = [body, ...Object.values<unknown>(body as Record<string, unknown>)].filter(
    (one): one is object => typeof one === 'object' && one !== null,
  );
  if (objects.some((one) => Object.hasOwn(one, '__proto__'))) throw invalidBody('"__proto__" is not allowed.');
  const { error, value } = schema.validate(body, { errors: { wrap: { label: false } } }) as { error?: Joi.ValidationError; value: unknown };
  if (error !== undefined) throw invalidBody(`${error.message}.`);
  return value;
}
