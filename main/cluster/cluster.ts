import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { findBalancer, startBalancer } from '../../compose/cluster/balancer.ts';
import { startNode, type ClusterNode } from '../../compose/cluster/node.ts';
import { startClickHouse, type ClickHouse } from '../../compose/embedded/clickhouse.ts';
import { startKafka } from '../../compose/embedded/kafka.ts';
import { checkPlatform } from '../../compose/embedded/platform.ts';
import { freePorts } from '../../compose/embedded/ports.ts';
import { StartError } from '../../compose/embedded/start-error.ts';
import { claimDataDir, writeInstance } from '../instance.ts';
import { checkListeners } from '../listeners.ts';
import { keptSecrets } from '../secrets.ts';
import type { Settings } from '../settings.ts';
import { SupervisedProcess, type Start } from '../supervised-process.ts';
import { planCluster, type ClusterPlan } from './plan.ts';
import { clusterVariables, writeEnvironment } from './variables.ts';

const STOP_MS = 30_000;
/** A node that ends while it starts is started again, as systemd and containers do: of new topics not each broker may know yet. */
const NODE_STARTS = 5;
/** Roles whose nodes have public listeners: they are stopped first. */
const LISTENING = ['ingest', 'app'];

export type ClusterOptions = {
  readonly settings: Settings;
  readonly env: NodeJS.ProcessEnv;
  /** Nodes of each role. */
  readonly counts: ReadonlyMap<string, number>;
  /** Takes progress lines. */
  readonly log: (line: string) => void;
};

/**
 * A cluster of real processes on this machine: three brokers, two sets, nodes of each role, and a balancer in front. What ends unrequested is started
 * again, with the code that is there then: SIGTERM to one node after the other is a rolling restart.
 */
export class Cluster {
  readonly #options: ClusterOptions;
  readonly #stopping = new AbortController();
  readonly #processes = new Map<string, SupervisedProcess>();
  #claim: { readonly release: () => void } | null = null;
  #starting: Promise<unknown> = Promise.resolve();
  #stopped: Promise<void> | null = null;
  #plan: ClusterPlan | null = null;

  constructor(options: ClusterOptions) {
    this.#options = options;
  }

  /** Starts everything; resolves with the line that reports it. When it fails, nothing is left running. */
  async start(): Promise<string> {
    const starting = this.#start();
    this.#starting = starting.catch(() => undefined);
    try {
      return await starting;
    } catch (error) {
      await this.stop();
      throw error;
    }
  }

  /** Stops everything in order: listening nodes, balancer, other nodes, engines. Interrupts a start. Safe to call twice. */
  stop(): Promise<void> {
    this.#stopped ??= this.#stop();
    return this.#stopped;
  }

  /** Ends all processes at once; a stop that is under way ends then. */
  killAll(): void {
    this.#stopping.abort();
    for (const child of this.#processes.values()) void child.kill();
  }

  async #start(): Promise<string> {
    const { settings, env, counts, log } = this.#options;
    const { dataDir, keys, listeners, isKafkaEmbedded, isClickHouseEmbedded } = settings;
    if (!isKafkaEmbedded || !isClickHouseEmbedded)
      throw new StartError('A cluster on one machine has engines of its own: unset LOGWEIR_KAFKA_BROKERS and LOGWEIR_CLICKHOUSE_URL.');
    checkPlatform();
    const program = findBalancer();
    this.#claim = await claimDataDir(dataDir);
    await checkListeners(listeners);
    const secrets = keptSecrets(dataDir, keys, true);
    const plan = await planCluster(settings, counts, freePorts);
    this.#plan = plan;
    log(`starting ${String(plan.brokers.length)} brokers and ${String(plan.sets.length)} ClickHouses …`);
    const [engines] = await Promise.all([this.#startSets(plan), this.#startBrokers(plan)]);
    const nodeEnv = clusterVariables(env, plan, secrets, engines);
    writeEnvironment(dataDir, nodeEnv);
    await this.#startNodes(plan.nodes, nodeEnv);
    await this.#keep('balancer', (context) => startBalancer({ dataDir, program, frontends: plan.frontends, ...context }));
    const nodes = plan.nodes.map(({ name, role, ...node }) => ({
      name,
      role,
      app: node.appPort,
      ingest: node.ingestPort,
      admin: node.adminPort,
    }));
    const sets = plan.sets.map(({ name, port }) => ({ name, port }));
    writeFileSync(path.join(dataDir, 'cluster.json'), `${JSON.stringify({ nodes, sets })}\n`);
    return `Logweir is ready: app ${settings.appUrl} ingest ${settings.ingestUrl} tenant 1 key ${secrets['LOGWEIR_BOOTSTRAP_KEY'] ?? ''}`;
  }

  #startBrokers({ brokers }: ClusterPlan): Promise<unknown> {
    const { settings, log } = this.#options;
    const { mayInstall, survivesPowerLoss } = settings;
    const start = { mayInstall, survivesPowerLoss, log };
    return Promise.all(brokers.map(({ name, options }) => this.#keep(name, (context) => startKafka({ ...options, ...start, ...context }))));
  }

  /** The engines by the names of their sets, the first one first. */
  async #startSets({ sets }: ClusterPlan): Promise<ReadonlyMap<string, ClickHouse>> {
    const { log, settings } = this.#options;
    const { survivesPowerLoss, backups } = settings;
    const engines = new Map<string, ClickHouse>();
    const start = async ({ name, dataDir, port }: ClusterPlan['sets'][number]): Promise<void> => {
      await this.#keep(`clickhouse-${name}`, async (context) => {
        const engine = await startClickHouse({ dataDir, port, backups, survivesPowerLoss, log, ...context });
        engines.set(name, engine);
        return engine;
      });
    };
    await Promise.all(sets.map(start));
    return new Map(sets.map(({ name }) => [name, engines.get(name) as ClickHouse]));
  }

  /** The first one alone, since it makes topics and tables. */
  async #startNodes(nodes: readonly ClusterNode[], env: NodeJS.ProcessEnv): Promise<void> {
    const { log } = this.#options;
    const start = async (node: ClusterNode): Promise<void> => {
      log(`starting ${node.name} …`);
      await this.#keep(node.name, (context) => this.#startNode(node, { env, ...context }));
      log(`${node.name} is ready: internal http://127.0.0.1:${String(node.adminPort)}`);
    };
    const [first, ...others] = nodes;
    if (first !== undefined) await start(first);
    await Promise.all(others.map(start));
  }

  async #startNode(node: ClusterNode, options: Parameters<typeof startNode>[1]): ReturnType<typeof startNode> {
    for (let left = NODE_STARTS - 1; ; left--) {
      try {
        return await startNode(node, options);
      } catch (error) {
        if (left === 0 || options.signal.aborted || !(error instanceof StartError)) throw error;
        this.#options.log(`${error.message}; starting it again`);
      }
    }
  }

  async #keep(name: string, start: Start): Promise<void> {
    const { log } = this.#options;
    this.#stopping.signal.throwIfAborted();
    const child = new SupervisedProcess(name, start, { log, onChange: () => this.#writeInstance() });
    this.#processes.set(name, child);
    await child.start();
  }

  async #stop(): Promise<void> {
    this.#stopping.abort();
    const { nodes = [], sets = [], brokers = [] } = this.#plan ?? {};
    const stop = async (names: readonly string[]): Promise<void> => {
      await Promise.all(names.map(async (name) => this.#processes.get(name)?.stop(STOP_MS)));
    };
    const namesOf = (isListening: boolean): string[] =>
      nodes.filter(({ role }) => LISTENING.includes(role) === isListening).map(({ name }) => name);
    await stop(namesOf(true));
    await stop(['balancer']);
    await stop(namesOf(false));
    await stop(sets.map(({ name }) => `clickhouse-${name}`));
    await stop(brokers.map(({ name }) => name));
    await this.#starting;
    this.#claim?.release();
  }

  #writeInstance(): void {
    const children = [...this.#processes.values()].filter(({ pid }) => pid > 0);
    const rows = children.map(({ name, pid, restarts }) => ({ role: name, pid, restarts }));
    writeInstance(this.#options.settings.dataDir, [{ role: 'supervisor', pid: process.pid, restarts: 0 }, ...rows]);
  }
}
