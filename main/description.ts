import { createAlertRoutes } from '../api/alerts/routes.ts';
import { createDetectorRoutes } from '../api/alerts/detector-routes.ts';
import { createMetricRuleRoutes } from '../api/alerts/metric-rule-routes.ts';
import { createPreviewRoutes } from '../api/alerts/preview-routes.ts';
import { createRuleRoutes } from '../api/alerts/rule-routes.ts';
import { createWebhookRoutes } from '../api/alerts/webhook-routes.ts';
import { createKeyRoutes } from '../api/account/key-routes.ts';
import { createProjectRoutes } from '../api/account/project-routes.ts';
import { createSavedSearchRoutes } from '../api/account/search-routes.ts';
import { sessionEndpoints } from '../api/account/session-endpoints.ts';
import { createUsageRoute } from '../api/account/usage-route.ts';
import { rejectionsRoute } from '../api/admin/rejections.ts';
import { appEndpoint, type Endpoint } from '../api/http/endpoint.ts';
import { appHostEndpoints } from '../api/http/host-lists.ts';
import { elasticProbes } from '../api/ingest/elastic-probes.ts';
import { hecEndpoints } from '../api/ingest/hec-endpoints.ts';
import { ingestEndpoints } from '../api/ingest/ingest-endpoints.ts';
import { vercelVerification } from '../api/ingest/vercel-verification.ts';
import { eventTail } from '../api/live/streams/event-endpoint.ts';
import { tailEndpoint } from '../api/live/streams/tail-endpoint.ts';
import { createAiEndpoints } from '../api/ai/endpoints.ts';
import { createPlaybookRoutes } from '../api/ai/playbook-routes.ts';
import { mcpEndpoint } from '../api/mcp/endpoint.ts';
import { createMetricsRoutes } from '../api/metrics/routes.ts';
import { openApiEndpoint } from '../api/openapi/endpoint.ts';
import { createPrometheusEndpoints } from '../api/prometheus/endpoints.ts';
import { createQueryRoutes } from '../api/search/routes.ts';
import { createReplayRoutes } from '../api/replay/routes.ts';
import { createSelectEndpoints } from '../api/select/endpoints.ts';
import { alertSockets } from '../api/live/alerts/alert-sockets.ts';
import { refusing } from '../api/live/sockets/live-sockets.ts';
import { tailSockets } from '../api/live/sockets/tail-socket.ts';
import { createJaegerEndpoints } from '../api/traces/jaeger/endpoints.ts';
import { createTraceRoutes } from '../api/traces/routes.ts';
import { sentSignals, signals } from './signals.ts';

/** Stands for all that handlers need: these endpoints are described, and never requested. */
const NOTHING = {} as never;

/** The endpoints of the app host, as `main/roles/app.ts` serves them, without anything behind them. */
export function describedEndpoints(): readonly Endpoint[] {
  const normalizers = sentSignals(signals.members).flatMap(({ source }) => source.normalizers);
  const sent = ingestEndpoints({ normalizers, publisher: NOTHING, limits: [], maxBodyBytes: 1, metrics: NOTHING });
  const routes = [
    ...[createQueryRoutes, createTraceRoutes, createMetricsRoutes, createPreviewRoutes].flatMap((create) => create(NOTHING)),
    ...createAlertRoutes(NOTHING, NOTHING, NOTHING),
    ...createDetectorRoutes({ control: NOTHING, peers: NOTHING, detectors: [], checks: [], sensitivity: NOTHING }),
    ...createReplayRoutes(NOTHING),
    ...createRuleRoutes(NOTHING),
    ...createMetricRuleRoutes(NOTHING),
    ...createWebhookRoutes(NOTHING),
    rejectionsRoute(NOTHING),
    ...[createKeyRoutes, createSavedSearchRoutes, createProjectRoutes].flatMap((create) => create(NOTHING)),
    createUsageRoute(NOTHING),
    ...createPlaybookRoutes(NOTHING),
  ];
  const read = [
    ...routes.map((route) => appEndpoint(route)),
    ...createSelectEndpoints(NOTHING),
    ...createJaegerEndpoints(NOTHING),
    ...createPrometheusEndpoints(NOTHING, NOTHING),
    ...[tailSockets(NOTHING, NOTHING), alertSockets(NOTHING, NOTHING)].map((sockets) => refusing(sockets, () => false)),
    ...[eventTail(NOTHING), tailEndpoint(NOTHING)],
    ...sessionEndpoints(NOTHING),
  ];
  const all = appHostEndpoints([...sent, ...elasticProbes, ...hecEndpoints, ...vercelVerification], read);
  const used = [
    ...all,
    ...createAiEndpoints({ model: null, credits: NOTHING, atOnce: NOTHING, playbooksFor: NOTHING, endpoints: all }),
    mcpEndpoint(all, { corsOrigins: [], metrics: NOTHING }),
  ];
  return [...used, openApiEndpoint(used)];
}
