import { invalidBody } from '../../pipeline/core/errors.ts';
import type { AdminRoute } from '../admin/admin-routes.ts';
import type { Peers } from '../admin/peers.ts';
import type { RuleBook, RuleFields } from '../control/rules.ts';
import { checkedBody } from '../http/checked-body.ts';
import type { Route } from '../http/route.ts';
import { METRIC_RULE_BODY, operationsOfMetricRules } from './described-rules.ts';
import { adminEndpointsOf, endpointsOf, type RuleKind } from './rule-endpoints.ts';

export type MetricRuleRoutesOptions = RuleBook & { readonly peers: Pick<Peers, 'query'> };

/** Names that Joi passes over, wherever they are. */
function refuseProto(value: unknown): void {
  if (typeof value !== 'object' || value === null) return;
  if (Object.hasOwn(value, '__proto__')) throw invalidBody('"__proto__" is not allowed');
  for (const member of Object.values(value)) if (typeof member === 'object' && member !== null && Object.hasOwn(member as object, '__proto__')) throw invalidBody('"__proto__" is not allowed'); // prettier-ignore
}

/** The fields of a rule that a client sends. Throws HttpError 400. */
export function metricRuleFieldsOf(body: unknown): RuleFields {
  refuseProto(body);
  return checkedBody(METRIC_RULE_BODY, body);
}

const kindOf = (options: MetricRuleRoutesOptions): RuleKind => ({
  ...options,
  ...{
    path: 'metric-rules',
    what: 'metric-rule',
    operations: operationsOfMetricRules,
    fieldsOf: metricRuleFieldsOf,
    shown: (rule) => rule,
  },
});

/** A tenant's rules over metrics, by PromQL: to list, create, read, change and delete them. */
export const createMetricRuleRoutes = (options: MetricRuleRoutesOptions): readonly Route[] => endpointsOf(kindOf(options));

/** The same for operators, who change what they name of a rule and keep the rest. */
export const adminMetricRuleRoutes = (options: MetricRuleRoutesOptions): AdminRoute[] => adminEndpointsOf(kindOf(options));
