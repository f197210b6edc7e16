import { invalidParameter } from '../../pipeline/core/errors.ts';
import type { Route, RouteContext } from '../http/route.ts';
import { facetsParameters, hitsParameters, measuresParameters, searchParameters, windowParameters } from '../query/parameters.ts';
import { patternDiffParameters, patternParameters, patternsParameters } from '../query/patterns/parameters.ts';
import type { QueryRuntime } from '../query/runtime.ts';

const BASE = '/api/v1/tenants/{tenant_id}';

/** The endpoints `/search`, `/hits`, `/facets`, `/streams`, `/measures` and `/patterns` of a tenant. */
export function createQueryRoutes(runtime: QueryRuntime): readonly Route[] {
  const answer = async (context: RouteContext, operation: string, parameters: unknown): ReturnType<Route['handle']> => ({
    status: 200,
    ...(await runtime.run(context, operation, parameters)),
  });
  /** A GET whose parameters are checked before the query is counted. */
  const get = (name: string, read: (query: URLSearchParams) => unknown): Route => ({
    method: 'GET',
    path: `${BASE}/${name}`,
    scope: 'read',
    handle: async (context) => {
      const parameters = read(context.query);
      return answer(context, name, parameters);
    },
  });
  return [
    {
      method: 'POST',
      path: `${BASE}/search`,
      scope: 'read',
      handle: async (context) => {
        const parameters = searchParameters(await context.body());
        if (context.query.get('explain') === 'true') return answer(context, 'explain', parameters);
        return answer(context, 'search', { ...parameters, enrich: isEnriched(context.query.get('enrich')) });
      },
    },
    get('hits', hitsParameters),
    get('facets', facetsParameters),
    get('streams', windowParameters),
    get('measures', measuresParameters),
    get('patterns', patternsParameters),
    get('patterns/diff', patternDiffParameters),
    {
      method: 'GET',
      path: `${BASE}/patterns/{fingerprint}`,
      scope: 'read',
      handle: async (context) => answer(context, 'pattern', patternParameters(context.params['fingerprint'], context.query)),
    },
  ];
}

/** Whether what is known of patterns is to be added: it is by default. Throws HttpError 400. */
function isEnriched(text: string | null): boolean {
  if (text === null || text === 'true') return true;
  if (text === 'false') return false;
  throw invalidParameter('enrich must be true or false.');
}
