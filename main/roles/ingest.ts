import { gatedEndpoints } from '../../api/app/gated-endpoints.ts';
import type { ControlStore } from '../../api/control/control-store.ts';
import { ShardGrowth } from '../../api/control/shard-growth.ts';
import type { Endpoint } from '../../api/http/endpoint.ts';
import { createHost, type HostOptions } from '../../api/http/host.ts';
import { ingestHostEndpoints } from '../../api/http/host-lists.ts';
import { elasticProbes } from '../../api/ingest/elastic-probes.ts';
import { hecEndpoints } from '../../api/ingest/hec-endpoints.ts';
import { ingestEndpoints } from '../../api/ingest/ingest-endpoints.ts';
import { ingestHint } from '../../api/ingest/path-hints.ts';
import { noteRefused } from '../../api/ingest/refused-requests.ts';
import { vercelVerification } from '../../api/ingest/vercel-verification.ts';
import { ParseTurns } from '../../api/limits/parse-turns.ts';
import { StoragePace } from '../../api/limits/storage-pace.ts';
import { EventLoopLag } from '../../api/limits/event-loop-lag.ts';
import { ingestLimits } from '../../api/limits/index.ts';
import type { UsageCounts } from '../../api/limits/usage-counts.ts';
import { createKafka } from '../../pipeline/bus/connection/kafka.ts';
import { LogPublisher } from '../../pipeline/logs/log-publisher.ts';
import { isOn } from '../../pipeline/core/fault-points.ts';
import type { Service } from '../../pipeline/core/service.ts';
import { normalizers } from '../../pipeline/normalizers/index.ts';
import { AdminConnection } from '../../pipeline/bus/connection/admin-connection.ts';
import { committedBy } from '../../pipeline/bus/reading/group-positions.ts';
import { LOGS_TOPIC } from '../../pipeline/logs/record.ts';
import { sinkGroup } from './sink-group.ts';
import { createControlStore } from './control.ts';
import { createLogGuard } from './log-guard.ts';
import type { Role, RoleContext } from './role.ts';
import { createUsageCounts } from './usage.ts';

/** Between two requests to a broker: with many partitions and little load each of them would carry a record or two. Milliseconds. */
const GAP_MS = 5;
/** How long Kafka may take to return what is stored. Milliseconds. */
const QUERY_DEADLINE_MS = 5000;
const COUNTS_SENT = isOn('usage');

/** What every process needs that takes entries. */
export type IngestPlane = {
  /** In the order of their start. */
  readonly services: readonly Service[];
  /** Of all wire formats. */
  readonly endpoints: Endpoint[];
  readonly counts: UsageCounts;
};

export function ingestPlane(context: RoleContext, control: ControlStore): IngestPlane {
  const { config, log, metrics } = context;
  const kafka = createKafka({ ...config.kafka, clientId: 'logweir-ingest', log });
  const counts = createUsageCounts(context);
  const admin = new AdminConnection(kafka, QUERY_DEADLINE_MS);
  const pace = new StoragePace({
    stored: async () => {
      const committed = await admin.query((open) => committedBy(open, sinkGroup('logs'), LOGS_TOPIC));
      return new Map([...committed].map(([partition, { offset }]) => [partition, offset]));
    },
    log: log.child({ component: 'storage pace' }),
    onWaited: (seconds) => {
      metrics.storageWaits.inc(seconds);
    },
  });
  const publisher = new LogPublisher({
    kafka,
    log: log.child({ component: 'publisher' }),
    gapMs: GAP_MS,
    onSent: (records) => {
      metrics.batches.inc({ stage: 'produce' });
      if (COUNTS_SENT) counts.sent(records);
      pace.sent(records);
    },
  });
  context.registerCheck('kafka', () => publisher.ready);
  const growth = new ShardGrowth({
    control,
    othersEntries: (tenantId) => counts.othersEntries(tenantId),
    partitions: () => publisher.partitions,
    log: log.child({ component: 'shard growth' }),
  });
  const lag = new EventLoopLag();
  const parseTurns = new ParseTurns({
    onWaited: (seconds) => {
      metrics.parseWaits.inc(seconds);
    },
  });
  const endpoints = ingestEndpoints({
    normalizers: normalizers.members,
    publisher,
    limits: ingestLimits({
      counts,
      platformEntriesPerSecond: config.limits.platformEntriesPerSecond,
      lagMs: () => lag.ms,
      isHeavy: (tenantId) => parseTurns.isHeavy(tenantId),
    }),
    maxBodyBytes: config.http.maxBodyBytes,
    metrics,
    rejections: context.rejections,
    onAccepted: (tenantId, entries) => {
      growth.accepted(tenantId, entries);
    },
    turn: (tenantId, bytes) => pace.turn(tenantId, bytes),
    parseTurns,
  });
  endpoints.push(...elasticProbes, ...hecEndpoints, ...vercelVerification);
  const storedOffsets: Service = { name: 'stored offsets', start: () => Promise.resolve(), stop: () => admin.disconnect() };
  return { services: [lag, counts, storedOffsets, pace, publisher, growth], endpoints, counts };
}

/** What both public hosts have in common; with what they say and note of requests of shippers that they refuse. */
export function publicHost(
  { config, metrics, log, rejections }: RoleContext,
  keys: ControlStore,
): Omit<HostOptions, 'name' | 'port' | 'endpoints'> {
  const formats = new Map(
    normalizers.members.flatMap(({ name, paths }) => paths.map((path) => [path.replace(/\/:(\w+)/g, '/{$1}'), name] as const)),
  );
  const { host, corsOrigins } = config.http;
  return { host, keys, corsOrigins, metrics, log, hintOf: ingestHint, onRefused: noteRefused({ rejections, keys, formats }) };
}

/** Takes entries from shippers, on the ingest host. */
export const ingestRole: Role = {
  services(context: RoleContext): Service[] {
    const { config } = context;
    const control = createControlStore(context);
    const { services, endpoints } = ingestPlane(context, control);
    const host = createHost({
      name: 'ingest host',
      port: config.http.ingestPort,
      endpoints: ingestHostEndpoints(endpoints, gatedEndpoints),
      ...publicHost(context, control),
    });
    return [control, createLogGuard(context), ...services, host];
  },
};
