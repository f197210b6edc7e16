import { mkdirSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { OF_A_CLUSTER } from '../../compose/cluster/brokers.ts';
import { newClusterId, startKafka } from '../../compose/embedded/kafka.ts';
import { layBrokerCables } from './broker-cables.ts';
import {
  BROKER_NAMES,
  openBrokerNetwork,
  type BrokerName,
  type BrokerNetwork,
  type BrokerPorts,
  type ClientKind,
} from './broker-network.ts';
import type { Launch } from './kept-process.ts';

/** A Kafka of three nodes, each broker and controller; every topic has three copies, and two must have a record before it is acknowledged. */
export type Brokers = {
  readonly network: BrokerNetwork;
  /** How each node starts. The first start needs another one at the same time: two of three are a quorum. */
  launch(name: BrokerName): Launch;
  /** Where clients find them all, behind their proxies where they have some: `host:port,…`. */
  addresses(kind?: ClientKind): string;
  /** The folder of a node's data. */
  folder(name: BrokerName): string;
};

const CLIENT_KINDS: readonly ClientKind[] = ['api', 'sink'];
/** Opens the network of a cluster to be; nothing runs in it until its nodes are launched. */
export async function openBrokers(options: {
  readonly dataDir: string;
  /** Gives a port that is free, another one each time. */
  readonly takePort: () => number;
  /** Kinds of clients that go through proxies. */
  readonly proxied: readonly ClientKind[];
  /** What the nodes are joined by, so that they can be separated: proxies, or cables between namespaces; else nothing is between. */
  readonly between: 'proxies' | 'cables' | null;
  /** In which rack each node is; none without it. */
  readonly racks?: Readonly<Record<BrokerName, string>>;
  /** Further settings of each node. */
  readonly settings: Readonly<Record<string, string>>;
}): Promise<Brokers> {
  const { takePort: take } = options;
  const makePorts = (): BrokerPorts => ({ plain: take(), internal: take(), controller: take(), api: take(), sink: take() });
  const ports = { 'kafka-1': makePorts(), 'kafka-2': makePorts(), 'kafka-3': makePorts() };
  const network =
    options.between === 'cables'
      ? await layBrokerCables(ports)
      : await openBrokerNetwork(ports, options.proxied, options.between === 'proxies');
  const clusterId = newClusterId();
  const folder = (name: BrokerName): string => path.join(options.dataDir, name);
  return {
    network,
    folder: (name) => path.join(folder(name), 'kafka'),
    addresses: (kind) =>
      BROKER_NAMES.map((name) => (kind === undefined ? null : network.clientPort(name, kind)) ?? ports[name].plain)
        .map((port) => `127.0.0.1:${String(port)}`)
        .join(','),
    launch: (name) => (onSpawn) => {
      mkdirSync(folder(name), { recursive: true });
      const hosts = path.join(folder(name), 'hosts');
      writeFileSync(hosts, hostsOf(name, network));
      return startKafka({
        dataDir: folder(name),
        clusterId,
        ports: [ports[name].plain, ports[name].controller],
        launcher: network.place(name).launcher,
        jvmArgs: [`-Djdk.net.hosts.file=${hosts}`],
        settings: { ...nodeSettings(name, ports, network), ...rackOf(options.racks?.[name]), ...options.settings },
        onSpawn,
      });
    },
  };
}

const rackOf = (rack: string | undefined): Record<string, string> => (rack === undefined ? {} : { 'broker.rack': rack });

/** How a node finds the others: under one name everywhere, at an address of its own where the proxy of its way to that node listens. */
function hostsOf(name: BrokerName, network: BrokerNetwork): string {
  const lines = BROKER_NAMES.map((other) => `${network.address(name, other)} ${other}`);
  return [...lines, '127.0.0.1 localhost', `127.0.0.1 ${os.hostname()}`, ''].join('\n');
}

function nodeSettings(name: BrokerName, ports: Readonly<Record<BrokerName, BrokerPorts>>, network: BrokerNetwork): Record<string, string> {
  const own = ports[name];
  const kinds = CLIENT_KINDS.filter((kind) => network.clientPort(name, kind) !== null);
  const listeners = (host: string, internalHost: string, portOf: (kind: ClientKind) => number): string =>
    [
      `PLAINTEXT://${host}:${String(own.plain)}`,
      `INTERNAL://${internalHost}:${String(own.internal)}`,
      `CONTROLLER://${internalHost}:${String(own.controller)}`,
      ...kinds.map((kind) => `${kind.toUpperCase()}://${host}:${String(portOf(kind))}`),
    ].join(',');
  const { listens } = network.place(name);
  const protocols = ['PLAINTEXT', 'INTERNAL', 'CONTROLLER', ...kinds.map((kind) => kind.toUpperCase())];
  return {
    ...OF_A_CLUSTER,
    'node.id': String(BROKER_NAMES.indexOf(name) + 1),
    'controller.quorum.voters': BROKER_NAMES.map((other, index) => `${String(index + 1)}@${other}:${String(ports[other].controller)}`).join(
      ',',
    ),
    listeners: listeners(listens, listens, (kind) => own[kind]),
    'advertised.listeners': listeners('127.0.0.1', name, (kind) => network.clientPort(name, kind) ?? own[kind]),
    'listener.security.protocol.map': protocols.map((protocol) => `${protocol}:PLAINTEXT`).join(','),
    'inter.broker.listener.name': 'INTERNAL',
  };
}
