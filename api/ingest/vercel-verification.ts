import { verifyHeader, vercel } from '../../pipeline/normalizers/vercel.ts';
import type { Endpoint } from '../http/endpoint.ts';

/** Vercel's request for the `x-vercel-verify` header when a drain is set up (https://vercel.com/docs/drains/security). */
export const vercelVerification: readonly Endpoint[] = vercel.paths.map((path) => ({
  methods: ['GET'],
  path,
  errors: 'ingest',
  access: { plane: 'ingest', scope: 'ingest' },
  handle: ({ query }) => Promise.resolve({ status: 200, headers: verifyHeader(query), body: { status: 'ok' } }),
}));
