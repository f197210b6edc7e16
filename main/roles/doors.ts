import type { DoorContext } from '../../api/doors/door-delivery.ts';
import { DoorMetrics } from '../../api/doors/door-metrics.ts';
import { readDoors, type Door } from '../../api/doors/doors-file.ts';
import { OtlpGrpcListener } from '../../api/doors/otlp-grpc-door.ts';
import { SyslogTcpListener } from '../../api/doors/syslog-tcp-door.ts';
import { SyslogUdpListener } from '../../api/doors/syslog-udp-door.ts';
import { ListenerTls } from '../../api/http/listener-tls.ts';
import type { Service } from '../../pipeline/core/service.ts';
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
    const shared = { keys: control, intakes, rejections, tallies: counts.tallies, metrics: new DoorMetrics(context.metrics.registry) };
    return [control, guard, ...services, ...doors.flatMap((door) => servicesOf(door, context, shared))];
  },
};

/** A door, and its certificates before it. */
function servicesOf(door: Door, { log, metrics }: RoleContext, shared: DoorContext & { readonly metrics: DoorMetrics }): Service[] {
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
