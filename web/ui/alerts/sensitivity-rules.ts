/** The list of a tenant's rules of sensitivity: the first that fits counts. */
import type { Answer } from '../../client/client.ts';

type Detectors = Answer<'GET /api/v1/tenants/{tenant_id}/detectors'>;
type Rules = Detectors['rules'];
type Rule = Rules[number];
export type Strength = Rule['sensitivity'];

/** The rules with one for exactly this detector and stream, in front of all but those of single streams; `null`: without it. */
export function withRule(rules: Rules, detector: string, stream: string, sensitivity: Strength | null): Rules {
  const others = rules.filter((rule) => rule.detector !== detector || (rule.stream ?? '') !== stream);
  if (sensitivity === null) return others;
  const own: Rule = { detector, ...(stream === '' ? {} : { stream }), sensitivity };
  // one for all streams would hide those for single ones
  const place = stream === '' ? others.findIndex((rule) => (rule.stream ?? '') === '') : 0;
  return place < 0 ? [...others, own] : [...others.slice(0, place), own, ...others.slice(place)];
}

/** What is set for a detector and exactly this stream, else for all streams; of this tenant, else of all. */
export function strengthOf({ rules, defaults }: Pick<Detectors, 'rules' | 'defaults'>, detector: string, stream: string): Strength {
  const fits = (rule: Rule): boolean => (rule.detector ?? detector) === detector && ['', '{}', stream].includes(rule.stream ?? '');
  return (rules.find(fits) ?? defaults.find(fits))?.sensitivity ?? 'normal';
}
