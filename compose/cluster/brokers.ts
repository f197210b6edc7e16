import path from 'node:path';
import type { KafkaOptions } from '../embedded/kafka.ts';

/** Copies and time-outs as production has them, which the embedded node shortens; unclean elections are off by Kafka's own default. */
export const OF_A_CLUSTER: Readonly<Record<string, string>> = {
  'offsets.topic.replication.factor': '3',
  'transaction.state.log.replication.factor': '3',
  'transaction.state.log.min.isr': '2',
  'share.coordinator.state.topic.replication.factor': '3',
  'share.coordinator.state.topic.min.isr': '2',
  'default.replication.factor': '3',
  'min.insync.replicas': '2',
  'metadata.max.idle.interval.ms': '500',
  'broker.session.timeout.ms': '9000',
  'broker.heartbeat.interval.ms': '2000',
  // on a machine that is busy with other work, a controller is not dead because it was late
  'controller.quorum.fetch.timeout.ms': '5000',
  'controller.quorum.election.timeout.ms': '2000',
};

/** A node of the cluster's Kafka, broker and controller. */
export type ClusterBroker = { readonly name: string; readonly ports: readonly [number, number]; readonly options: KafkaOptions };

/** The port for clients and the one of the controller. */
type BrokerPorts = readonly [number, number];

/** How the nodes of one Kafka are started, `kafka-1` and on. Their first start needs most of them at the same time: a quorum. */
export function clusterBrokers(of: {
  readonly dataDir: string;
  /** Of a new cluster; nodes that have data keep theirs. */
  readonly clusterId: string;
  /** Of each node. */
  readonly ports: readonly BrokerPorts[];
}): readonly ClusterBroker[] {
  const voters = of.ports.map(([, controller], index) => `${String(index + 1)}@127.0.0.1:${String(controller)}`).join(',');
  return of.ports.map((ports, index) => {
    const name = `kafka-${String(index + 1)}`;
    const settings = { ...OF_A_CLUSTER, 'node.id': String(index + 1), 'controller.quorum.voters': voters };
    return { name, ports, options: { dataDir: path.join(of.dataDir, name), clusterId: of.clusterId, ports, settings } };
  });
}
