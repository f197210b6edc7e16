import { fileURLToPath } from 'node:url';
import { AdminAudit } from '../../api/admin/admin-audit.ts';
import { adminRoutes } from '../../api/admin/admin-routes.ts';
import { auditRoute } from '../../api/admin/audit-route.ts';
import { deadLetterRoutes } from '../../api/admin/dead-letters.ts';
import { deletionRoutes } from '../../api/admin/deletion-routes.ts';
import { TenantErasure } from '../../api/admin/tenant-erasure.ts';
import { usageRoute } from '../../api/admin/usage-route.ts';
import type { BilledSignal } from '../../api/limits/day-volume.ts';
import type { UsageCounts } from '../../api/limits/usage-counts.ts';
import { rejectionsRoute } from '../../api/admin/rejections.ts';
import { createUsageRoute, type UsageRouteOptions } from '../../api/account/usage-route.ts';
import { createPreviewRoutes } from '../../api/alerts/preview-routes.ts';
import { createAlertRoutes } from '../../api/alerts/routes.ts';
import { createWebhookRoutes } from '../../api/alerts/webhook-routes.ts';
import type { ControlStore } from '../../api/control/control-store.ts';
import { TrialSweep } from '../../api/control/trial-sweep.ts';
import { appEndpoint, type Endpoint } from '../../api/http/endpoint.ts';
import { createHost } from '../../api/http/host.ts';
import type { Route } from '../../api/http/route.ts';
import { appHostEndpoints } from '../../api/http/host-lists.ts';
import { playbooksFor } from '../../api/control/playbooks.ts';
import { LiveTails } from '../../api/limits/live-tails.ts';
import { changeGate, changeRate } from '../../api/app/change-rate.ts';
import { queryRate, type KnownQueryRate } from '../../api/limits/query-rate.ts';
import { createQueryRoutes } from '../../api/search/routes.ts';
import { QueryRuntime } from '../../api/query/runtime.ts';
import type { QueryPool } from '../../api/engine/workers/query-pool.ts';
import type { QueryEngine } from '../../api/query/engine.ts';
import { createPrometheusEndpoints } from '../../api/prometheus/endpoints.ts';
import { leadingToPages, uiEndpoints } from '../../api/ui/endpoints.ts';
import { openApiEndpoint } from '../../api/openapi/endpoint.ts';
import { createSelectEndpoints } from '../../api/select/endpoints.ts';
import { mcpEndpoint } from '../../api/mcp/endpoint.ts';
import { createMetricsRoutes } from '../../api/metrics/routes.ts';
import { createJaegerEndpoints } from '../../api/traces/jaeger/endpoints.ts';
import { createReplayRoutes } from '../../api/replay/routes.ts';
import { createTraceRoutes } from '../../api/traces/routes.ts';
import { DeadLetters } from '../../pipeline/bus/dead-letters/dead-letters.ts';
import { createKafka } from '../../pipeline/bus/connection/kafka.ts';
import { RecordHistory } from '../../pipeline/bus/state/record-history.ts';
import { ADMIN_AUDIT_TOPIC, busTopics, DEAD_LETTER_TOPIC } from '../../pipeline/bus/records/topics.ts';
import type { Service } from '../../pipeline/core/service.ts';
import { loadDetectors } from '../../pipeline/alerting/custom/load-detectors.ts';
import { RowPolicies } from '../../pipeline/store/row-policies.ts';
import { settingChecks } from '../processor-files.ts';
import { sentSignals, signalsWith, sinksOf, type StoredSignal } from '../signals.ts';
import { createAccounts, type Accounts } from './accounts.ts';
import { createAi, type Ai } from './ai.ts';
import { createAlertFeed } from './alert-feed.ts';
import { createAlertResolver } from './alert-resolver.ts';
import { createBackupRoutes } from './backups.ts';
import { createControlStore } from './control.ts';
import { adminDetectionRoutes, detectionRoutes, metricRulesOf, type DetectionOptions } from './detection.ts';
import { createLogCover } from './log-cover.ts';
import { createLogGuard } from './log-guard.ts';
import { ingestPlane, publicHost } from './ingest.ts';
import { createLive } from './live.ts';
import { replayRemoval } from './replay-removal.ts';
import type { Role, RoleContext } from './role.ts';
import { readSets, type ReadSets } from './sets.ts';

/** What administrators have changed, and the topic that it lies on. */
function adminAudit({ config, log }: RoleContext): { readonly history: RecordHistory; readonly audit: AdminAudit } {
  const kafka = createKafka({ ...config.kafka, clientId: 'logweir-admin-audit', log });
  const history = new RecordHistory({ kafka, topic: ADMIN_AUDIT_TOPIC });
  return { history, audit: new AdminAudit(history, log.child({ component: 'admin audit' })) };
}

/** Watches the row policies of the reader of the only set; an owner that reads has none, which the log says once. */
function watchPolicies({ log, metrics, registerWarning }: RoleContext, { all: [only], watch }: ReadSets): Service[] {
  if (watch !== null || only === undefined) return [];
  const { store, clickhouse } = only;
  if (clickhouse.readerUser === clickhouse.user) {
    log.warn({ user: clickhouse.user }, 'Queries run as the owner of the tables: no row policy separates tenants.');
    return [];
  }
  const onLook = (missing: readonly string[]): void => {
    metrics.missingRowPolicies.set(missing.length);
  };
  const policies = new RowPolicies({ store, onLook, log: log.child({ component: 'row policies' }) });
  registerWarning(() => policies.warning);
  return [policies];
}

/** Dead letters are kept longest. */
const LOG_KEPT_MS = Math.max(...busTopics.filter(({ name }) => name === DEAD_LETTER_TOPIC).map(({ retentionMs = 0 }) => retentionMs));

/** The requests of operators to the internal listener. */
function serveAdmin(
  context: RoleContext,
  {
    control,
    counts,
    deadLetters,
    sets,
    detection,
    audit,
    tables,
    billed,
    accounts,
    erasure,
    stored,
  }: {
    readonly control: ControlStore;
    readonly counts: Parameters<typeof usageRoute>[1];
    readonly deadLetters: DeadLetters;
    readonly sets: ReadSets;
    readonly detection: DetectionOptions;
    readonly audit: AdminAudit;
    /** By their topics. */
    readonly tables: ReadonlyMap<string, string>;
    readonly billed: readonly BilledSignal[];
    readonly accounts: Accounts;
    readonly erasure: TenantErasure;
    readonly stored: readonly StoredSignal[];
  },
): void {
  const { peers, log } = context;
  const routes = [
    ...adminRoutes(control, peers),
    ...adminDetectionRoutes(detection),
    usageRoute(control, counts, billed),
    ...deadLetterRoutes({ deadLetters, stores: sets.whole, tables, log }),
    auditRoute(audit),
    ...createBackupRoutes(context, stored, control),
    ...deletionRoutes({ control, peers, logKeptMs: LOG_KEPT_MS, onDeleted: () => void erasure.look() }),
    ...accounts.adminRoutes,
  ];
  context.serveAdmin(routes, audit);
}

/** What answers queries, and tells which of what was taken they cover. */
function queryPlane(
  context: RoleContext,
  own: { readonly sets: ReadSets; readonly pool: QueryPool; readonly deadLetters: DeadLetters; readonly counts: UsageCounts },
): {
  readonly engine: QueryEngine;
  readonly runtime: QueryRuntime;
  readonly covers: readonly Service[];
  readonly rate: KnownQueryRate;
} {
  const { sets, pool, deadLetters, counts } = own;
  const { limits } = context.config;
  const covers = new Map(sets.all.map(({ name: set, store }) => [set, createLogCover(context, { store, deadLetters, set })]));
  const rate = queryRate({ shared: counts.calls });
  // of several sets, the one that runs a query says how far it is counted
  const [cover] = sets.watch === null ? covers.values() : [];
  const used = { engine: sets.over(pool, covers), limits, rate, uses: context.metrics.queries, ...(cover === undefined ? {} : { cover }) };
  return { engine: sets.over(pool), covers: [...covers.values()], rate, runtime: new QueryRuntime(used) };
}

/** Query APIs of others: VictoriaLogs', Jaeger's and Prometheus'. */
const otherApis = (runtime: QueryRuntime, detection: DetectionOptions): Endpoint[] => [
  ...createSelectEndpoints(runtime),
  ...createJaegerEndpoints(runtime),
  ...createPrometheusEndpoints(runtime, (tenantId) => metricRulesOf(detection, tenantId)),
];

/** The routes of our own API, which are requested under a tenant. */
const ownRoutes = (
  context: RoleContext,
  own: {
    readonly control: ControlStore;
    readonly runtime: QueryRuntime;
    readonly publishers: Parameters<typeof replayRemoval>[0];
    readonly audit: AdminAudit;
    readonly detection: DetectionOptions;
    readonly resolver: Parameters<typeof createAlertRoutes>[1];
    readonly webhooks: ReturnType<typeof createAlertFeed>['webhooks'];
  },
): Route[] => [
  ...createQueryRoutes(own.runtime),
  ...[createTraceRoutes, createMetricsRoutes, createPreviewRoutes].flatMap((create) => create(own.runtime)),
  ...createReplayRoutes({ runtime: own.runtime, remove: replayRemoval(own.publishers, own.audit) }),
  ...createAlertRoutes(own.runtime, own.resolver, (tenantId, alert) => playbooksFor(own.control, tenantId, alert)),
  ...detectionRoutes(own.detection),
  ...createWebhookRoutes({ control: own.control, peers: context.peers, ...own.webhooks }),
  rejectionsRoute({ log: context.rejections, peers: context.peers }),
];

/** What tenants use. Services, streams and series are counted by queries, which are none of the key's. */
const usageOf = (runtime: QueryRuntime, options: Omit<UsageRouteOptions, 'services' | 'cardinality'>): Route =>
  createUsageRoute({
    ...options,
    services: async (context, day, most) => {
      const { body } = await runtime.run(context, 'usage/services', { day, most }, { isFree: true });
      return (body as string | Buffer).toString();
    },
    cardinality: async (context) => {
      const { body } = await runtime.run(context, 'usage/cardinality', {}, { isFree: true });
      return (body as string | Buffer).toString();
    },
  });

/** What of a tenant is counted in this process. */
const usedNow = (rate: KnownQueryRate, engine: QueryPool, tails: LiveTails): UsageRouteOptions['now'] => ({
  queries: rate.usedBy,
  running: (tenantId) => engine.runningBy(tenantId),
  tails: (tenantId) => tails.usedBy(tenantId),
});

/** Where no ingest of this instance runs, entries that the app host takes need the watch too. */
const logGuard = (context: RoleContext, stored: readonly StoredSignal[]): Service[] =>
  context.roles.includes('ingest') ? [] : [createLogGuard(context, stored, () => context.peers.list.some(({ role }) => role === 'ingest'))];

/** Where `npm run build` puts the pages, also as seen from the compiled program. */
const PAGES = fileURLToPath(new URL(import.meta.url.endsWith('.ts') ? '../../dist/web/ui' : '../../web/ui', import.meta.url));

/** Endpoints with those that stand on them: AI, the MCP server whose tools they are, the description of them all, and the pages. */
function served(all: readonly Endpoint[], context: RoleContext, ai: Ai): readonly Endpoint[] {
  const { config, metrics } = context;
  const used = [...all, ...ai.endpointsOver(all), mcpEndpoint(all, { corsOrigins: config.http.corsOrigins, metrics })];
  const pages = uiEndpoints(PAGES);
  const services = [...used, openApiEndpoint(used)];
  return pages.length === 0 ? services : [...leadingToPages(services), ...pages];
}

/** Answers queries, tails and operators, and takes entries too, on the app host. */
export const appRole: Role = {
  async services(context: RoleContext): Promise<Service[]> {
    const { config, log, peers } = context;
    const control = createControlStore(context);
    const stored = await signalsWith(config.signals.files);
    const sets = readSets(context, stored, control);
    const pool = sets.pool(config.limits.queryWorkers, 'query workers');
    const { services, endpoints, counts, publishers } = ingestPlane(context, control, sentSignals(stored), (id) => pool.hasOthers(id));
    const billed = sentSignals(stored).map(({ signal }) => ({ name: signal.name, topic: signal.topic.name }));
    const tables = new Map(sinksOf(stored).map(({ signal, table }) => [signal.topic.name, table]));
    context.registerCheck('clickhouse', sets.serves);
    const deadLetters = new DeadLetters(createKafka({ ...config.kafka, clientId: 'logweir-dead-letters', log }));
    const { history, audit } = adminAudit(context);
    const custom = await loadDetectors(config.detectors.sources);
    const checks = await settingChecks(config.processors.files, custom.map(({ name }) => name)); // prettier-ignore
    const detection = { control, peers, checks, custom };
    const admitChange = changeGate({ shared: counts.calls });
    const accounts = createAccounts(context, control, admitChange);
    const erasure = new TenantErasure({ control, stores: sets.stores, log: log.child({ component: 'tenant erasure' }) });
    serveAdmin(context, { control, counts, deadLetters, sets, detection, audit, tables, billed, accounts, erasure, stored });
    const { engine, runtime, covers, rate } = queryPlane(context, { sets, pool, deadLetters, counts });
    const alerts = createAlertResolver(context);
    const feed = createAlertFeed(context, { engine, store: sets.any, control });
    const own = { control, runtime, publishers, audit, detection, resolver: alerts.resolver, webhooks: feed.webhooks };
    const ai = createAi(context, control, accounts.settled);
    const tails = new LiveTails();
    const usage = usageOf(runtime, { control, counts, signals: billed, credits: ai.credits, now: usedNow(rate, pool, tails) });
    const queries = [...accounts.routes, usage, ...ai.routes, ...ownRoutes(context, own)];
    const identifier = { keys: control, sessions: accounts.sessions };
    const live = createLive(context, { identifier, runtime, tails, current: sets.current });
    const mine = queries.map(changeRate(admitChange)).map((route) => appEndpoint(route));
    const read = [...mine, ...otherApis(runtime, detection), ...live.endpoints, ...accounts.endpoints];
    const app = served(appHostEndpoints(endpoints, read), context, ai);
    const host = createHost({
      ...{ name: 'app host', port: config.http.appPort, endpoints: app },
      onUpgrade: live.sockets.onUpgrade,
      sessions: accounts.sessions,
      ...publicHost(context, control, sentSignals(stored), counts),
    });
    return [
      // which servers a set lies in is on its topic
      control,
      ...sets.services,
      ...watchPolicies(context, sets),
      alerts.service,
      ...covers,
      deadLetters,
      history,
      ...logGuard(context, stored),
      erasure,
      new TrialSweep({ control, log: log.child({ component: 'trial sweep' }) }),
      ...services,
      pool,
      ...feed.services,
      ...live.services,
      ai.credits,
      host,
      tails,
      live.sockets,
    ];
  },
};
