import { Counter, Gauge, type Registry } from 'prom-client';

/** The figures of the doors of a process. */
export class DoorMetrics {
  readonly connections: Gauge<'door'>;
  readonly refused: Counter<'door' | 'reason'>;
  readonly lost: Counter<'door' | 'reason'>;

  constructor(registry: Registry) {
    const registers = [registry];
    this.connections = new Gauge({
      ...{ name: 'logweir_door_connections', help: 'Connections of a door that are open.', labelNames: ['door'], registers },
    });
    this.refused = new Counter({
      name: 'logweir_door_refused_connections_total',
      help: 'Connections that a door has closed: too many in all (connections), of an address (address), or handshakes (handshakes), a failed handshake (tls), too slow (slow), or a key that is not accepted (key).',
      ...{ labelNames: ['door', 'reason'], registers },
    });
    this.lost = new Counter({
      name: 'logweir_door_lost_total',
      help: 'Frames and datagrams that a door could not take: its queue was full (queue), the system dropped it (kernel), too long (length), without a key that is accepted (key), or refused (refused).',
      ...{ labelNames: ['door', 'reason'], registers },
    });
  }
}
