import { planGate } from '../../pipeline/core/errors.ts';
import type { Plane } from '../auth/planes.ts';
import type { Endpoint } from '../http/endpoint.ts';
import type { ErrorStyle } from '../http/render-error.ts';
import type { Scope } from '../tenants/principal.ts';

type Gate = {
  readonly path: string;
  readonly scope: Scope;
  readonly errors: ErrorStyle;
  readonly status: 403 | 503;
  readonly detail: string;
};

const PLANE: Plane = 'app';

const metrics = (path: string): Gate => ({
  path,
  scope: 'ingest',
  errors: 'metrics',
  status: 503,
  detail: 'For this account metrics ingest is not enabled; logs and traces are unaffected.',
});

const GATES: readonly Gate[] = [
  metrics('/v1/metrics'),
  metrics('/api/v1/otel/v1/metrics'),
  metrics('/api/v1/write'),
  metrics('/write'),
  metrics('/api/v2/write'),
  {
    path: '/v1/rum/replay',
    scope: 'ingest',
    errors: 'query',
    status: 503,
    detail: 'For this account session replay is not enabled; other events still arrive.',
  },
  {
    path: '/api/v1/account/projects',
    scope: 'write',
    errors: 'query',
    status: 403,
    detail: 'For this account multi-project is not enabled.',
  },
];

/**
 * The write paths of the app plane behind their gates. No feature behind a gate is built yet, so each gate is shut on every plan, whatever
 * the plan's features are; once a feature is built, its endpoint checks the plan. Key and scope are checked before the gate, and the
 * body is never read.
 */
export const gatedEndpoints: readonly Endpoint[] = GATES.map(({ path, scope, errors, status, detail }) => ({
  methods: ['POST'],
  path,
  errors,
  access: { plane: PLANE, scope },
  handle: () => Promise.reject(planGate(status, detail)),
}));
