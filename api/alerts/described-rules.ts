/** The description of the endpoints of rules. */
import Joi from 'joi';
import { json, jsonBody, list, members, moment, ok, text, whole, type Operation } from '../http/operation.ts';

export type RuleBody = {
  readonly name?: string;
  readonly query: string;
  readonly every: string;
  readonly if: string;
  readonly for: number;
  readonly severity: string;
  readonly sensitivity: string;
  readonly by: readonly string[];
};

/** Checks types only; the processor that evaluates the rule checks the values. */
export const RULE_BODY = Joi.object<RuleBody>({
  name: Joi.string().trim(),
  query: Joi.string().trim().required(),
  every: Joi.string().default('1m'),
  if: Joi.string().trim().required(),
  for: Joi.number().strict().default(1),
  severity: Joi.string().default('warning'),
  sensitivity: Joi.string().default('low'),
  by: Joi.array().items(Joi.string()).max(10).default([]),
});

/** A rule as it is shown. Kinds of rules have members of their own. */
const RULE = Joi.object({
  id: text().required(),
  created_at: moment().required(),
  name: text().required(),
  query: text().required(),
  every: text(),
  if: text(),
  for: Joi.number(),
  severity: text(),
  sensitivity: text(),
  detector: members({
    name: text(),
    state: Joi.string().valid('on', 'off', 'missing'),
    since: moment().allow(null),
    reason: text().allow(null),
  }).description('The detector of others that watches it.'),
}).unknown();
const path = Joi.object({ rule_id: Joi.string() });
const none = { 204: { description: 'Every node has deleted it.' } };

export const RULES: Operation = {
  ...{ id: 'listRules', tag: 'rules', summary: 'The rules of a tenant, oldest first' },
  answers: ok(members({ items: list(RULE), most: whole('How many the plan has.') })),
};
export const CREATE_RULE: Operation = {
  ...{ id: 'createRule', tag: 'rules', summary: 'Watches the result of a query' },
  ...{ body: jsonBody(RULE_BODY), answers: { 201: json(RULE, 'The rule.') }, errors: [409] },
};
export const ONE_RULE: Operation = {
  ...{ id: 'getRule', tag: 'rules', summary: 'One rule', path, answers: ok(RULE), errors: [404] },
};
export const CHANGE_RULE: Operation = {
  ...{ id: 'changeRule', tag: 'rules', summary: 'Sets all members of a rule', path, body: jsonBody(RULE_BODY), answers: ok(RULE) },
  errors: [404, 409],
};
export const DELETE_RULE: Operation = {
  ...{ id: 'deleteRule', tag: 'rules', summary: 'Deletes a rule', path, answers: none, errors: [404, 409] },
};
