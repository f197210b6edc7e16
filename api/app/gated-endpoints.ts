import { planGate } from '../../pipeline/core/errors.ts';
import type { Plane } from '../auth/planes.ts';
import type { Endpoint } from '../http/endpoint.ts';
import type { ErrorStyle } from '../http/render-error.ts';
import type { Operation } from '../http/operation.ts';
import type { Scope } from '../tenants/principal.ts';

type Gate = {
  readonly path: string;
  readonly scope: Scope;
  readonly errors: ErrorStyle;
  readonly status: 403;
  readonly detail: string;
  readonly id: string;
  readonly summary: string;
};

const PLANE: Plane = 'app';

const GATES: readonly Gate[] = [
  {
    ...{ id: 'createProject', summary: 'Projects: not enabled on any plan' },
    path: '/api/v1/account/projects',
    scope: 'write',
    errors: 'query',
    status: 403,
    detail: 'For this account multi-project is not enabled.',
  },
];

/**
 * The paths of the app plane whose features are not built yet: each gate is shut on every plan, whatever its features are. Those of metrics and of
 * session replay check the plan (`api/ingest/ingest-endpoints.ts`). Key and scope are checked before the gate, and the body is never read.
 */
export const gatedEndpoints: readonly Endpoint[] = GATES.map(({ path, scope, errors, status, detail, id, summary }) => ({
  methods: ['POST'],
  path,
  errors,
  access: { plane: PLANE, scope },
  operation: { id, tag: 'account', summary, answers: { 200: { description: 'None: no plan has this yet.' } } } satisfies Operation,
  handle: () => Promise.reject(planGate(status, detail)),
}));
