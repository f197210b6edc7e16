import type { DoorContext } from '../../api/doors/door-delivery.ts';
import { DoorMetrics } from '../../api/doors/door-metrics.ts';
import { readDoors, type ListeningDoor } from '../../api/doors/doors-file.ts';
import { FrameBudget } from '../../api/doors/frame-budget.ts';
import { GrpcAdmission } from '../../api/doors/grpc-admission.ts';
import type { KafkaDoor } from '../../api/doors/kafka-door-file.ts';
import { KafkaSource } from '../../api/doors/kafka-source.ts';
import { OtlpGrpcListener } from '../../api/doors/otlp-grpc-door.ts';
import { SyslogTcpListener } from '../../api/doors/syslog-tcp-door.ts';
import { SyslogUdpListener } from '../../api/doors/syslog-udp-door.ts';
import { ListenerTls } from '../../api/http/listener-tls.ts';
import { LoopTurns } from '../../api/http/loop-turns.ts';
import { together, type Service } from '../../pipeline/core/service.ts';
import { sentSignals, signalsWith } from '../signals.ts';
import { createControlStore } from './control.ts';
import { ingestPlane } from './ingest.ts';
import { createLogGuard } from './log-guard.ts';
import type { Role, RoleContext } from './role.ts';

/**
 * Takes what comes by other doors than HTTP (docs/doors.md), in a process of its own: its memory and its event loop are not those of the
 * ingest host, and where there are no doors there is no process (docs/adr/0056-doors.md).
 */
export const doorsRole: Role = {
  async services(context: RoleContext): Promise<Service[]> {
    const { config, peers, rejections } = context;
    const doors = readDoors(config.doors.file);
    const stored = await signalsWith(config.signals.files);
    const control = createControlStore(context);
    const { services, intakes, counts } = ingestPlane(context, control, sentSignals(stored));
    // one process of the instance that takes entries watches the log
    const guard = createLogGuard(context, stored, () => peers.list.some(({ role }) => role === 'ingest' || role === 'app'));
    const shared = {
      ...{ keys: control, intakes, rejections, tallies: counts.tallies, metrics: new DoorMetrics(context.metrics.registry) },
      ...{ frames: new FrameBudget(), turns: new LoopTurns<string>(), admission: new GrpcAdmission() },
    };
    const pulled = doors.flatMap((door) => (door.kind === 'kafka' ? sourcesOf(door, context, shared) : []));
    const listening = doors.flatMap((door) => (door.kind === 'kafka' ? [] : listenersOf(door, context, shared)));
    // those of a Kafka that is away leave it late
    return [control, guard, ...services, ...listening, together('doors of Kafka', pulled)];
  },
};

/** What all doors have together. */
type Shared = DoorContext & {
  readonly metrics: DoorMetrics;
  readonly frames: FrameBudget;
  readonly turns: LoopTurns<string>;
  readonly admission: GrpcAdmission;
};

/** A source for each topic. */
function sourcesOf(door: KafkaDoor, { log, registerWarning }: RoleContext, shared: Shared): Service[] {
  return door.topics.map((topic) => {
    const source = new KafkaSource({ ...shared, log: log.child({ component: 'door', door: door.name }), door, topic });
    registerWarning(() => source.warning);
    return source;
  });
}

/** A door that listens, and its certificates before it. */
function listenersOf(door: ListeningDoor, { log, metrics }: RoleContext, shared: Shared): Service[] {
  const own = { ...shared, log: log.child({ component: 'door', door: door.name }) };
  if (door.kind === 'syslog_udp') return [new SyslogUdpListener({ ...own, door })];
  const tls = door.tls === null ? null : new ListenerTls({ ...door.tls, name: `the door ${door.name}`, log: own.log });
  const before = tls === null ? [] : [tls];
  if (door.kind === 'syslog_tcp') return [...before, new SyslogTcpListener({ ...own, door, tls })];
  return [
    ...before,
    new OtlpGrpcListener({
      ...{ ...own, door, tls },
      onRefused: ({ slug, status }) => {
        metrics.errors.inc({ slug, status });
      },
    }),
  ];
}
