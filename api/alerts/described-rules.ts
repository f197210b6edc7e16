/** The description of the endpoints of rules. */
import Joi from 'joi';
import { listParameters, pageAnswer } from '../http/lists.ts';
import { json, jsonBody, members, moment, ok, text, whole, type Operation } from '../http/operation.ts';

type RuleBody = {
  readonly name?: string;
  readonly signal: string;
  readonly query: string;
  readonly every: string;
  readonly if?: string;
  readonly record?: string;
  readonly for: number;
  readonly severity: string;
  readonly sensitivity: string;
  readonly by: readonly string[];
};

/** Checks types only; the processor that evaluates the rule checks the values. */
export const RULE_BODY = Joi.object<RuleBody>({
  name: Joi.string().trim(),
  signal: Joi.string().default('logs'),
  query: Joi.string().trim().required(),
  every: Joi.string().default('1m'),
  if: Joi.string().trim(),
  record: Joi.string().trim(),
  for: Joi.number().strict().default(1),
  severity: Joi.string().default('warning'),
  sensitivity: Joi.string().default('low'),
  by: Joi.array().items(Joi.string()).max(10).default([]),
});

type Texts = Readonly<Record<string, string>>;
type MetricRuleBody = {
  readonly group: string;
  readonly alert?: string;
  readonly record?: string;
  readonly watch?: string;
  readonly expr: string;
  readonly interval: string;
  readonly direction?: string;
  readonly sensitivity?: string;
  readonly for?: string;
  readonly keep_firing_for?: string;
  readonly labels?: Texts;
  readonly annotations?: Texts;
};

const texts = Joi.object<Texts>().pattern(Joi.string(), Joi.string().allow(''));
/** Checks types only; what evaluates the rule checks the values. The members are those of Prometheus' rule files, and those of what is watched. */
export const METRIC_RULE_BODY = Joi.object<MetricRuleBody>({
  group: Joi.string().trim().default('default'),
  alert: Joi.string(),
  record: Joi.string(),
  watch: Joi.string(),
  expr: Joi.string().trim().required(),
  interval: Joi.string().default('1m'),
  for: Joi.string(),
  keep_firing_for: Joi.string(),
  direction: Joi.string(),
  sensitivity: Joi.string(),
  labels: texts,
  annotations: texts,
});

/** A rule as it is shown. */
const RULE = Joi.object({
  ...{ id: text().required(), created_at: moment().required(), name: text().required(), query: text().required() },
  ...{ signal: text(), every: text(), if: text(), record: text(), for: Joi.number(), severity: text(), sensitivity: text() },
  detector: members({
    name: text(),
    state: Joi.string().valid('on', 'off', 'missing'),
    since: moment().allow(null),
    reason: text().allow(null),
  }).description('The detector of others that watches it.'),
}).unknown();
const METRIC_RULE = Joi.object({ id: text().required(), created_at: moment().required(), expr: text().required() }).unknown();

export const RULE_LIST = listParameters(['name', 'created_at', 'severity']);

/** What the endpoints of a kind of rules take and answer. */
export type RuleOperations = Readonly<Record<'list' | 'create' | 'read' | 'change' | 'remove', Operation>>;

/** `name`: of one rule in names of operations. */
function operationsOf(name: string, what: string, body: Joi.ObjectSchema, rule: Joi.Schema): RuleOperations {
  const path = Joi.object({ rule_id: Joi.string() });
  const tag = 'rules';
  return {
    list: {
      ...{ id: `list${name}s`, tag, summary: `The ${what}s of a tenant, oldest first` },
      query: RULE_LIST,
      answers: pageAnswer(rule, { most: whole('How many the plan has.') }),
    },
    create: {
      ...{ id: `create${name}`, tag, summary: `Creates a ${what}`, body: jsonBody(body) },
      ...{ answers: { 201: json(rule, 'The rule.') }, errors: [409] },
    },
    read: { id: `get${name}`, tag, summary: `One ${what}`, path, answers: ok(rule), errors: [404] },
    change: {
      ...{ id: `change${name}`, tag, summary: `Sets all members of a ${what}`, path, body: jsonBody(body), answers: ok(rule) },
      errors: [404, 409],
    },
    remove: {
      ...{ id: `delete${name}`, tag, summary: `Deletes a ${what}`, path, errors: [404, 409] },
      answers: { 204: { description: 'Every node has deleted it.' } },
    },
  };
}

export const operationsOfRules = operationsOf('Rule', 'rule', RULE_BODY, RULE);
export const operationsOfMetricRules = operationsOf('MetricRule', 'rule over metrics', METRIC_RULE_BODY, METRIC_RULE);
