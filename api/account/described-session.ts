/** The description of the endpoints of browser sessions. */
import Joi from 'joi';
import { json, jsonBody, ok, type Operation } from '../http/operation.ts';
import { KEY_ANSWER, SESSION_ANSWER } from './who.ts';

export type SessionBody = { readonly key?: string; readonly code?: string };

/** Characters of a key or a code at most. */
const MAX_SECRET = 512;
export const SESSION_BODY = Joi.object<SessionBody>({
  key: Joi.string().trim().min(1).max(MAX_SECRET).description('An API key.'),
  code: Joi.string().trim().min(1).max(MAX_SECRET).description('A one-time code of `logweir admin session code`.'),
}).oxor('key', 'code');

export const BEGIN_SESSION: Operation = {
  ...{ id: 'signIn', tag: 'account', summary: 'Signs a browser in' },
  description:
    'With an API key, in the body or in a header, or with a one-time code. Sets a cookie for 12 hours at most. It is `HttpOnly`, `SameSite=Strict`, and `Secure` behind TLS.',
  body: { ...jsonBody(SESSION_BODY), isOptional: true },
  answers: { 200: json(SESSION_ANSWER, 'Who is signed in.') },
  errors: [400, 401, 403, 413, 503],
};
export const SHOW_SESSION: Operation = {
  ...{ id: 'whoAmI', tag: 'account', summary: 'Who sends this request, and what is not allowed' },
  description: 'With a session cookie or a key of any scope.',
  answers: ok(SESSION_ANSWER),
};
export const SHOW_KEY: Operation = {
  ...{ id: 'getKey', tag: 'account', summary: 'What the key of the request may do' },
  description: 'The same as `GET /api/v1/session`, but that `plan` has name, bounds and features. Needs the scope `read`.',
  answers: ok(KEY_ANSWER),
};
export const END_SESSION: Operation = {
  ...{
    id: 'signOut',
    tag: 'account',
    summary: 'Signs a browser out',
    description: 'Ends the session on every node, and takes the cookie away.',
  },
  answers: { 204: { description: 'Signed out; also where no one was signed in.' } },
  errors: [403, 429, 503],
};
