/** Which rules of credentials and errors a path follows. WebSockets have a column of their own in the table of forms. */
export type Plane = 'ingest' | 'app' | 'websocket';

/** The app plane's paths that the ingest host serves too: exactly these. */
export const FORWARDED_PATHS: readonly string[] = [
  '/v1/metrics',
  '/api/v1/otel/v1/metrics',
  '/api/v1/write',
  '/write',
  '/api/v2/write',
  '/v1/rum/replay',
];

/** The ingest plane's paths on which the query parameter `api_key` is a credential. */
export const QUERY_KEY_PATHS: ReadonlySet<string> = new Set([
  '/api/v1/drain',
  '/api/v1/drain/vercel',
  '/api/v1/drain/heroku',
  '/gelf',
  '/api/v1/gelf',
]);

/** True for the paths that speak Elasticsearch's protocol; their clients look for Elastic's product header on every answer. */
export function isElasticPath(path: string): boolean {
  if (path === '/' || path.startsWith('/_') || path.endsWith('/_bulk') || path.endsWith('/_refresh')) return true;
  return path === '/insert/elasticsearch' || path.startsWith('/insert/elasticsearch/');
}
