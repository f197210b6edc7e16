import { hintsOf } from '../../logsql/hints.ts';
import type { Route, RouteContext } from '../http/route.ts';
import type { Request } from './deps.ts';
import { explainSearch } from './explain.ts';
import { facets } from './facets.ts';
import { hits } from './hits.ts';
import { listStreams } from './list-streams.ts';
import { facetsParameters, hitsParameters, searchParameters, windowParameters } from './parameters.ts';
import type { QueryRuntime } from './runtime.ts';
import { search } from './search.ts';

const BASE = '/api/v1/tenants/{tenant_id}';

/** Hints in a header, in ASCII; no header where there are none. */
export const hintHeader = (hints: readonly string[]): Readonly<Record<string, string>> =>
  hints.length === 0
    ? {}
    : { 'X-Query-Hint': hints.join(' ').replace(/[^ -~]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`) };

/** The endpoints `/search`, `/hits`, `/facets` and `/streams` of a tenant. */
export function createQueryRoutes(runtime: QueryRuntime): readonly Route[] {
  const plain = runtime.deps(false);
  const { maxFacetFields } = runtime.limits;
  const answer = async (context: RouteContext, work: (request: Request) => Promise<string>): ReturnType<Route['handle']> => ({
    status: 200,
    body: await runtime.run(context, work),
  });
  /** A GET whose parameters are checked before the query is counted. */
  const get = <T>(
    name: string,
    read: (query: URLSearchParams) => T,
    work: (parameters: T, request: Request) => Promise<string>,
  ): Route => ({
    method: 'GET',
    path: `${BASE}/${name}`,
    scope: 'read',
    handle: async (context) => {
      const parameters = read(context.query);
      return answer(context, (request) => work(parameters, request));
    },
  });
  return [
    {
      method: 'POST',
      path: `${BASE}/search`,
      scope: 'read',
      handle: async (context) => {
        const parameters = searchParameters(await context.body());
        if (context.query.get('explain') === 'true') return answer(context, (request) => explainSearch(parameters, request, plain));
        const isEnriched = context.query.get('enrich') !== 'false';
        const found = await answer(context, (request) => search(parameters, request, runtime.deps(isEnriched)));
        return { ...found, headers: hintHeader(hintsOf(parameters.query)) };
      },
    },
    get('hits', hitsParameters, (parameters, request) => hits(parameters, request, plain)),
    get('facets', facetsParameters, (parameters, request) => facets(parameters, request, plain, maxFacetFields)),
    get('streams', windowParameters, (parameters, request) => listStreams(parameters, request, plain)),
  ];
}
