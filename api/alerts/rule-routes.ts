import { LogsqlSyntaxError } from '../../logsql/base/errors.ts';
import { parseQuery } from '../../logsql/parser/parser.ts';
import { StatsPipe } from '../../logsql/pipes/stats.ts';
import { Query } from '../../logsql/base/query.ts';
import { invalidBody } from '../../pipeline/core/errors.ts';
import type { AdminRoute } from '../admin/admin-routes.ts';
import { checkedBody } from '../http/checked-body.ts';
import type { Peers } from '../admin/peers.ts';
import type { RuleBook, RuleFields, RuleRecord } from '../control/rules.ts';
import type { Route } from '../http/route.ts';
import { operationsOfRules, RULE_BODY } from './described-rules.ts';
import { adminEndpointsOf, endpointsOf, type RuleKind } from './rule-endpoints.ts';

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
export function ruleFieldsOf(body: unknown): RuleFields {
  // Joi passes over a member of this name
  if (typeof body === 'object' && body !== null && Object.hasOwn(body, '__proto__')) throw invalidBody('"__proto__" is not allowed');
  const { by, name, signal, query, if: condition, record, ...rest } = checkedBody(RULE_BODY, body);
  // a rule that names none is over logs, as all were before there were others
  const over = { ...(signal === 'logs' ? {} : { signal }), ...(record === undefined ? {} : { record }) };
  if (condition === undefined && record === undefined) throw invalidBody('"if" is required, or "record"');
  return {
    ...rest,
    ...(condition === undefined ? {} : { if: condition }),
    ...over,
    name: name ?? query.slice(0, NAMED),
    query: by.length === 0 ? query : grouped(query, by),
  };
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

/** A rule as it is shown: also who watches it, where that is a detector of others. */
function shownBy({ detectorOf }: RuleRoutesOptions): (rule: RuleRecord) => object {
  return (rule) => {
    const { if: condition = null } = rule;
    const detector = typeof condition === 'string' ? detectorOf(condition) : null;
    return detector === null ? rule : { ...rule, detector };
  };
}

const kindOf = (options: RuleRoutesOptions): RuleKind => ({
  ...options,
  path: 'rules',
  what: 'rule',
  operations: operationsOfRules,
  fieldsOf: ruleFieldsOf,
  shown: shownBy(options),
});

/** A tenant's rules by LogsQL: to list, create, read, change and delete them. */
export const createRuleRoutes = (options: RuleRoutesOptions): readonly Route[] => endpointsOf(kindOf(options));

/** The same for operators, who change what they name of a rule and keep the rest. */
export const adminRuleRoutes = (options: RuleRoutesOptions): AdminRoute[] => adminEndpointsOf(kindOf(options));
