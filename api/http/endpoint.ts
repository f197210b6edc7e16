import type { Plane } from '../auth/planes.ts';
import type { Exchange } from './exchange.ts';
import type { ErrorStyle } from './render-error.ts';
import type { Route, RouteAnswer } from './route.ts';
import type { Scope } from '../tenants/principal.ts';

/** A path of a public host: its methods, who may request it, and its handler. */
export type Endpoint = {
  readonly methods: readonly string[];
  /** With parameters as `{name}` or `:name`. */
  readonly path: string;
  readonly errors: ErrorStyle;
  /** The plane whose credential forms count, and the scope that is needed; null: no key is required. */
  readonly access: { readonly plane: Plane; readonly scope: Scope } | null;
  /** Headers of every answer of this path, errors too. */
  readonly answerHeaders?: Readonly<Record<string, string>>;
  handle(exchange: Exchange): Promise<RouteAnswer>;
};

/** The endpoint of a route of the app plane. */
export function appEndpoint(route: Route, errors: ErrorStyle = 'query'): Endpoint {
  return {
    methods: [route.method],
    path: route.path,
    errors,
    access: { plane: 'app', scope: route.scope },
    handle: (exchange) => route.handle(exchange),
  };
}

/** `GET /health`: reports only that this process runs; it queries no other service. */
export const health: Endpoint = {
  methods: ['GET'],
  path: '/health',
  errors: 'query',
  access: null,
  handle: () => Promise.resolve({ status: 200, body: { status: 'ok' } }),
};
