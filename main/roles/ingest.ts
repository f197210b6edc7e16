import type { Endpoint } from '../../api/http/endpoint.ts';
import { createHost } from '../../api/http/host.ts';
import { ingestHostEndpoints } from '../../api/http/host-lists.ts';
import { ingestEndpoints } from '../../api/ingest/ingest-endpoints.ts';
import { createKafka } from '../../pipeline/bus/kafka.ts';
import { LogPublisher } from '../../pipeline/bus/log-publisher.ts';
import type { Service } from '../../pipeline/core/service.ts';
import { normalizers } from '../../pipeline/normalizers/index.ts';
import { createControlStore } from './control.ts';
import type { Role, RoleContext } from './role.ts';

/** The ingest plane: what every process needs that takes entries, and the endpoints of all wire formats. */
export function ingestPlane(context: RoleContext): { readonly publisher: LogPublisher; readonly endpoints: Endpoint[] } {
  const { config, log, metrics } = context;
  const kafka = createKafka({ brokers: config.kafka.brokers, clientId: 'logweir-ingest', log });
  const publisher = new LogPublisher({
    kafka,
    log: log.child({ component: 'publisher' }),
    onSent: () => metrics.batches.inc({ stage: 'produce' }),
  });
  context.registerCheck('kafka', () => publisher.ready);
  const endpoints = ingestEndpoints({
    normalizers: normalizers.members,
    publisher,
    limits: [],
    maxBodyBytes: config.http.maxBodyBytes,
    metrics,
  });
  return { publisher, endpoints };
}

/** Takes entries from shippers, on the ingest host. */
export const ingestRole: Role = {
  name: 'ingest',
  services(context: RoleContext): Service[] {
    const { config, log, metrics } = context;
    const control = createControlStore(context);
    const { publisher, endpoints } = ingestPlane(context);
    const host = createHost({
      name: 'ingest host',
      host: config.http.host,
      port: config.http.ingestPort,
      endpoints: ingestHostEndpoints(endpoints, []),
      keys: control,
      corsOrigins: config.http.corsOrigins,
      metrics,
      log,
    });
    return [control, publisher, host];
  },
};
