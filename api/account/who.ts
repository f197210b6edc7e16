/** Who sends a request, and what it may do: one shape, told by `GET /api/v1/account/key` and by `GET /api/v1/session`. */
import Joi from 'joi';
import type { SessionClaims } from '../auth/session-token.ts';
import { list, members, moment, text, whole } from '../http/operation.ts';
import type { Plan } from '../tenants/plans.ts';
import type { Principal } from '../tenants/principal.ts';
import { refusalsOf } from './allowed.ts';

const features = members({
  metrics: Joi.boolean(),
  replay: Joi.boolean(),
  projects: whole('How many in addition to the first.'),
  ai: Joi.boolean(),
}).description('What the plan has.');
const bounds = {
  retention_days: Joi.number().allow(null).description('Null: kept for ever.'),
  queries_per_minute: Joi.number().allow(null).description('Null: no limit.'),
  entries_per_second: Joi.number().allow(null).description('Null: no limit.'),
  daily_bytes: Joi.number().allow(null).description('The included volume of a UTC day; 0 blocks ingest; null: no limit.'),
};
const shared = {
  tenant_id: whole('The tenant that the key belongs to.'),
  key_id: text('Names the key; it is not the key.'),
  scopes: list(Joi.string().valid('read', 'write', 'ingest')).description('A browser session never has `ingest`.'),
  demo: Joi.boolean().description('A public demo: operations that need `write` are refused.'),
  features,
  bounds: members(bounds).description('What the plan allows.'),
  project: members({ id: text(), name: text() }).allow(null).description('The project that the key is narrowed to.'),
  session: members({ started_at: moment(), expires_at: moment() }).allow(null).description('Null where a key was sent.'),
  refused: list(members({ what: text(), status: whole('Of a request that tries.'), why: text() })).description('What is not allowed.'),
};

/** What a session answers: the plan is its name. */
export const SESSION_ANSWER = members({ ...shared, plan: text('The name of the plan.') });
/** What a key answers: the plan has name, bounds and features. */
export const KEY_ANSWER = members({ ...shared, plan: members({ name: text(), ...bounds, features }) });

/** Who it is, for both. `session`: the browser session that the request was accepted by. */
function whoIs(principal: Principal, session: SessionClaims | null): object {
  const { tenantId, keyId, scopes, plan, demo, project } = principal;
  const iso = (ms: number): string => new Date(ms).toISOString();
  return {
    ...{ tenant_id: tenantId, key_id: keyId, demo },
    scopes: [...scopes].filter((scope) => session === null || scope !== 'ingest').sort(),
    features: plan.features,
    bounds: boundsOf(plan),
    project: project === undefined ? null : { id: project.id, name: project.name },
    session: session === null ? null : { started_at: iso(session.startedAt), expires_at: iso(session.expiresAt) },
    refused: refusalsOf(principal, session !== null),
  };
}

/** The same as the paths of a session answer it. */
export const whoInSession = (principal: Principal, session: SessionClaims | null): object => ({
  ...whoIs(principal, session),
  plan: principal.plan.name,
});

/** The same as the path of the key answers it. */
export const whoByKey = (principal: Principal, session: SessionClaims | null): object => ({
  ...whoIs(principal, session),
  plan: { name: principal.plan.name, ...boundsOf(principal.plan), features: principal.plan.features },
});

function boundsOf({ retentionDays, queriesPerMinute, entriesPerSecond, dailyBytes }: Plan): object {
  const bounded = (value: number): number | null => (Number.isFinite(value) ? value : null);
  return {
    retention_days: retentionDays === 0 ? null : bounded(retentionDays),
    queries_per_minute: bounded(queriesPerMinute),
    entries_per_second: bounded(entriesPerSecond),
    daily_bytes: bounded(dailyBytes),
  };
}
