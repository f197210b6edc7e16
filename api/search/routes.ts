import { invalidParameter } from '../../pipeline/core/errors.ts';
import type { Operation } from '../http/operation.ts';
import type { Route, RouteContext } from '../http/route.ts';
import * as patterns from '../query/patterns/described.ts';
import * as described from './described.ts';
import {
  FACETS,
  facetsParameters,
  HITS,
  hitsParameters,
  MEASURES,
  measuresParameters,
  searchParameters,
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
        if (context.query.get('explain') === 'true') return answer(context, 'explain', parameters);
        return answer(context, 'search', { ...parameters, enrich: isEnriched(context.query.get('enrich')) });
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
    if (context.query.get('explain') === 'true') return answer(context, 'spans/explain', parameters);
    return answer(context, 'spans/search', { ...parameters, enrich: false });
  },
});

/** The body of a search, and what is said of it; `known` are parameters of its URL. */
async function searchOf(context: RouteContext, known: readonly string[]): Promise<SearchParameters> {
  const parameters = searchParameters(await context.body());
  return { ...parameters, notes: [...(parameters.notes ?? []), ...unknownNames(context.query.keys(), known, 'parameter')] };
}

/** Whether what is known of patterns is to be added: it is by default. Throws HttpError 400. */
function isEnriched(text: string | null): boolean {
  if (text === null || text === 'true') return true;
  if (text === 'false') return false;
  throw invalidParameter('enrich must be true or false.');
}
