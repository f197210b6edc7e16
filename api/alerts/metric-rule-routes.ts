import Joi from 'joi';
import { invalidBody } from '../../pipeline/core/errors.ts';
import type { AdminRoute } from '../admin/admin-routes.ts';
import type { Peers } from '../admin/peers.ts';
import type { RuleBook, RuleFields } from '../control/rules.ts';
import { checkedBody } from '../http/checked-body.ts';
import type { Route } from '../http/route.ts';
import { adminEndpointsOf, endpointsOf, type RuleKind } from './rule-endpoints.ts';

export type MetricRuleRoutesOptions = RuleBook & { readonly peers: Pick<Peers, 'query'> };

type Texts = Readonly<Record<string, string>>;
type Body = {
  readonly group: string;
  readonly alert?: string;
  readonly record?: string;
  readonly expr: string;
  readonly interval: string;
  readonly for?: string;
  readonly keep_firing_for?: string;
  readonly labels?: Texts;
  readonly annotations?: Texts;
};

const texts = Joi.object<Texts>().pattern(Joi.string(), Joi.string().allow(''));
/** Checks types only; what evaluates the rule checks the values. The members are those of Prometheus' rule files. */
const bodySchema = Joi.object<Body>({
  group: Joi.string().trim().default('default'),
  alert: Joi.string(),
  record: Joi.string(),
  expr: Joi.string().trim().required(),
  interval: Joi.string().default('1m'),
  for: Joi.string(),
  keep_firing_for: Joi.string(),
  labels: texts,
  annotations: texts,
});

/** Names that Joi passes over, wherever they are. */
function refuseProto(value: unknown): void {
  if (typeof value !== 'object' || value === null) return;
  if (Object.hasOwn(value, '__proto__')) throw invalidBody('"__proto__" is not allowed');
  for (const member of Object.values(value)) if (typeof member === 'object' && member !== null && Object.hasOwn(member as object, '__proto__')) throw invalidBody('"__proto__" is not allowed'); // prettier-ignore
}

function fieldsOf(body: unknown): RuleFields {
  refuseProto(body);
  return checkedBody(bodySchema, body);
}

const kindOf = (options: MetricRuleRoutesOptions): RuleKind => ({
  ...options,
  ...{ path: 'metric-rules', what: 'metric-rule', fieldsOf, shown: (rule) => rule },
});

/** A tenant's rules over metrics, by PromQL: to list, create, read, change and delete them. */
export const createMetricRuleRoutes = (options: MetricRuleRoutesOptions): readonly Route[] => endpointsOf(kindOf(options));

/** The same for operators, who change what they name of a rule and keep the rest. */
export const adminMetricRuleRoutes = (options: MetricRuleRoutesOptions): AdminRoute[] => adminEndpointsOf(kindOf(options));
