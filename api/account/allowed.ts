import type { Principal, Scope } from '../tenants/principal.ts';

/** Something that a key, or its tenant's plan, may not do. */
export type Refusal = { readonly what: string; readonly status: number; readonly why: string };

const SCOPES: Readonly<Record<Scope, string>> = {
  read: 'Reading: search, alerts, live tails.',
  write: 'Changes: resolving alerts, rules, webhooks, projects, saved searches, playbooks, keys.',
  ingest: 'Sending logs, traces, metrics and session replay.',
};
const PAYMENT = 'Add a payment method.';

/** What is refused to whoever uses this key, with the status that requests get; for a browser session, what its key may not do here. */
export function refusalsOf({ scopes, plan, demo, project }: Principal, isSession: boolean): Refusal[] {
  const { name, features, dailyBytes } = plan;
  const isExpired = name === 'trial_expired';
  const off = (isOn: boolean, what: string, status: number, why: string): Refusal[] =>
    isOn ? [] : [{ what, status, why: isExpired ? `${why} ${PAYMENT}` : why }];
  return [
    ...(Object.keys(SCOPES) as Scope[]).flatMap((scope) =>
      scope === 'ingest' && isSession
        ? [{ what: SCOPES.ingest, status: 401, why: 'A browser session never sends data; use a key.' }]
        : scopes.has(scope)
          ? []
          : [{ what: SCOPES[scope], status: 403, why: `The API key lacks the scope \`${scope}\`.` }],
    ),
    ...(demo && scopes.has('write') ? [{ what: SCOPES.write, status: 403, why: 'The demo tenant is read-only.' }] : []),
    ...(project === undefined
      ? []
      : [{ what: 'What is not in the project.', status: 403, why: `The key is narrowed to the project ${JSON.stringify(project.name)}.` }]),
    ...(dailyBytes > 0 ? [] : [{ what: 'Sending logs and traces.', status: 429, why: `The trial expired. ${PAYMENT}` }]),
    ...off(features.metrics, 'Sending metrics.', 503, 'For this account metrics ingest is not enabled.'),
    ...off(features.replay, 'Sending session replay.', 503, 'For this account session replay is not enabled.'),
    ...off(features.projects > 0, 'Projects.', 403, 'For this account multi-project is not enabled.'),
    ...off(features.ai, 'AI.', 403, 'AI is not available on your plan.'),
  ];
}
