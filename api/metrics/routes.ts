import type { Route } from '../http/route.ts';
import { CARDINALITY } from './described.ts';
import { unknownNames, withHints } from '../query/hints.ts';
import type { QueryRuntime } from '../query/runtime.ts';
import type { CardinalityParameters } from './cardinality.ts';

/** The endpoints of a tenant that tell of its metrics. */
export function createMetricsRoutes(runtime: QueryRuntime): readonly Route[] {
  return [
    {
      method: 'GET',
      path: '/api/v1/tenants/{tenant_id}/metrics/cardinality',
      scope: 'read',
      operation: CARDINALITY,
      handle: async (context) => {
        const { seriesPerDay } = context.principal.plan;
        const parameters: CardinalityParameters = { limit: seriesPerDay === Infinity ? null : seriesPerDay };
        const answer = await runtime.run(context, 'metrics/cardinality', parameters);
        return withHints({ status: 200, ...answer }, unknownNames(context.query.keys(), [], 'parameter'));
      },
    },
  ];
}
