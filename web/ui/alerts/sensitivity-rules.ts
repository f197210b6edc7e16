/** The list of a tenant's rules of sensitivity. */
import type { Operations } from '../../client/operations.ts';

type Rules = Operations['GET /api/v1/tenants/{tenant_id}/detectors']['answer']['rules'];
type Rule = Rules[number];
export type Strength = Rule['sensitivity'];

/** The rules with one for exactly this detector and stream in front; `null`: without it. */
export function withRule(rules: Rules, detector: string, stream: string, sensitivity: Strength | null): Rules {
  const others = rules.filter((rule) => rule.detector !== detector || (rule.stream ?? '') !== stream);
  return sensitivity === null ? others : [{ detector, ...(stream === '' ? {} : { stream }), sensitivity }, ...others];
}
