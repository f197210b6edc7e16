import { AlertStreams } from '../../api/live/alerts/alert-streams.ts';
import { alertSockets } from '../../api/live/alerts/alert-sockets.ts';
import { LiveHub } from '../../api/live/live-hub.ts';
import { LiveSockets } from '../../api/live/sockets/live-sockets.ts';
import { tailSockets } from '../../api/live/sockets/tail-socket.ts';
import { eventTail } from '../../api/live/streams/event-endpoint.ts';
import { StoredPlaces } from '../../api/live/place/stored-places.ts';
import type { TailDeps } from '../../api/live/tail-session.ts';
import { UnsentShare } from '../../api/live/unsent-share.ts';
import type { Identifier } from '../../api/auth/identify.ts';
import type { Endpoint } from '../../api/http/endpoint.ts';
import { LiveTails } from '../../api/limits/live-tails.ts';
import type { QueryRuntime } from '../../api/query/runtime.ts';
import { tailEndpoint } from '../../api/live/streams/tail-endpoint.ts';
import { AdminConnection } from '../../pipeline/bus/connection/admin-connection.ts';
import { committedBy } from '../../pipeline/bus/reading/group-positions.ts';
import { createKafka } from '../../pipeline/bus/connection/kafka.ts';
import type { Service } from '../../pipeline/core/service.ts';
import { LOGS_TOPIC } from '../../pipeline/logs/record.ts';
import { alertsSink } from '../../sinks/alerts.ts';
import type { RoleContext } from './role.ts';
import { sinkGroup } from './sink-group.ts';

/** How long Kafka may take to return what is stored. Milliseconds. */
const DEADLINE_MS = 5000;

/** What streams to clients as it arrives: the services in their order, and the WebSockets, which end before their host does. */
export type Live = { readonly services: readonly Service[]; readonly sockets: LiveSockets; readonly endpoints: readonly Endpoint[] };

/** The live tails of this process. */
export function createLive(
  { config, log, metrics }: RoleContext,
  {
    identifier,
    runtime,
    tails,
    current,
  }: {
    readonly identifier: Identifier;
    readonly runtime: QueryRuntime;
    readonly tails: LiveTails;
    /** The set that the next query looks at. */
    readonly current: () => string;
  },
): Live {
  const { brokers, tls, sasl } = config.kafka;
  const hub = new LiveHub({
    settings: { kafka: { brokers, ...(tls === undefined ? {} : { tls }), ...(sasl === undefined ? {} : { sasl }) } },
    log: log.child({ component: 'live' }),
    onLost: (why) => {
      metrics.lostLiveWorkers.inc({ why });
    },
  });
  const admin = new AdminConnection(createKafka({ ...config.kafka, clientId: 'logweir-live-places', log }), DEADLINE_MS);
  const storedOf = (sink: string, topic: string): StoredPlaces =>
    new StoredPlaces(() =>
      admin.query(async (open) => {
        const committed = await committedBy(open, sinkGroup(sink, current()), topic);
        const count = Math.max(-1, ...committed.keys()) + 1;
        return Array.from({ length: count }, (_none, partition) => Math.max(0, committed.get(partition)?.offset ?? 0));
      }),
    );
  const stored = storedOf('logs', LOGS_TOPIC);
  const deps: TailDeps = {
    ...{ hub, runtime, stored, unsent: new UnsentShare() },
    onSent: (count) => {
      metrics.liveEntries.inc({ outcome: 'sent' }, count);
    },
    onDropped: (why, count) => {
      metrics.liveEntries.inc({ outcome: why }, count);
    },
  };
  const streams = new AlertStreams({ kafka: createKafka({ ...config.kafka, clientId: 'logweir-live-alerts', log }), log });
  const alerts = { streams, runtime, stored: storedOf(alertsSink.name, alertsSink.signal.topic.name) };
  const sockets = new LiveSockets(identifier, [tailSockets(deps, tails), alertSockets(alerts, new LiveTails('streams of alerts'))]);
  const connection = { name: 'live places', start: () => Promise.resolve(), stop: () => admin.disconnect() };
  const endpoints = [...sockets.endpoints, eventTail({ deps, tails }), tailEndpoint({ deps, tails })];
  return { services: [connection, hub, streams], sockets, endpoints };
}
