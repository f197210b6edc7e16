import { LogsqlSyntaxError } from '../../logsql/base/errors.ts';
import { parseQuery } from '../../logsql/parser/parser.ts';
import { StatsPipe } from '../../logsql/pipes/stats.ts';
import { Query } from '../../logsql/base/query.ts';
import { invalidBody } from '../../pipeline/core/errors.ts';
import { tenantIdOf, type AdminRoute } from '../admin/admin-routes.ts';
import { checkedBody } from '../http/checked-body.ts';
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
import * as described from './described-rules.ts';

const BASE = '/api/v1/tenants/{tenant_id}/rules';
const ADMIN = '/admin/tenants/{tenant}/rules';

/** The detector of others that watches a rule: whether it is on, off (since when, and why), or in no file that is loaded. */
export type RuleDetector = {
  readonly name: string;
  readonly state: 'on' | 'off' | 'missing';
  readonly since: string | null;
  readonly reason: string | null;
};

export type RuleRoutesOptions = RuleBook & {
  readonly peers: Pick<Peers, 'query'>;
  /** The custom detector that a condition names; null where it names none. */
  detectorOf(condition: string): RuleDetector | null;
};

/** Characters of a name, where a query stands in for it. */
const NAMED = 100;
/** A rule as it is set, of a body. Throws HttpError 400. */
function fieldsOf(body: unknown): RuleFields {
  // Joi passes over a member of this name
  if (typeof body === 'object' && body !== null && Object.hasOwn(body, '__proto__')) throw invalidBody('"__proto__" is not allowed');
  const { by, name, query, ...rest } = checkedBody(described.RULE_BODY, body);
  return { ...rest, name: name ?? query.slice(0, NAMED), query: by.length === 0 ? query : grouped(query, by) };
}

/** The query with its stats grouped by these fields. */
function grouped(text: string, by: readonly string[]): string {
  let query;
  try {
    query = parseQuery(text, { now: 0n });
  } catch (error) {
    // the processor that evaluates the rule reports the syntax error
    if (error instanceof LogsqlSyntaxError) return text;
    throw error;
  }
  const [pipe, ...others] = query.pipes;
  if (!(pipe instanceof StatsPipe)) return text;
  if (pipe.by.length > 0) throw invalidBody('The query already groups; write "by" there, or as a member of its own.');
  const groups = by.map((name) => ({ name, bucket: null }));
  return new Query(query.options, query.filter, [new StatsPipe(groups, pipe.calls), ...others]).toString();
}

/** Answers after every process of this instance knows what was changed. */
const settling =
  ({ control, peers }: RuleRoutesOptions) =>
  async (answer: RouteAnswer): Promise<RouteAnswer> => {
    await peers.query(`/admin/control/${control.offset.toString()}`);
    return answer;
  };

/** A rule as it is shown: also who watches it, where that is a detector of others. */
function shownBy({ detectorOf }: RuleRoutesOptions): (rule: RuleRecord) => object {
  return (rule) => {
    const { if: condition = null } = rule;
    const detector = typeof condition === 'string' ? detectorOf(condition) : null;
    return detector === null ? rule : { ...rule, detector };
  };
}

/** A tenant's rules: to list, create, read, change and delete them. */
export function createRuleRoutes(options: RuleRoutesOptions): readonly Route[] {
  const settled = settling(options);
  const shown = shownBy(options);
  return [
    {
      ...{ method: 'GET', path: BASE, scope: 'read', operation: described.RULES },
      handle: ({ principal: { tenantId } }) =>
        Promise.resolve({ status: 200, body: { items: rulesOf(options, tenantId).map(shown), most: mostRules(options, tenantId) } }),
    },
    {
      ...{ method: 'POST', path: BASE, scope: 'write', operation: described.CREATE_RULE },
      handle: async (context) => {
        const fields = fieldsOf(await context.body());
        return settled({ status: 201, body: shown(await createRule(options, context.principal.tenantId, fields)) });
      },
    },
    {
      ...{ method: 'GET', path: `${BASE}/{rule_id}`, scope: 'read', operation: described.ONE_RULE },
      handle: ({ principal: { tenantId }, params }) =>
        Promise.resolve({ status: 200, body: shown(requireRule(options, tenantId, params['rule_id'] ?? '')) }),
    },
    {
      ...{ method: 'PUT', path: `${BASE}/{rule_id}`, scope: 'write', operation: described.CHANGE_RULE },
      handle: async (context) => {
        const at = { tenantId: context.principal.tenantId, id: context.params['rule_id'] ?? '' };
        requireRule(options, at.tenantId, at.id);
        return settled({ status: 200, body: shown(await changeRule(options, at, fieldsOf(await context.body()))) });
      },
    },
    {
      ...{ method: 'DELETE', path: `${BASE}/{rule_id}`, scope: 'write', operation: described.DELETE_RULE },
      handle: async ({ principal: { tenantId }, params }) => {
        await deleteRule(options, { tenantId, id: params['rule_id'] ?? '' });
        return settled({ status: 204 });
      },
    },
  ];
}

/** The same for operators, who change what they name of a rule and keep the rest. */
export function adminRuleRoutes(options: RuleRoutesOptions): AdminRoute[] {
  const settled = settling(options);
  const own = shownBy(options);
  const shown = (tenantId: number, rule: RuleRecord): object => ({ tenant_id: tenantId, ...own(rule) });
  return [
    {
      ...{ method: 'GET', path: ADMIN },
      handle: ({ params }) => {
        const { id } = requireTenant(options.control, tenantIdOf(params));
        return Promise.resolve({ status: 200, body: rulesOf(options, id).map((rule) => shown(id, rule)) });
      },
    },
    {
      ...{ method: 'POST', path: ADMIN, action: 'rule create' },
      handle: async ({ params, body }) => {
        const tenantId = tenantIdOf(params);
        return settled({ status: 201, body: shown(tenantId, await createRule(options, tenantId, fieldsOf(await body()))) });
      },
    },
    {
      ...{ method: 'GET', path: `${ADMIN}/{rule}` },
      handle: ({ params }) => {
        const { id } = requireTenant(options.control, tenantIdOf(params));
        return Promise.resolve({ status: 200, body: shown(id, requireRule(options, id, params['rule'] ?? '')) });
      },
    },
    {
      ...{ method: 'PUT', path: `${ADMIN}/{rule}`, action: 'rule set' },
      handle: async ({ params, body }) => {
        const [tenantId, id] = [tenantIdOf(params), params['rule'] ?? ''];
        const current = Object.entries(requireRule(options, tenantId, id)).filter(([member]) => member !== 'id' && member !== 'created_at');
        const fields = fieldsOf({ ...Object.fromEntries(current), ...((await body()) as object) });
        return settled({ status: 200, body: shown(tenantId, await changeRule(options, { tenantId, id }, fields)) });
      },
    },
    {
      ...{ method: 'DELETE', path: `${ADMIN}/{rule}`, action: 'rule delete' },
      handle: async ({ params }) => {
        const [tenantId, id] = [tenantIdOf(params), params['rule'] ?? ''];
        const rule = requireRule(options, tenantId, id);
        await deleteRule(options, { tenantId, id });
        return settled({ status: 200, body: shown(tenantId, rule) });
      },
    },
  ];
}
