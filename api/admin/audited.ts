import type { RouteAnswer } from '../http/route.ts';
import type { AdminAudit, AuditActor, AuditSubject } from './admin-audit.ts';
import type { AdminRoute } from './admin-routes.ts';

/** Members of a request body that are not secret; the audit log omits all others. */
const SHOWN = ['name', 'plan', 'signup', 'value', 'scopes', 'expires', 'reason', 'from', 'dry_run', 'at'] as const;
/** Path parameters that name what is changed. */
const NAMED = ['flag', 'processor', 'setting'] as const;
const MAX_TEXT = 200;

/** The header in which a client of the admin routes names its user. */
export const CLIENT_HEADER = 'x-logweir-client';

/** What answers a route: it leaves lines in the audit log where it changes anything. */
export function audited(route: AdminRoute, audit: AdminAudit): (request: AdminRequest, actor: AuditActor) => Promise<RouteAnswer> {
  if (route.method === 'GET') return (request) => route.handle(request);
  const { action = `${route.method} ${route.path}` } = route;
  return async (request, actor) => {
    const { params, requestId } = request;
    // read once; one that cannot be read is refused by the change itself
    const read = request.body();
    const body = await read.catch(() => null);
    const tenant = /^[1-9]\d{0,14}$/.test(params['tenant'] ?? '') ? Number(params['tenant']) : undefined;
    const change = {
      ...{ action, actor, requestId },
      ...(tenant === undefined ? {} : { tenant }),
      ...(params['key'] === undefined ? {} : { key: params['key'].slice(0, MAX_TEXT) }),
      details: detailsOf(body, params),
    };
    return audit.around(change, () => route.handle({ ...request, body: () => read }), subjectOf);
  };
}

export type AdminRequest = Parameters<AdminRoute['handle']>[0];

function detailsOf(body: unknown, params: Readonly<Record<string, string>>): Record<string, unknown> {
  const given = typeof body === 'object' && body !== null ? (body as Record<string, unknown>) : {};
  const details: Record<string, unknown> = {};
  for (const name of NAMED) if (params[name] !== undefined) details[name] = params[name].slice(0, MAX_TEXT);
  for (const name of SHOWN) if (Object.hasOwn(given, name)) details[name] = shortened(given[name]);
  return details;
}

function shortened(value: unknown): unknown {
  if (typeof value === 'string') return value.slice(0, MAX_TEXT);
  if (Array.isArray(value)) return value.slice(0, 10).map((part) => String(part).slice(0, MAX_TEXT));
  return typeof value === 'number' || typeof value === 'boolean' || value === null ? value : undefined;
}

/** The tenant and the key that an answer is about. */
function subjectOf({ body }: RouteAnswer): AuditSubject {
  if (typeof body !== 'object' || Buffer.isBuffer(body)) return {};
  const { tenant_id: tenant, id: key } = body as { readonly tenant_id?: unknown; readonly id?: unknown };
  return { ...(typeof tenant === 'number' ? { tenant } : {}), ...(typeof key === 'string' ? { key } : {}) };
}
