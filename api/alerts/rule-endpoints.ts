import { tenantIdOf, type AdminRoute } from '../admin/admin-routes.ts';
import type { Peers } from '../admin/peers.ts';
import { requireTenant } from '../control/accounts.ts';
import {
  changeRule,
  createRule,
  deleteRule,
  mostRules,
  requireRule,
  rulesOf,
  type RuleBook,
  type RuleFields,
  type RuleRecord,
} from '../control/rules.ts';
import type { Route, RouteAnswer } from '../http/route.ts';
import { pageOf } from '../http/lists.ts';
import { RULE_LIST, type RuleOperations } from './described-rules.ts';

/** A kind of rules: where they are set, how a body becomes one, and how one is shown. */
export type RuleKind = RuleBook & {
  readonly peers: Pick<Peers, 'query'>;
  /** The last part of their path, and what the audit of operators' changes calls one. */
  readonly path: string;
  readonly what: string;
  readonly operations: RuleOperations;
  /** Throws HttpError 400. */
  fieldsOf(body: unknown): RuleFields;
  shown(rule: RuleRecord): object;
};

/** Answers after every process of this instance knows what was changed. */
const settling =
  ({ control, peers }: RuleKind) =>
  async (answer: RouteAnswer): Promise<RouteAnswer> => {
    await peers.query(`/admin/control/${control.offset.toString()}`);
    return answer;
  };

/** A tenant's rules of a kind: to list, create, read, change and delete them. */
export function endpointsOf(kind: RuleKind): readonly Route[] {
  const settled = settling(kind);
  const { fieldsOf, shown, operations } = kind;
  const base = `/api/v1/tenants/{tenant_id}/${kind.path}`;
  return [
    {
      ...{ method: 'GET', path: base, scope: 'read', operation: operations.list },
      handle: ({ principal: { tenantId }, query }) => {
        const page = pageOf(rulesOf(kind, tenantId).map(shown), RULE_LIST, query);
        return Promise.resolve({ status: 200, body: { ...page, most: mostRules(kind, tenantId) } });
      },
    },
    {
      ...{ method: 'POST', path: base, scope: 'write', operation: operations.create },
      handle: async (context) => {
        const fields = fieldsOf(await context.body());
        return settled({ status: 201, body: shown(await createRule(kind, context.principal.tenantId, fields)) });
      },
    },
    {
      ...{ method: 'GET', path: `${base}/{rule_id}`, scope: 'read', operation: operations.read },
      handle: ({ principal: { tenantId }, params }) =>
        Promise.resolve({ status: 200, body: shown(requireRule(kind, tenantId, params['rule_id'] ?? '')) }),
    },
    {
      ...{ method: 'PUT', path: `${base}/{rule_id}`, scope: 'write', operation: operations.change },
      handle: async (context) => {
        const at = { tenantId: context.principal.tenantId, id: context.params['rule_id'] ?? '' };
        requireRule(kind, at.tenantId, at.id);
        return settled({ status: 200, body: shown(await changeRule(kind, at, fieldsOf(await context.body()))) });
      },
    },
    {
      ...{ method: 'DELETE', path: `${base}/{rule_id}`, scope: 'write', operation: operations.remove },
      handle: async ({ principal: { tenantId }, params }) => {
        await deleteRule(kind, { tenantId, id: params['rule_id'] ?? '' });
        return settled({ status: 204 });
      },
    },
  ];
}

/** The same for operators, who change what they name of a rule and keep the rest. */
export function adminEndpointsOf(kind: RuleKind): AdminRoute[] {
  const settled = settling(kind);
  const { fieldsOf, what } = kind;
  const base = `/admin/tenants/{tenant}/${kind.path}`;
  const shown = (tenantId: number, rule: RuleRecord): object => ({ tenant_id: tenantId, ...kind.shown(rule) });
  return [
    {
      ...{ method: 'GET', path: base },
      handle: ({ params }) => {
        const { id } = requireTenant(kind.control, tenantIdOf(params));
        return Promise.resolve({ status: 200, body: rulesOf(kind, id).map((rule) => shown(id, rule)) });
      },
    },
    {
      ...{ method: 'POST', path: base, action: `${what} create` },
      handle: async ({ params, body }) => {
        const tenantId = tenantIdOf(params);
        return settled({ status: 201, body: shown(tenantId, await createRule(kind, tenantId, fieldsOf(await body()))) });
      },
    },
    {
      ...{ method: 'GET', path: `${base}/{rule}` },
      handle: ({ params }) => {
        const { id } = requireTenant(kind.control, tenantIdOf(params));
        return Promise.resolve({ status: 200, body: shown(id, requireRule(kind, id, params['rule'] ?? '')) });
      },
    },
    {
      ...{ method: 'PUT', path: `${base}/{rule}`, action: `${what} set` },
      handle: async ({ params, body }) => {
        const [tenantId, id] = [tenantIdOf(params), params['rule'] ?? ''];
        const current = Object.entries(requireRule(kind, tenantId, id)).filter(([member]) => member !== 'id' && member !== 'created_at');
        const fields = fieldsOf({ ...Object.fromEntries(current), ...((await body()) as object) });
        return settled({ status: 200, body: shown(tenantId, await changeRule(kind, { tenantId, id }, fields)) });
      },
    },
    {
      ...{ method: 'DELETE', path: `${base}/{rule}`, action: `${what} delete` },
      handle: async ({ params }) => {
        const [tenantId, id] = [tenantIdOf(params), params['rule'] ?? ''];
        const rule = requireRule(kind, tenantId, id);
        await deleteRule(kind, { tenantId, id });
        return settled({ status: 200, body: shown(tenantId, rule) });
      },
    },
  ];
}
