import Joi from 'joi';
import { readTime } from '../../logsql/values/times.ts';
import { HttpError, invalidParameter } from '../../pipeline/core/errors.ts';
import { checkedQuery, readBy } from '../http/lists.ts';
import type { AdminAudit, AuditLine } from './admin-audit.ts';
import type { AdminRoute } from './admin-routes.ts';

const MAX_LIMIT = 10_000;

const PARAMETERS = Joi.object<{ readonly tenant: number | null; readonly since: number; readonly limit: number }>({
  tenant: readBy(readTenant).default(null),
  since: readBy(readSince).default(0),
  limit: readBy(readLimit).default(100),
});

/** `GET /admin/audit-log?tenant=&since=&limit=`: the changes that administrators made, the newest first. */
export const auditRoute = (audit: Pick<AdminAudit, 'read'>): AdminRoute => ({
  method: 'GET',
  path: '/admin/audit-log',
  handle: async ({ query }) => {
    const parameters = checkedQuery(PARAMETERS, query);
    const lines = await audit.read(parameters).catch((cause: unknown) => {
      throw new HttpError(503, 'audit_unavailable', 'The audit log cannot be read; retry later.', { retryAfter: 5, cause });
    });
    if (lines === false) throw invalidParameter('The audit log could not be read in time; name a later since.');
    return { status: 200, body: lines.map(shown) };
  },
});

function shown({ id, time, state, action, tenant, key, details, reason, actor, requestId }: AuditLine): object {
  return {
    ...{ id, time, state, action, tenant_id: tenant ?? null, key_id: key ?? null, details, reason: reason ?? null },
    ...{ token: actor.token ?? null, client: actor.client ?? null, address: actor.address ?? null, request_id: requestId ?? null },
  };
}

function readTenant(text: string): number {
  if (!/^[1-9]\d{0,14}$/.test(text)) throw invalidParameter(`tenant must be an integer of at least 1 (got ${JSON.stringify(text)}).`);
  return Number(text);
}

/** Milliseconds. */
function readSince(text: string): number {
  const time = readTime(text.trim(), BigInt(Date.now()) * 1_000_000n);
  if (time === null)
    throw invalidParameter(
      `since ${JSON.stringify(text)} is not a valid time: use a duration such as -1h, an ISO 8601 time or a Unix number.`,
    );
  return Math.max(0, Number(time.start / 1_000_000n));
}

function readLimit(text: string): number {
  const limit = /^\d{1,5}$/.test(text) ? Number(text) : 0;
  if (limit < 1 || limit > MAX_LIMIT)
    throw invalidParameter(`limit must be an integer from 1 to ${String(MAX_LIMIT)} (got ${JSON.stringify(text)}).`);
  return limit;
}
