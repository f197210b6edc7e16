/** A rule by LogsQL as it is shown, and as it is sent: all of its members at once. */
import type { Answer, Taken } from '../../client/client.ts';

export type Rule = Answer<'GET /api/v1/tenants/{tenant_id}/rules/{rule_id}'>;
export type RuleBody = Taken<'POST /api/v1/tenants/{tenant_id}/rules'>['body'] & { readonly name: string };

const NEW: RuleBody = { name: 'Errors', query: 'level:error | stats by (service) count()', if: 'value > 100', every: '5m', for: 1, severity: 'warning', sensitivity: 'low' }; // prettier-ignore

/** What `PUT` takes of a rule; that of a new one for null. */
export function bodyOf(rule: Rule | null): RuleBody {
  if (rule === null) return NEW;
  const { id: _id, created_at: _at, detector: _detector, ...body } = rule;
  return body;
}
