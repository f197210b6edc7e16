import { verifyHeader, vercel } from '../../pipeline/normalizers/vercel.ts';
import type { Endpoint } from '../http/endpoint.ts';
import { probed } from './described.ts';

/** Vercel's request for the `x-vercel-verify` header when a drain is set up (https://vercel.com/docs/drains/security). */
export const vercelVerification: readonly Endpoint[] = vercel.paths.map((path) => ({
  methods: ['GET'],
  path,
  errors: 'ingest',
  access: { plane: 'ingest', scope: 'ingest' },
  operation: probed('verify', path, 'What Vercel requests as a drain is set up'),
  handle: ({ query }) => Promise.resolve({ status: 200, headers: verifyHeader(query), body: { status: 'ok' } }),
}));
