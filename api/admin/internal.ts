import { createHash, timingSafeEqual } from 'node:crypto';
import type { Logger } from 'pino';
import { forbidden, unauthorized } from '../../pipeline/core/errors.ts';
import type { Metrics } from '../../pipeline/core/metrics.ts';
import type { ControlStore } from '../control/control-store.ts';
import type { Endpoint } from '../http/endpoint.ts';
import type { Exchange } from '../http/exchange.ts';
import { createHost } from '../http/host.ts';
import type { HttpServer } from '../http/http-server.ts';
import type { RouteAnswer } from '../http/route.ts';
import type { RejectionLog } from '../ingest/rejection-log.ts';
import type { AdminAudit, AuditActor } from './admin-audit.ts';
import type { AdminRoute } from './admin-routes.ts';
import { audited, CLIENT_HEADER, type AdminRequest } from './audited.ts';
import type { Checks } from './checks.ts';
import { asMetricsJson, mergeMetrics } from './merge-metrics.ts';
import type { Peers } from './peers.ts';
import { processorsRoute, type ProcessorLook } from './processors.ts';
import { rejectionsAdminRoute } from './rejections.ts';

export type InternalOptions = {
  readonly host: string;
  readonly port: number;
  /** Token of the admin routes; empty: no request is accepted. */
  readonly token: string;
  readonly role: string;
  readonly metrics: Metrics;
  readonly checks: Checks;
  readonly log: Logger;
  /** The other processes: this one then answers for all of them. */
  readonly peers?: Peers;
  /** Lets peers wait until this process has folded a record of the control topic. */
  readonly control?: ControlStore;
  /** What the processors of this process are doing. */
  readonly processors?: ProcessorLook;
  /** What this process refused, for the admin route that shows it, and for the peers' ones. */
  readonly rejections?: RejectionLog;
  readonly adminRoutes?: readonly AdminRoute[];
  /** Where the changes of the admin routes are written down; without it they are not. */
  readonly audit?: AdminAudit;
};

const SEEN_MS = 1500;
/** Characters of a client's name for itself, and of the digest of the token. */
const MAX_CLIENT = 200;
const TOKEN_DIGEST = 8;

/** The listener for operators, on an address of its own: `/ready`, `/metrics`, and behind the token `/admin/…`. */
export function createInternalListener(options: InternalOptions): HttpServer {
  const { host, port, role, metrics, log, control, rejections, peers, adminRoutes = [] } = options;
  const endpoints: Endpoint[] = [
    open('/ready', (query) => ready(options, query)),
    open('/metrics', (query) => scrape(options, query)),
    ...adminRoutes.map((route) => guarded(options, route)),
  ];
  if (control !== undefined) endpoints.push(guarded(options, seenRoute(control)));
  if (rejections !== undefined) {
    const sources = { log: rejections, ...(peers === undefined ? {} : { peers }) };
    endpoints.push(guarded(options, rejectionsAdminRoute(sources, control)));
  }
  const look = options.processors ?? ((): readonly [] => []);
  endpoints.push(guarded(options, processorsRoute({ role, look, ...(peers === undefined ? {} : { peers }) })));
  const keys = {
    find: (): never => {
      throw new Error('BUG: the internal listener knows no keys.');
    },
  };
  return createHost({ name: `internal listener of ${role}`, host, port, endpoints, keys, corsOrigins: [], metrics, log });
}

function open(path: string, answer: (query: URLSearchParams) => Promise<RouteAnswer>): Endpoint {
  return { methods: ['GET'], path, errors: 'query', access: null, handle: (exchange) => answer(exchange.query) };
}

/** An admin route behind the token. */
function guarded(options: InternalOptions, route: AdminRoute): Endpoint {
  const { token, audit } = options;
  const answer = audit === undefined ? (request: AdminRequest) => route.handle(request) : audited(route, audit);
  return {
    methods: [route.method],
    path: route.path,
    errors: 'query',
    access: null,
    handle: async (exchange) => {
      checkToken(exchange.header('authorization'), token);
      const { params, query, requestId } = exchange;
      return answer({ params, query, requestId, body: () => exchange.body() }, actorOf(exchange, options));
    },
  };
}

function checkToken(header: string, token: string): void {
  const sent = /^bearer\s+(\S+)\s*$/i.exec(header)?.[1];
  if (sent === undefined) throw unauthorized('The admin routes need `Authorization: Bearer <admin token>`.');
  const digest = (text: string): Buffer => createHash('sha256').update(text).digest();
  if (token === '' || !timingSafeEqual(digest(sent), digest(token))) throw forbidden('The admin token is wrong.');
}

/** Who requests, as far as known. A digest under the pepper of the keys distinguishes tokens. */
function actorOf(exchange: Exchange, { token, control }: InternalOptions): AuditActor {
  const client = printable(exchange.header(CLIENT_HEADER)).slice(0, MAX_CLIENT);
  const digest = control?.hash(`admin token ${token}`).slice(0, TOKEN_DIGEST);
  return {
    ...(digest === undefined ? {} : { token: digest }),
    ...(client === '' ? {} : { client }),
    address: exchange.request.socket.remoteAddress ?? '',
  };
}

const printable = (text: string): string => text.replace(/[^\x20-\x7e\xa0-\xff]/g, ' ');

function seenRoute(control: ControlStore): AdminRoute {
  return {
    method: 'GET',
    path: '/admin/control/{offset}',
    handle: async ({ params }) => {
      const text = params['offset'] ?? '';
      const seen = /^\d{1,18}$/.test(text) && (await control.seen(BigInt(text), SEEN_MS));
      return { status: 200, body: { seen } };
    },
  };
}

type Readiness = {
  readonly role: string;
  readonly checks: Readonly<Record<string, boolean>>;
  /** What an operator must look at, though the process works. */
  readonly warnings: readonly string[];
};

/** 200 only if all checks hold, here and (unless `?self=1`) in every other process; else 503 and which do not. */
async function ready({ role, checks, peers }: InternalOptions, query: URLSearchParams): Promise<RouteAnswer> {
  const isAlone = peers === undefined || query.has('self');
  const list = isAlone ? {} : { peers: peers.isListKnown };
  const own: Readiness = { role, checks: { ...(await checks.run()), ...list }, warnings: checks.warnings };
  const others = isAlone ? [] : await peers.query('/ready?self=1');
  const missing = isAlone ? [] : peers.roles.filter((name) => !others.some((answer) => answer.role === name));
  const processes: Readiness[] = [
    own,
    ...others.map(({ role: name, body }) => ({ role: name, ...readinessOf(body) })),
    ...missing.map((name) => ({ role: name, checks: { answers: false }, warnings: [] })),
  ];
  const failing = processes.flatMap((part) =>
    Object.entries(part.checks)
      .filter(([, holds]) => !holds)
      .map(([name]) => `${part.role}: ${name}`),
  );
  const warnings = processes.flatMap((part) => part.warnings.map((warning) => `${part.role}: ${warning}`));
  const body = { status: failing.length === 0 ? 'ready' : 'not_ready', failing, warnings, processes };
  return { status: failing.length === 0 ? 200 : 503, body };
}

/** The readiness in a peer's answer; a peer that does not answer fails the check `answers`. */
function readinessOf(body: unknown): Omit<Readiness, 'role'> {
  const processes = (body as { processes?: unknown } | null)?.processes;
  const own: unknown = Array.isArray(processes) ? processes[0] : undefined;
  const { checks, warnings } = (own ?? {}) as { checks?: unknown; warnings?: unknown };
  return {
    checks: typeof checks === 'object' && checks !== null ? (checks as Record<string, boolean>) : { answers: false },
    warnings: Array.isArray(warnings) ? warnings.map(String) : [],
  };
}

/** Prometheus text of this process and its peers; `?self=1` of this one alone, `?self=json` as JSON for a peer to merge. */
async function scrape({ metrics, peers }: InternalOptions, query: URLSearchParams): Promise<RouteAnswer> {
  const own = await metrics.registry.getMetricsAsJSON();
  if (query.get('self') === 'json') return { status: 200, body: own };
  const others = peers === undefined || query.has('self') ? [] : await peers.query('/metrics?self=json');
  const text = await mergeMetrics([own, ...others.map(({ body }) => asMetricsJson(body))]);
  return { status: 200, headers: { 'Content-Type': metrics.registry.contentType }, body: text };
}
