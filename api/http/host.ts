import Koa from 'koa';
import type { ServerResponse } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from 'pino';
import { HttpError, httpErrorOf, methodNotAllowed, notFound } from '../../pipeline/core/errors.ts';
import type { Metrics } from '../../pipeline/core/metrics.ts';
import { authorize, refuseProject, type KeyStore } from '../auth/authenticate.ts';
import { identify, type Identifier } from '../auth/identify.ts';
import type { Sessions } from '../auth/sessions.ts';
import { AnswerCompression } from './answer-compression.ts';
import { corsHeaders, isPreflight, preflight } from './cors.ts';
import type { Endpoint } from './endpoint.ts';
import { Exchange } from './exchange.ts';
import { LoopTurns } from './loop-turns.ts';
import { RefusalPace } from './refusal-pace.ts';
import { HttpServer, type HttpServerOptions } from './http-server.ts';
import { internalError, renderError } from './render-error.ts';
import type { RouteAnswer } from './route.ts';
import { RouteTable, type Found } from './route-table.ts';
import { send } from './send.ts';

export type HostOptions = Pick<HttpServerOptions, 'name' | 'host' | 'port' | 'tls' | 'onUpgrade' | 'limits' | 'unsent'> & {
  /** Everything this host serves; any other path is a 404. */
  readonly endpoints: readonly Endpoint[];
  readonly keys: KeyStore;
  /** Browser sessions that it accepts; absent: none. */
  readonly sessions?: Sessions;
  readonly corsOrigins: readonly string[];
  readonly metrics: Metrics;
  readonly log: Logger;
  /** What a 404 says of a path that is near to one that this host has; undefined: nothing special. */
  readonly hintOf?: (path: string) => string | undefined;
  /** Is given each request that is refused, after its key was looked at. */
  readonly onRefused?: (exchange: Exchange, error: HttpError) => void;
};

const noHint = (): undefined => undefined;

/** What the middleware of one request shares. */
type State = { exchange: Exchange; endpoint: Endpoint | null; answer: RouteAnswer };
type Middleware = Koa.Middleware<State>;

/** A listener: an explicit list of paths behind request ids, errors, CORS and keys. */
export function createHost(options: HostOptions): HttpServer {
  const { name, host, port, tls, onUpgrade, limits, metrics } = options;
  const app = new Koa<State>();
  app.silent = true;
  const exchanges = new WeakMap<ServerResponse, Exchange>();
  const turns = new LoopTurns();
  const server = new HttpServer({
    name,
    host,
    port,
    listener: (request, response) => void handle(request, response),
    onRefused: (status) => {
      metrics.errors.inc({ slug: 'parser', status });
    },
    onLeft: (response) => {
      const exchange = exchanges.get(response);
      if (exchange !== undefined) noteClosed(exchange, options);
    },
    unsent: {
      ownerOf: (answer) => exchanges.get(answer)?.tenantId ?? null,
      onCut: (reason, answer) => {
        metrics.cutAnswers.inc({ reason });
        const exchange = exchanges.get(answer);
        if (exchange !== undefined) exchange.isCutOff = true;
      },
      ...options.unsent,
    },
    ...(tls === undefined ? {} : { tls }),
    ...(onUpgrade === undefined ? {} : { onUpgrade }),
    ...(limits === undefined ? {} : { limits }),
  });
  app
    .use(answering(options, server, exchanges))
    .use(routing(options))
    .use(checking(options))
    .use(async ({ state: { endpoint, exchange }, state }) => {
      if (endpoint === null) return;
      // what comes is read in its tenant's turns too; entries have their own, by bytes (api/limits/parse-turns.ts)
      if (endpoint.access?.plane === 'app' && exchange.tenantId !== null) await turns.next(exchange.tenantId);
      state.answer = await endpoint.handle(exchange);
    });
  const handle = app.callback();
  return server;
}

/** Outermost: makes the exchange, turns what was thrown into an answer, writes it and counts it. */
function answering(options: HostOptions, server: HttpServer, exchanges: WeakMap<ServerResponse, Exchange>): Middleware {
  const { corsOrigins, metrics, log } = options;
  const compression = new AnswerCompression();
  const pace = new RefusalPace();
  return async (context, next) => {
    // answers are written by `send`, which also drains a body that was not read
    context.respond = false;
    const exchange = new Exchange(context.req, context.res);
    exchanges.set(context.res, exchange);
    context.state = { exchange, endpoint: null, answer: { status: 204 } };
    try {
      await next();
    } catch (thrown) {
      const error = toHttpError(thrown, exchange, log);
      // it was counted when it disconnected, and no one reads an answer
      if (exchange.isClosed() && thrown === error) return;
      metrics.errors.inc({ slug: error.slug, status: error.status });
      options.onRefused?.(exchange, error);
      const waitMs = error.status === 429 && exchange.tenantId !== null ? pace.waitMs(exchange.tenantId, performance.now()) : 0;
      // one that disconnects meanwhile is not answered
      if (waitMs > 0) await sleep(waitMs);
      context.state.answer = renderError(error, context.state.endpoint?.errors ?? 'query', exchange);
    }
    const { endpoint, answer } = context.state;
    const status = String(answer.status);
    metrics.requests.observe(
      { route: exchange.template, method: exchange.method, status },
      (performance.now() - exchange.startedAt) / 1000,
    );
    await send(exchange, answer, {
      headers: { ...endpoint?.answerHeaders, ...corsHeaders(corsOrigins, exchange.header('origin')) },
      closing: server.stopping,
      compression: endpoint?.access?.plane === 'app' ? compression : null,
      onFailed: (thrown) => {
        noteFailure(thrown, exchange, options);
      },
    });
  };
}

/** Counts a client that disconnects before its answer is complete: that is not an error, and is logged at debug level only. */
function noteClosed({ isCutOff, template, requestId, tenantId, startedAt }: Exchange, { metrics, log }: HostOptions): void {
  if (isCutOff) return;
  metrics.clientsClosed.inc({ route: template });
  const ms = Math.round(performance.now() - startedAt);
  log.debug({ requestId, route: template, tenantId, ms }, 'A client disconnected before its response was complete.');
}

/** An answer failed after its status was sent: the client sees it cut off, and the reason is known here alone. */
function noteFailure(thrown: unknown, exchange: Exchange, { metrics, log }: HostOptions): void {
  exchange.isCutOff = true;
  const { template: route, requestId, tenantId } = exchange;
  const isExpected = thrown instanceof HttpError;
  metrics.failedStreams.inc({ route, slug: isExpected ? thrown.slug : 'internal_error' });
  log[isExpected ? 'warn' : 'error']({ err: thrown, requestId, route, tenantId }, 'An answer failed after it had begun, and was cut off.');
}

function toHttpError(thrown: unknown, exchange: Exchange, log: Logger): HttpError {
  const known = httpErrorOf(thrown);
  if (known !== null) return known;
  log.error({ err: thrown, requestId: exchange.requestId, route: exchange.template }, 'A request failed unexpectedly.');
  return internalError(thrown);
}

/** Finds the endpoint, before any credential is read: 404, 405, preflights. */
function routing({ endpoints, corsOrigins, hintOf = noHint }: HostOptions): Middleware {
  const table = new RouteTable<Endpoint>();
  for (const endpoint of endpoints) table.add(endpoint.methods, endpoint.path, endpoint);
  return async ({ state, req }, next) => {
    const { exchange } = state;
    if (req.httpVersion === '1.1' && req.headers.host === undefined)
      throw new HttpError(400, 'invalid_request', 'The request has no Host header.');
    if (req.headers.expect !== undefined && req.headers.expect.toLowerCase() !== '100-continue')
      throw new HttpError(417, 'invalid_request', 'Only the expectation 100-continue can be met.');
    const found = table.find(exchange.path);
    if (found === null) throw notFound(hintOf(exchange.path));
    exchange.template = found.template;
    exchange.params = found.params;
    state.endpoint = endpointOf(found, exchange.method);
    if (state.endpoint.methods.includes(exchange.method) || (exchange.method === 'HEAD' && found.members.has('GET'))) {
      await next();
      return;
    }
    if (!isPreflight(exchange)) throw methodNotAllowed(exchange.method, allowedMethods(found));
    state.answer = preflight(corsHeaders(corsOrigins, exchange.header('origin')), allowedMethods(found));
  };
}

/** The endpoint for this method; for any other the first of the path, whose style of errors then holds. */
function endpointOf(found: Found<Endpoint>, method: string): Endpoint {
  const endpoint = found.members.get(method === 'HEAD' ? 'GET' : method) ?? [...found.members.values()][0];
  if (endpoint === undefined) throw new Error('BUG: a path without a method.');
  return endpoint;
}

function allowedMethods(found: Found<Endpoint>): string[] {
  const methods = [...found.members.keys()];
  return methods.includes('GET') ? [...methods, 'HEAD'] : methods;
}

/** Credential, key or session, tenant of the path, scope, demo: in this order. */
function checking(identifier: Identifier): Middleware {
  return async ({ state }, next) => {
    const { exchange, endpoint } = state;
    const open = endpoint?.withoutKey?.(exchange) ?? null;
    if (open !== null) {
      state.answer = open;
      return;
    }
    if (endpoint?.access != null) {
      const { access } = endpoint;
      exchange.checkKey = () => {
        const { principal, session } = identify(exchange, identifier, access);
        exchange.principal = principal;
        exchange.session = session;
        authorize(principal, access.scope, exchange.params['tenant_id']);
        if (access.scope !== 'ingest' && endpoint.isNarrowed !== true) refuseProject(principal);
      };
      exchange.checkKey();
    }
    await next();
  };
}
