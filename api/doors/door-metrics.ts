import { Counter, Gauge, type Registry } from 'prom-client';

/** The figures of the doors of a process. */
export class DoorMetrics {
  readonly connections: Gauge<'door'>;
  readonly refused: Counter<'door' | 'reason'>;
  readonly lost: Counter<'door' | 'reason'>;
  readonly records: Counter<'door' | 'topic'>;
  readonly lag: Gauge<'door' | 'topic'>;

  constructor(registry: Registry) {
    const registers = [registry];
    this.connections = new Gauge({
      ...{ name: 'logweir_door_connections', help: 'Connections of a door that are open.', labelNames: ['door'], registers },
    });
    this.refused = new Counter({
      name: 'logweir_door_refused_connections_total',
      help: 'Connections that a door has closed: too many in all (connections), of an address (address), of a tenant (tenant), or handshakes (handshakes), one without a key yet for a new one (unclaimed), a failed handshake (tls), too slow (slow), too many bytes of frames that do not end (budget), or a key that is not accepted (key).',
      ...{ labelNames: ['door', 'reason'], registers },
    });
    this.lost = new Counter({
      name: 'logweir_door_lost_total',
      help: 'Frames, datagrams and records that a door could not take: its queue was full (queue), the system dropped it (kernel), too long (length), without a key that is accepted (key), or refused (refused).',
      ...{ labelNames: ['door', 'reason'], registers },
    });
    this.records = new Counter({
      name: 'logweir_door_records_total',
      help: 'Records of a topic that a door is done with: they are on the log, or refused permanently (see logweir_door_lost_total).',
      ...{ labelNames: ['door', 'topic'], registers },
    });
    this.lag = new Gauge({
      name: 'logweir_door_lag_records',
      help: 'Records of a topic that a door has not taken yet, by the last fetch of each partition that this process reads.',
      ...{ labelNames: ['door', 'topic'], registers },
    });
  }
}
