import path from 'node:path';
import { clusterBrokers, type ClusterBroker } from '../../compose/cluster/brokers.ts';
import type { BalancedNode, Frontend } from '../../compose/cluster/balancer.ts';
import type { ClusterNode } from '../../compose/cluster/node.ts';
import { newClusterId } from '../../compose/embedded/kafka.ts';
import { StartError } from '../../compose/embedded/start-error.ts';
import type { Settings } from '../settings.ts';

const BROKERS = 3;
const SETS = ['a', 'b'];
/** Roles in the order in which their nodes are stopped: no new entries first, then what stores and counts them. */
const NODE_ROLES = ['ingest', 'app', 'sink', 'processors'] as const;
const NODES_OF_A_ROLE = 2;
const MOST_NODES_OF_A_ROLE = 9;

/** A ClickHouse of the cluster: one set. */
export type ClusterSet = { readonly name: string; readonly dataDir: string; readonly port: number };

/** All that a cluster on one machine has, and where. */
export type ClusterPlan = {
  readonly dataDir: string;
  readonly brokers: readonly ClusterBroker[];
  /** The set `a` first. */
  readonly sets: readonly ClusterSet[];
  /** In the order in which they are stopped. */
  readonly nodes: readonly ClusterNode[];
  readonly frontends: readonly Frontend[];
};

/** Nodes of each role, of the command line: `--nodes app=3,sink=1`; two of each that it does not name. */
export function nodeCounts(argv: readonly string[]): ReadonlyMap<string, number> {
  const counts = new Map<string, number>(NODE_ROLES.map((role) => [role, NODES_OF_A_ROLE]));
  for (let index = 0; index < argv.length; index++) {
    const argument = argv[index] as string;
    if (argument !== '--nodes' && !argument.startsWith('--nodes='))
      throw new StartError(`The option ${argument} is unknown; there is only --nodes ROLE=COUNT,….`);
    const list = argument === '--nodes' ? (argv[++index] ?? '') : argument.slice('--nodes='.length);
    for (const word of list.split(',')) {
      const [role = '', count = ''] = word.trim().split('=');
      if (!counts.has(role)) throw new StartError(`--nodes: there are no nodes "${role}"; there are ${NODE_ROLES.join(', ')}.`);
      if (!/^[1-9]$/.test(count))
        throw new StartError(`--nodes: ${role} must be an integer from 1 to ${String(MOST_NODES_OF_A_ROLE)} (got "${count}").`);
      counts.set(role, Number(count));
    }
  }
  return counts;
}

/** Lays out a cluster; `takePorts` finds ports that are free. The balancer has the ports that an instance would have. */
export async function planCluster(
  { dataDir, listeners }: Settings,
  counts: ReadonlyMap<string, number>,
  takePorts: (count: number) => Promise<readonly number[]>,
): Promise<ClusterPlan> {
  const names = NODE_ROLES.flatMap((role) =>
    Array.from({ length: counts.get(role) ?? 0 }, (_, at) => ({ role, name: `${role}-${String(at + 1)}` })),
  );
  const ports = [...(await takePorts(2 * BROKERS + SETS.length + 3 * names.length))];
  const take = (): number => ports.pop() as number;
  const nodes = names.map(({ role, name }) => ({
    ...{ name, role, dataDir: path.join(dataDir, name) },
    ...{ appPort: take(), ingestPort: take(), adminPort: take() },
  }));
  const portOf = (variable: string): number => listeners.find(({ portVariable }) => portVariable === variable)?.port ?? 0;
  const balanced = (role: string, port: (node: ClusterNode) => number): BalancedNode[] =>
    nodes.filter((node) => node.role === role).map((node) => ({ name: node.name, port: port(node), adminPort: node.adminPort }));
  return {
    dataDir,
    brokers: clusterBrokers({
      dataDir,
      clusterId: newClusterId(),
      ports: Array.from({ length: BROKERS }, () => [take(), take()] as const),
    }),
    sets: SETS.map((name) => ({ name, dataDir: path.join(dataDir, `clickhouse-${name}`), port: take() })),
    nodes,
    frontends: [
      { name: 'app', port: portOf('LOGWEIR_APP_PORT'), nodes: balanced('app', ({ appPort }) => appPort) },
      { name: 'ingest', port: portOf('LOGWEIR_INGEST_PORT'), nodes: balanced('ingest', ({ ingestPort }) => ingestPort) },
      { name: 'admin', port: portOf('LOGWEIR_ADMIN_PORT'), nodes: balanced('app', ({ adminPort }) => adminPort) },
    ],
  };
}
