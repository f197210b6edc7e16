import type Joi from 'joi';
import { invalidBody } from '../../pipeline/core/errors.ts';

/** The body as the schema wants it; one 400 with all that is wrong. */
export function checkedBody<Value>(schema: Joi.ObjectSchema<Value>, body: unknown): Value {
  if (body === undefined) throw invalidBody('The body is missing.');
  const result = schema.validate(body, { abortEarly: false });
  if (result.error !== undefined) throw invalidBody(`${result.error.details.map((detail) => detail.message).join('; ')}.`);
  return result.value;
}
