import { FORWARDED_PATHS } from '../auth/planes.ts';
import { health, type Endpoint } from './endpoint.ts';

/** The app host: everything. */
export function appHostEndpoints(ingest: readonly Endpoint[], app: readonly Endpoint[]): Endpoint[] {
  return [health, ...app, ...ingest];
}

/** The ingest host: the ingest plane, and of the app plane exactly the six forwarded paths. The rest is a 404 there, with a key or without. */
export function ingestHostEndpoints(ingest: readonly Endpoint[], app: readonly Endpoint[]): Endpoint[] {
  return [health, ...ingest, ...app.filter((endpoint) => FORWARDED_PATHS.includes(endpoint.path))];
}
