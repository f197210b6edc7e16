import type { Operation } from '../http/operation.ts';
import type { Route, RouteContext } from '../http/route.ts';
import * as patterns from '../query/patterns/described.ts';
import * as described from './described.ts';
import {
  check,
  FACETS,
  facetsParameters,
  HITS,
  hitsParameters,
  MEASURES,
  measuresParameters,
  searchParameters,
  single,
  type SearchParameters,
  WINDOW,
  windowParameters,
} from '../query/parameters.ts';
import {
  PATTERN,
  patternDiffParameters,
  patternParameters,
  PATTERNS,
  PATTERNS_DIFF,
  patternsParameters,
} from '../query/patterns/parameters.ts';
import { unknownNames, withHints } from '../query/hints.ts';
import type { QueryRuntime } from '../query/runtime.ts';

const BASE = '/api/v1/tenants/{tenant_id}';

/** Those that give a key of a project that project alone. */
const NARROWED: ReadonlySet<string> = new Set(['hits', 'facets', 'streams', 'patterns', 'patterns/diff']);

/** The endpoints `/search`, `/spans/search`, `/hits`, `/facets`, `/streams`, `/measures` and `/patterns` of a tenant. */
export function createQueryRoutes(runtime: QueryRuntime): readonly Route[] {
  const answer = async (context: RouteContext, operation: string, parameters: unknown): ReturnType<Route['handle']> => ({
    status: 200,
    ...(await runtime.run(context, operation, parameters)),
  });
  /** A GET whose parameters are checked before the query is counted; those that it does not know are named. */
  const get = (name: string, operation: Operation, read: (query: URLSearchParams) => unknown, known: readonly string[]): Route => ({
    operation,
    method: 'GET',
    path: `${BASE}/${name}`,
    scope: 'read',
    ...(NARROWED.has(name) ? { isNarrowed: true as const } : {}),
    handle: async (context) => {
      const parameters = read(context.query);
      return withHints(await answer(context, name, parameters), unknownNames(context.query.keys(), known, 'parameter'));
    },
  });
  return [
    {
      method: 'POST',
      path: `${BASE}/search`,
      scope: 'read',
      isNarrowed: true,
      operation: described.SEARCH,
      handle: async (context) => {
        const parameters = await searchOf(context, ['explain', 'enrich']);
        const { explain, enrich } = check(described.SEARCH_URL, single(context.query, ['explain', 'enrich']));
        return explain ? answer(context, 'explain', parameters) : answer(context, 'search', { ...parameters, enrich });
      },
    },
    get('hits', described.HITS, hitsParameters, HITS),
    get('facets', described.FACETS, facetsParameters, FACETS),
    get('streams', described.STREAMS, windowParameters, WINDOW),
    get('measures', described.MEASURES, measuresParameters, MEASURES),
    get('patterns', patterns.PATTERNS, patternsParameters, PATTERNS),
    get('patterns/diff', patterns.DIFF, patternDiffParameters, PATTERNS_DIFF),
    {
      method: 'GET',
      path: `${BASE}/patterns/{fingerprint}`,
      scope: 'read',
      isNarrowed: true,
      operation: patterns.PATTERN,
      handle: async (context) => {
        const parameters = patternParameters(context.params['fingerprint'], context.query);
        return withHints(await answer(context, 'pattern', parameters), unknownNames(context.query.keys(), PATTERN, 'parameter'));
      },
    },
    spanSearch(answer),
    get('spans/hits', described.SPAN_HITS, hitsParameters, HITS),
    get('spans/facets', described.SPAN_FACETS, facetsParameters, FACETS),
  ];
}

/** `POST /spans/search`. */
const spanSearch = (answer: (context: RouteContext, operation: string, parameters: unknown) => ReturnType<Route['handle']>): Route => ({
  method: 'POST',
  path: `${BASE}/spans/search`,
  scope: 'read',
  operation: described.SPANS,
  handle: async (context) => {
    const parameters = await searchOf(context, ['explain']);
    const { explain } = check(described.SPANS_URL, single(context.query, ['explain']));
    return explain ? answer(context, 'spans/explain', parameters) : answer(context, 'spans/search', { ...parameters, enrich: false });
  },
});

/** The body of a search, and what is said of it; `known` are parameters of its URL. */
async function searchOf(context: RouteContext, known: readonly string[]): Promise<SearchParameters> {
  const parameters = searchParameters(await context.body());
  return { ...parameters, notes: [...(parameters.notes ?? []), ...unknownNames(context.query.keys(), known, 'parameter')] };
}
