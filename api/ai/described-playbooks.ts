/** The description of the endpoints of playbooks. */
import Joi from 'joi';
import { listParameters, pageAnswer } from '../http/lists.ts';
import { json, jsonBody, list, members, moment, ok, text, whole, type Operation } from '../http/operation.ts';

/** Characters of a playbook and of its name; names of a part of a selector, and characters of one; characters of a pattern. */
const [MAX_TEXT, MAX_NAME, MAX_NAMES, MAX_SELECTED, MAX_PATTERN] = [20_000, 200, 20, 200, 500];

export type Selector = {
  readonly services: readonly string[];
  readonly detectors: readonly string[];
  readonly rules: readonly string[];
  readonly pattern: string;
};
export type PlaybookBody = { readonly name: string; readonly text: string; readonly selector?: Selector };

const names = Joi.array().items(Joi.string().trim().min(1).max(MAX_SELECTED)).max(MAX_NAMES).unique().default([]);
const PARTS = {
  services: names.description('One of these services.'),
  detectors: names.description('One of these types of alert, such as `error_rate`, or `rule`.'),
  rules: names.description('One of these rules, by name or id.'),
  pattern: Joi.string().trim().allow('').max(MAX_PATTERN).default('').description('In title, description or message template; letters of both cases are the same.'), // prettier-ignore
};
/** Whether it would fit every alert. */
export const isEmptySelector = ({ services, detectors, rules, pattern }: Selector): boolean =>
  services.length + detectors.length + rules.length + pattern.length === 0;

/** For which alerts a playbook is. */
export const SELECTOR = Joi.object<Selector>(PARTS);
const EMPTY = '{{#label}} must have one of services, detectors, rules and pattern';
export const PLAYBOOK_BODY = Joi.object<PlaybookBody>({
  name: Joi.string().trim().min(1).max(MAX_NAME).required().example('Payments are refused'),
  text: Joi.string().min(1).max(MAX_TEXT).required().description('Markdown.'),
  selector: SELECTOR.custom((value: Selector, helpers) =>
    isEmptySelector(value) ? helpers.message({ custom: EMPTY }) : value,
  ).description('The alerts that it is for: all parts that are given have to fit. Without it a model drafts it from `text`.'),
});

const selector = members({ services: list(text()), detectors: list(text()), rules: list(text()), pattern: text() });
const shared = {
  ...{ id: text(), name: text(), selector },
  is_drafted: Joi.boolean().description('A model has drafted the selector.'),
  ...{ owner: text('The id of the key that imported it.'), created_at: moment() },
};
const playbook = { ...shared, text: text('Markdown.') };
const message = members({ role: Joi.string().valid('system', 'user', 'assistant'), content: text() });
const drafted = {
  model: text('The model that drafted the selector.'),
  sent: list(message).description('All that the model was sent.'),
  masked: whole('Secrets that were masked in it.'),
};
const path = Joi.object({ playbook_id: Joi.string() });

export const PLAYBOOK_LIST = listParameters(['name', 'created_at']);
export const PLAYBOOKS: Operation = {
  ...{ id: 'listPlaybooks', tag: 'ai', summary: 'Playbooks: what the team does about alerts of a kind, oldest first' },
  ...{ query: PLAYBOOK_LIST, answers: pageAnswer(members({ ...shared, characters: whole('Of `text`.') })) },
};
export const IMPORT_PLAYBOOK: Operation = {
  ...{ id: 'importPlaybook', tag: 'ai', summary: 'Imports a playbook for alerts of a kind' },
  description: 'Costs one AI credit, of the share of playbook import. Without `selector` a model drafts it; names that do not stand in `text` are left out of the draft.', // prettier-ignore
  ...{ body: jsonBody(PLAYBOOK_BODY), errors: [409, 502] },
  answers: { 201: json(members(playbook, drafted), 'The playbook; with `model`, `sent` and `masked` where its selector was drafted.') },
};
export const ONE_PLAYBOOK: Operation = {
  ...{ id: 'getPlaybook', tag: 'ai', summary: 'One playbook, with its text', path, answers: ok(members(playbook)), errors: [404] },
};
export const DELETE_PLAYBOOK: Operation = {
  ...{ id: 'deletePlaybook', tag: 'ai', summary: 'Deletes a playbook', path, errors: [404, 409] },
  answers: { 204: { description: 'Deleted.' } },
};
