/** The description of the AI endpoints. */
import Joi from 'joi';
import { anyMembers, EVENTS_TYPE, JSON_TYPE, jsonBody, list, members, ok, text, whole, type Operation } from '../http/operation.ts';
import { explainSchema, querySchema } from './parameters.ts';

const message = members({ role: Joi.string().valid('system', 'user', 'assistant'), content: text() });
const sent = list(message).description('All that the model was sent.');
const use = members({ used: whole(), limit: whole().allow(null).description('`null`: none.') });
const model = text('The model that answered.');
const playbooks = list(members({ id: text(), name: text() })).description('Playbooks that fit, and were sent.');
const maskedCount = whole('Secrets that were masked in what was sent.');

const explained = members({
  answer: text('What the model wrote.'),
  ended: Joi.string().valid('complete', 'cut'),
  ...{ model, sent, masked: maskedCount, playbooks },
});

export const EXPLAIN: Operation = {
  ...{ id: 'explain', tag: 'ai', summary: 'A model explains an alert, an incident, a pattern or entries' },
  description: 'Costs one AI credit. As events: `sent` (model, messages, masked, playbooks), `text` (a string) again and again, then `done` (ended) or `error` (detail).', // prettier-ignore
  body: jsonBody(explainSchema),
  answers: {
    200: { description: 'Events, or with `"stream":false` one object.', content: { [EVENTS_TYPE]: text(), [JSON_TYPE]: explained } },
  },
  errors: [404, 502],
};
export const QUERY: Operation = {
  ...{ id: 'writeQuery', tag: 'ai', summary: 'A model turns a question into LogsQL, which is checked' },
  description: 'Costs one AI credit. The query was parsed and planned, and nothing was read with it.',
  body: jsonBody(querySchema),
  answers: ok(
    members({
      ...{ query: text('LogsQL.'), start: text(), end: text() },
      rounds: whole('2 where the first query was wrong, and the model repaired it.'),
      explain: anyMembers().description('How it would run.'),
      ...{ model, sent, masked: maskedCount },
    }),
  ),
  errors: [502],
};
export const CREDITS: Operation = {
  ...{ id: 'getCredits', tag: 'ai', summary: 'AI credits of today, which reset at 00:00 UTC' },
  answers: ok(
    members({ total: use, features: anyMembers(use), is_configured: Joi.boolean().description('Whether this deployment has a model.') }),
  ),
};
