import type { Plane } from '../auth/planes.ts';
import type { Exchange } from './exchange.ts';
import { members, ok, type Operation } from './operation.ts';
import type { ErrorStyle } from './render-error.ts';
import type { Route, RouteAnswer } from './route.ts';
import type { Scope } from '../tenants/principal.ts';
import Joi from 'joi';

/** A path of a public host: its methods, who may request it, and its handler. */
export type Endpoint = {
  readonly methods: readonly string[];
  /** With parameters as `{name}` or `:name`. */
  readonly path: string;
  readonly errors: ErrorStyle;
  /** The plane whose credential forms count, and the scope that is needed (null: any); null: no key is required. */
  readonly access: { readonly plane: Plane; readonly scope: Scope | null } | null;
  /** Headers of every answer of this path, errors too. */
  readonly answerHeaders?: Readonly<Record<string, string>>;
  /** What it takes and answers, by each of its methods. */
  readonly operation?: Operation;
  handle(exchange: Exchange): Promise<RouteAnswer>;
};

/** The endpoint of a route of the app plane. */
export function appEndpoint(route: Route, errors: ErrorStyle = 'query'): Endpoint {
  return {
    methods: [route.method],
    path: route.path,
    errors,
    access: { plane: 'app', scope: route.scope },
    ...(route.operation === undefined ? {} : { operation: route.operation }),
    handle: (exchange) => route.handle(exchange),
  };
}

/** `GET /health`: reports only that this process runs; it queries no other service. */
export const health: Endpoint = {
  methods: ['GET'],
  path: '/health',
  errors: 'query',
  access: null,
  operation: {
    ...{ id: 'getHealth', tag: 'service', summary: 'Whether this process runs', description: 'It asks no other service.' },
    answers: ok(members({ status: Joi.string().valid('ok') })),
    errors: [400],
  },
  handle: () => Promise.resolve({ status: 200, body: { status: 'ok' } }),
};
