import Joi from 'joi';
import { list, members, ok, text, whole } from '../http/operation.ts';
import type { Route } from '../http/route.ts';
import type { Principal } from '../tenants/principal.ts';

const FEATURES = members({
  metrics: Joi.boolean(),
  replay: Joi.boolean(),
  projects: whole('How many in addition to the first.'),
  ai: Joi.boolean(),
});
const ANSWER = members({
  tenant_id: whole('The tenant that the key belongs to.'),
  key_id: text('Names the key; it is not the key.'),
  scopes: list(Joi.string().valid('read', 'write', 'ingest')),
  demo: Joi.boolean().description('A public demo: operations that need `write` are refused.'),
  plan: members({
    name: text(),
    retention_days: Joi.number().allow(null).description('Null: kept for ever.'),
    queries_per_minute: Joi.number().allow(null).description('Null: no limit.'),
    entries_per_second: Joi.number().allow(null).description('Null: no limit.'),
    daily_bytes: Joi.number().allow(null).description('The included volume of a UTC day; 0 blocks ingest; null: no limit.'),
    features: FEATURES,
  }),
});

const bounded = (value: number): number | null => (Number.isFinite(value) ? value : null);

/** `GET /api/v1/account/key`: what the key that is sent may do, so that a client need not find out by trying. */
export const keyRoute: Route = {
  method: 'GET',
  path: '/api/v1/account/key',
  scope: 'read',
  operation: {
    ...{ id: 'getKey', tag: 'account', summary: 'What the key of the request may do' },
    answers: ok(ANSWER),
  },
  handle: ({ principal }) => Promise.resolve({ status: 200, headers: { 'Cache-Control': 'no-store' }, body: keyOf(principal) }),
};

function keyOf({ tenantId, keyId, scopes, demo, plan }: Principal): object {
  return {
    ...{ tenant_id: tenantId, key_id: keyId, scopes: [...scopes].sort(), demo },
    plan: {
      name: plan.name,
      retention_days: plan.retentionDays === 0 ? null : bounded(plan.retentionDays),
      queries_per_minute: bounded(plan.queriesPerMinute),
      entries_per_second: bounded(plan.entriesPerSecond),
      daily_bytes: bounded(plan.dailyBytes),
      features: plan.features,
    },
  };
}
