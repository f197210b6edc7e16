import { checkedBody } from '../http/checked-body.ts';
import type { Route } from '../http/route.ts';
import type { QueryRuntime } from '../query/runtime.ts';
import { DETECTOR_PREVIEW, DETECTOR_PREVIEW_BODY, METRIC_RULE_PREVIEW, RULE_PREVIEW } from './described-previews.ts';
import { metricRuleFieldsOf } from './metric-rule-routes.ts';
import { ruleFieldsOf } from './rule-routes.ts';

const BASE = '/api/v1/tenants/{tenant_id}';

/** What a rule, what a rule over metrics watches, or a detector with each sensitivity, would have fired: queries like others, which save nothing. */
export function createPreviewRoutes(runtime: Pick<QueryRuntime, 'run'>): readonly Route[] {
  return [
    {
      ...{ method: 'POST', path: `${BASE}/rules/preview`, scope: 'read', operation: RULE_PREVIEW },
      handle: async (context) => {
        const fields = ruleFieldsOf(await context.body());
        const rule = { ...fields, id: 'preview', created_at: new Date(0).toISOString() };
        const operation = fields['signal'] === 'spans' ? 'spans/rules-preview' : 'rules/preview';
        return { status: 200, ...(await runtime.run(context, operation, { rule })) };
      },
    },
    {
      ...{ method: 'POST', path: `${BASE}/metric-rules/preview`, scope: 'read', operation: METRIC_RULE_PREVIEW },
      handle: async (context) => {
        const rule = { ...metricRuleFieldsOf(await context.body()), id: 'preview', created_at: new Date(0).toISOString() };
        return { status: 200, ...(await runtime.run(context, 'metric-rules/preview', { rule })) };
      },
    },
    {
      ...{ method: 'POST', path: `${BASE}/detectors/preview`, scope: 'read', operation: DETECTOR_PREVIEW },
      handle: async (context) => {
        const body = checkedBody(DETECTOR_PREVIEW_BODY, await context.body());
        return { status: 200, ...(await runtime.run(context, 'detectors/preview', body)) };
      },
    },
  ];
}
