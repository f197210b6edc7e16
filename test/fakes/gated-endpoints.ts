import type { Endpoint } from '../../api/http/endpoint.ts';
import { planGate } from '../../pipeline/core/errors.ts';

/** A gate of the app plane that is shut on every plan. */
export const gatedEndpoints: readonly Endpoint[] = [
  {
    methods: ['POST'],
    path: '/api/v1/account/projects',
    errors: 'query',
    access: { plane: 'app', scope: 'write' },
    handle: () => Promise.reject(planGate(403, 'For this account multi-project is not enabled.')),
  },
];
