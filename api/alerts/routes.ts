import type { Route, RouteContext } from '../http/route.ts';
import * as described from './described.ts';
import type { ShownAlert } from '../../pipeline/alerting/book/shown-alert.ts';
import { unknownNames, withHints } from '../query/hints.ts';
import { alertParameters, ALERTS, alertsParameters, INCIDENTS, incidentsParameters, resolveParameters } from '../query/parameters.ts';
import type { QueryRuntime } from '../query/runtime.ts';
import type { AlertResolver } from './resolver.ts';

const BASE = '/api/v1/tenants/{tenant_id}/alerts';
const INCIDENTS_BASE = '/api/v1/tenants/{tenant_id}/incidents';

/** Finds the playbooks of a tenant for an alert. */
type PlaybookFinder = (tenantId: number, alert: ShownAlert) => readonly { readonly id: string; readonly name: string }[];

/** The endpoints of a tenant's alerts: to list them, alone or as incidents, to read one, and to resolve one. They do not count for the query rate of a key. */
export function createAlertRoutes(
  runtime: QueryRuntime,
  resolver: AlertResolver,
  playbooksFor: PlaybookFinder = () => [],
): readonly Route[] {
  const answer = async (context: RouteContext, operation: string, parameters: unknown): ReturnType<Route['handle']> => ({
    status: 200,
    ...(await runtime.run(context, operation, parameters, { isFree: true })),
  });
  const one = async (context: RouteContext): Promise<ShownAlert> => {
    const { body } = await runtime.run(context, 'alert', alertParameters(context.params['alert_id']), { isFree: true });
    return JSON.parse(body as string) as ShownAlert;
  };
  return [
    {
      method: 'GET',
      path: BASE,
      scope: 'read',
      isNarrowed: true,
      operation: described.ALERTS,
      handle: async (context) => {
        const parameters = alertsParameters(context.query);
        return withHints(await answer(context, 'alerts', parameters), unknownNames(context.query.keys(), ALERTS, 'parameter'));
      },
    },
    {
      ...{ method: 'GET', path: `${BASE}/{alert_id}`, scope: 'read', operation: described.ONE_ALERT, isNarrowed: true },
      handle: async (context) => {
        const alert = await one(context);
        return { status: 200, body: { ...alert, ...playbooksOf(context, alert, playbooksFor) } };
      },
    },
    ...incidentRoutes(answer),
    {
      method: 'POST',
      path: `${BASE}/{alert_id}/resolve`,
      scope: 'write',
      isNarrowed: true,
      operation: described.RESOLVE,
      handle: async (context) => {
        const { tenantId, plan } = context.principal;
        alertParameters(context.params['alert_id']);
        const note = resolveParameters(await context.body());
        const resolved = await resolver.resolve({ tenantId, retentionDays: plan.retentionDays, note, read: () => one(context) });
        return { status: 200, body: resolved };
      },
    },
  ];
}

/** The playbooks that fit an alert, where there are any. They belong to the whole tenant. */
function playbooksOf({ principal: { tenantId, project } }: RouteContext, alert: ShownAlert, playbooksFor: PlaybookFinder): object {
  const found = project === undefined ? playbooksFor(tenantId, alert) : [];
  return found.length === 0 ? {} : { playbooks: found.map(({ id, name }) => ({ id, name })) };
}

type Answered = (context: RouteContext, operation: string, parameters: unknown) => ReturnType<Route['handle']>;

/** Alerts that fired together. */
function incidentRoutes(answer: Answered): Route[] {
  return [
    {
      method: 'GET',
      path: INCIDENTS_BASE,
      scope: 'read',
      isNarrowed: true,
      operation: described.INCIDENTS,
      handle: async (context) => {
        const parameters = incidentsParameters(context.query);
        return withHints(await answer(context, 'incidents', parameters), unknownNames(context.query.keys(), INCIDENTS, 'parameter'));
      },
    },
    {
      method: 'GET',
      path: `${INCIDENTS_BASE}/{incident_id}`,
      scope: 'read',
      isNarrowed: true,
      operation: described.ONE_INCIDENT,
      handle: async (context) => {
        const parameters = alertParameters(context.params['incident_id'], 'incident');
        return answer(context, 'incident', parameters);
      },
    },
  ];
}
