import { BodiesInFlight } from '../../api/http/bodies-in-flight.ts';
import type { ControlStore } from '../../api/control/control-store.ts';
import { ShardGrowth } from '../../api/control/shard-growth.ts';
import type { Endpoint } from '../../api/http/endpoint.ts';
import { ListenerTls } from '../../api/http/listener-tls.ts';
import { createHost, type HostOptions } from '../../api/http/host.ts';
import { ingestHostEndpoints } from '../../api/http/host-lists.ts';
import { elasticProbes } from '../../api/ingest/elastic-probes.ts';
import { hecEndpoints } from '../../api/ingest/hec-endpoints.ts';
import { ingestHint } from '../../api/ingest/path-hints.ts';
import type { SignalIntake } from '../../api/ingest/signal-intake.ts';
import { noteRefused } from '../../api/ingest/refused-requests.ts';
import { vercelVerification } from '../../api/ingest/vercel-verification.ts';
import { ParseTurns } from '../../api/limits/parse-turns.ts';
import { EventLoopLag } from '../../api/limits/event-loop-lag.ts';
import type { UsageCounts } from '../../api/limits/usage-counts.ts';
import { createKafka } from '../../pipeline/bus/connection/kafka.ts';
import type { Service } from '../../pipeline/core/service.ts';
import { AdminConnection } from '../../pipeline/bus/connection/admin-connection.ts';
import type { SignalPublisher } from '../../pipeline/intake/signal-publisher.ts';
import { Store } from '../../pipeline/store/client.ts';
import { sentSignals, signalsWith, type SentSignal } from '../signals.ts';
import { createControlStore } from './control.ts';
import { createLogGuard } from './log-guard.ts';
import type { Role, RoleContext } from './role.ts';
import { signalPlane } from './signal-plane.ts';
import { createUsageCounts } from './usage.ts';

/** How long Kafka may take to return what is stored. Milliseconds. */
const QUERY_DEADLINE_MS = 5000;

/** What every process needs that takes what tenants send. */
export type IngestPlane = {
  /** In the order of their start. */
  readonly services: readonly Service[];
  /** Of all wire formats. */
  readonly endpoints: readonly Endpoint[];
  readonly counts: UsageCounts;
  /** Who puts a signal on its topic, by the signal's name. */
  readonly publishers: ReadonlyMap<string, SignalPublisher>;
  /** Who takes a signal, by any door, by the signal's name. */
  readonly intakes: ReadonlyMap<string, SignalIntake>;
};

/** Takes what tenants send of these signals. `isAmongOthers`: whether the process is answering requests of others than a tenant. */
export function ingestPlane(
  context: RoleContext,
  control: ControlStore,
  sent: readonly SentSignal[],
  isAmongOthers: (tenantId: number) => boolean = () => false,
): IngestPlane {
  const { config, log, metrics } = context;
  const kafka = createKafka({ ...config.kafka, clientId: 'logweir-ingest', log });
  const counts = createUsageCounts(context);
  const admin = new AdminConnection(kafka, QUERY_DEADLINE_MS);
  const growth = new ShardGrowth({
    control,
    othersEntries: (tenantId) => sent.reduce((sum, { signal }) => sum + counts.of(signal.topic.name).othersCharged(tenantId), 0),
    partitions: () => planes[0]?.publisher.partitions ?? 0,
    log: log.child({ component: 'shard growth' }),
  });
  const lag = new EventLoopLag();
  const parseTurns = new ParseTurns({
    isAmongOthers,
    onWaited: (seconds) => {
      metrics.parseWaits.inc(seconds);
    },
  });
  const stores = config.sets.flatMap(({ shards }) => shards.map((shard) => new Store(shard)));
  const looks: Service = { name: 'stores of intakes', start: () => Promise.resolve(), stop: () => closeAll(stores) };
  const shared = { kafka, admin, counts, lag, parseTurns, bodies: new BodiesInFlight(), growth, stores };
  const planes = sent.map((one) => signalPlane(context, one, shared));
  context.registerCheck('kafka', () => planes.every(({ publisher }) => publisher.ready));
  const endpoints = [...planes.flatMap((plane) => plane.endpoints), ...elasticProbes, ...hecEndpoints, ...vercelVerification];
  const storedOffsets: Service = { name: 'stored offsets', start: () => Promise.resolve(), stop: () => admin.disconnect() };
  const publishers = new Map(planes.map(({ publisher }, index) => [sent[index]?.signal.name ?? '', publisher]));
  const intakes = new Map(planes.map(({ intake }, index) => [sent[index]?.signal.name ?? '', intake]));
  const services = [lag, counts, storedOffsets, looks, ...planes.flatMap((plane) => plane.services), growth];
  return { services, endpoints, counts, publishers, intakes };
}

const closeAll = async (stores: readonly Store[]): Promise<void> => void (await Promise.all(stores.map((store) => store.close())));

/** What both public hosts have in common; with what they say and note of requests of shippers that they refuse. */
export function publicHost(
  { config, metrics, log, rejections }: RoleContext,
  keys: ControlStore,
  sent: readonly SentSignal[],
  { tallies }: UsageCounts,
): Omit<HostOptions, 'name' | 'port' | 'endpoints'> {
  const normalizers = sent.flatMap(({ source }) => source.normalizers);
  const byPath = (of: (normalizer: (typeof normalizers)[number]) => string): Map<string, string> =>
    new Map(normalizers.flatMap((one) => one.paths.map((path) => [path.replace(/\/:(\w+)/g, '/{$1}'), of(one)] as const)));
  const formats = byPath(({ name }) => name);
  const signals = byPath(({ signal }) => signal);
  const { host, corsOrigins, tls: files } = config.http;
  const tls = files === null ? {} : { tls: new ListenerTls({ ...files, name: 'the public listeners', log }) };
  return {
    ...tls,
    host,
    keys,
    corsOrigins,
    metrics,
    log,
    hintOf: ingestHint,
    onRefused: noteRefused({ rejections, keys, formats, signals, tallies }),
  };
}

/** Takes what shippers send, on the ingest host. */
export const ingestRole: Role = {
  async services(context: RoleContext): Promise<Service[]> {
    const { config } = context;
    const stored = await signalsWith(config.signals.files);
    const sent = sentSignals(stored);
    const control = createControlStore(context);
    const { services, endpoints, counts } = ingestPlane(context, control, sent);
    const host = createHost({
      name: 'ingest host',
      port: config.http.ingestPort,
      endpoints: ingestHostEndpoints(endpoints, []),
      ...publicHost(context, control, sent, counts),
    });
    return [control, createLogGuard(context, stored), ...services, host];
  },
};
