/** The description of the endpoints of a tenant's keys. */
import Joi from 'joi';
import { listParameters, pageAnswer } from '../http/lists.ts';
import { json, jsonBody, list, members, moment, text, type Operation } from '../http/operation.ts';
import type { Scope } from '../tenants/principal.ts';

export type KeyBody = {
  readonly name?: string;
  readonly scopes: readonly Scope[];
  readonly expires: string | null;
  readonly project?: string;
};

/** Characters of a name, and of an id. */
const [MAX_NAME, MAX_ID] = [200, 100];
const scopes = Joi.array()
  .items(Joi.string().valid('read', 'write', 'ingest'))
  .min(1)
  .unique()
  .default(['read']);
export const KEY_BODY = Joi.object<KeyBody>({
  name: Joi.string().trim().min(1).max(MAX_NAME),
  scopes: scopes.description('None that the key of the request lacks.'),
  expires: Joi.string().isoDate().allow(null).default(null).description('No later than the key of the request.'),
  project: Joi.string().max(MAX_ID).description('The id of a project that the key is narrowed to.'),
});

const KEY = {
  id: text(),
  name: text().allow(null),
  scopes: list(Joi.string().valid('read', 'write', 'ingest')),
  project_id: text().allow(null),
  created_at: moment(),
  expires_at: moment().allow(null),
  last_used: moment('To the hour where another process has seen it; null where that is not known.').allow(null),
  is_own: Joi.boolean().description('It is the key of the request, or of its session.'),
};

export const KEY_LIST = listParameters(['name', 'created_at', 'expires_at', 'last_used']);
export const KEYS: Operation = {
  ...{ id: 'listKeys', tag: 'account', summary: 'The keys of a tenant that are not revoked, oldest first' },
  ...{ query: KEY_LIST, answers: pageAnswer(members(KEY)) },
};
export const CREATE_KEY: Operation = {
  ...{ id: 'createKey', tag: 'account', summary: 'Issues a key, which is shown this once', body: jsonBody(KEY_BODY), errors: [404, 409] },
  description: 'A key never gets a scope, a time or data that the key of the request lacks.',
  answers: { 201: json(members({ ...KEY, key: text('The secret.') }), 'The key, with its secret.') },
};
export const REVOKE_KEY: Operation = {
  ...{ id: 'revokeKey', tag: 'account', summary: 'Revokes a key', path: Joi.object({ key_id: Joi.string() }), errors: [404, 409] },
  answers: { 204: { description: 'Every process refuses it.' } },
};
