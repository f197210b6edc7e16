import type { ShardGrowth } from '../../api/control/shard-growth.ts';
import type { BodiesInFlight } from '../../api/http/bodies-in-flight.ts';
import type { Endpoint } from '../../api/http/endpoint.ts';
import { intakeEndpoints } from '../../api/ingest/ingest-endpoints.ts';
import { SignalIntake } from '../../api/ingest/signal-intake.ts';
import type { EventLoopLag } from '../../api/limits/event-loop-lag.ts';
import { ingestLimits } from '../../api/limits/index.ts';
import type { ParseTurns } from '../../api/limits/parse-turns.ts';
import { StoragePace } from '../../api/limits/storage-pace.ts';
import type { UsageCounts } from '../../api/limits/usage-counts.ts';
import type { AdminConnection } from '../../pipeline/bus/connection/admin-connection.ts';
import type { Kafka } from '../../pipeline/bus/connection/kafka.ts';
import { committedByAny } from '../../pipeline/bus/reading/group-positions.ts';
import { isOn } from '../../pipeline/core/fault-points.ts';
import type { Service } from '../../pipeline/core/service.ts';
import type { Store } from '../../pipeline/store/client.ts';
import { SignalPublisher } from '../../pipeline/intake/signal-publisher.ts';
import type { SentSignal } from '../signals.ts';
import type { RoleContext } from './role.ts';
import { sinkGroups } from './sink-group.ts';

/** Between two requests to a broker: with many partitions and little load each of them would carry a record or two. Milliseconds. */
const GAP_MS = 5;
const COUNTS_SENT = isOn('usage');

/** What all signals of a process share. */
export type SharedPlane = {
  readonly kafka: Kafka;
  readonly admin: AdminConnection;
  readonly counts: UsageCounts;
  readonly lag: EventLoopLag;
  readonly parseTurns: ParseTurns;
  readonly bodies: BodiesInFlight;
  readonly growth: ShardGrowth;
  /** Every shard of every set. */
  readonly stores: readonly Pick<Store, 'ownerRows'>[];
};

/** What takes a signal from its requests to its topic. */
export type SignalPlane = {
  readonly services: readonly Service[];
  readonly endpoints: readonly Endpoint[];
  /** What the endpoints and all other doors take it by. */
  readonly intake: SignalIntake;
  readonly publisher: SignalPublisher;
};

/** The endpoints of a signal's wire formats, with its publisher, its limits, and the pace of its tables. */
export function signalPlane({ config, log, metrics, rejections }: RoleContext, one: SentSignal, shared: SharedPlane): SignalPlane {
  const { kafka, counts, lag, parseTurns, bodies, growth, stores } = shared;
  const { signal, source } = one;
  const topic = signal.topic.name;
  const opened = source.open({ stores, log: log.child({ component: `${signal.name} intake` }) });
  const pace = storagePace(one, shared, { config, log, metrics });
  const publisher = new SignalPublisher(opened, {
    kafka,
    log: log.child({ component: 'publisher', topic }),
    gapMs: GAP_MS,
    onSent: (records) => {
      metrics.batches.inc({ stage: 'produce' });
      if (COUNTS_SENT) counts.sent(topic, records);
      pace.sent(records);
    },
  });
  const intake = new SignalIntake({
    ...{
      normalizers: source.normalizers,
      publisher,
      maxBodyBytes: config.http.maxBodyBytes,
      metrics,
      bodies,
      rejections,
      parseTurns,
      tallies: counts.tallies,
    },
    limits: ingestLimits({
      counts: counts.of(topic),
      unit: opened.unit,
      isRated: opened.isRated ?? true,
      platformPerSecond: config.limits.platformEntriesPerSecond,
      lagMs: () => lag.ms,
      isHeavy: (tenantId) => parseTurns.isHeavy(tenantId),
    }),
    onAccepted: (tenantId, rows) => {
      growth.accepted(tenantId, rows / (opened.rowsOfEntry ?? 1));
    },
    turn: (tenantId, bytes) => pace.turn(tenantId, bytes),
  });
  return { services: [pace, publisher], endpoints: intakeEndpoints(intake), intake, publisher };
}

/** Has requests wait while what is acknowledged is not stored as fast: by the table that is furthest behind, in the set that is least behind with it. */
function storagePace(
  { signal, sinks }: SentSignal,
  { admin }: SharedPlane,
  { config, log, metrics }: Pick<RoleContext, 'config' | 'log' | 'metrics'>,
): StoragePace {
  const topic = signal.topic.name;
  return new StoragePace({
    stored: async () => {
      const all = await admin.query((open) =>
        Promise.all(sinks.map(({ name }) => committedByAny(open, sinkGroups(name, config.sets), topic))),
      );
      const stored = new Map<number, number>();
      for (const committed of all)
        for (const [partition, offset] of committed) stored.set(partition, Math.min(offset, stored.get(partition) ?? Infinity));
      return stored;
    },
    log: log.child({ component: 'storage pace', topic }),
    onWaited: (seconds) => {
      metrics.storageWaits.inc(seconds);
    },
  });
}
