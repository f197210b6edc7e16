import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { startClickHouse } from '../../compose/embedded/clickhouse.ts';
import { startKafka } from '../../compose/embedded/kafka.ts';
import { freePorts } from '../../compose/embedded/ports.ts';
import { runSetup } from '../../main/setup-process.ts';
import type { ShardEngines } from '../e2e/shard-engines.ts';
import { BROKER_NAMES, type BrokerName, type BrokerNetwork, type ClientKind } from './broker-network.ts';
import { openBrokers, type Brokers } from './brokers.ts';
import { untilAllAlive } from './kafka-state.ts';
import { KeptProcess, type Launch, type ProcessEvent } from './kept-process.ts';
import { startProxy, type Proxy } from './proxy.ts';
import { secondSet, type SecondSet } from './second-set.ts';
import type { ShardName } from './shard-names.ts';
import { roleLaunch, type RoleLaunch } from './role-launch.ts';

/** The compiled program. */
const DIST = path.resolve(import.meta.dirname, '../../dist');
const CLI = path.resolve(import.meta.dirname, '../../cli/logweir.mjs');
const KEY = 'faults-key_0123456789';
const READY_TIMEOUT_MS = 480_000;

export const API_NAMES = ['api-1', 'api-2'] as const;
export const SINK_NAMES = ['sink-1', 'sink-2'] as const;
/** Hosts of processors. */
export const HOST_NAMES = ['host-1', 'host-2'] as const;
export const ROLE_NAMES = [...API_NAMES, ...SINK_NAMES, ...HOST_NAMES] as const;
export const PROCESS_NAMES = ['kafka', 'clickhouse', ...ROLE_NAMES] as const;
export type RoleName = (typeof ROLE_NAMES)[number];
/** Where there are three brokers, `kafka` is none of them. */
export type ProcessName = (typeof PROCESS_NAMES)[number] | BrokerName | ShardName;

/** Which processes talk to which engine: both of a kind share the link. */
export const LINK_NAMES = ['api-kafka', 'sink-kafka', 'api-clickhouse', 'sink-clickhouse'] as const;
export type LinkName = (typeof LINK_NAMES)[number];

export type ClusterOptions = {
  /** Kept after the end; without it a temporary folder, removed at the end. */
  readonly dataDir?: string;
  /** Links that go through a proxy. */
  readonly links?: readonly LinkName[];
  /** Environment of single processes, beside what all get. */
  readonly env?: Readonly<Partial<Record<ProcessName, Readonly<Record<string, string>>>>>;
  /** Environment of all processes and of the setup. */
  readonly settings?: Readonly<Record<string, string>>;
  /** A module that is loaded into each of our processes before the program. */
  readonly preload?: string | undefined;
  readonly partitions?: number;
  /** A Kafka of three nodes instead of one; links to Kafka have a proxy for each, which are verbs of its network. */
  readonly brokers?: 1 | 3;
  /** What the three are joined by, where they can be separated. */
  readonly brokersJoinedBy?: 'proxies' | 'cables' | null;
  /** How many servers a second set has; there is none without it. */
  readonly shards?: 0 | 1 | 2;
  /** Further lines of Kafka's settings. */
  readonly kafkaSettings?: Readonly<Record<string, string>>;
  /** Called with the data folder before anything is started in it; what it gives is called when all has ended. */
  readonly prepare?: (dataDir: string) => () => void;
  readonly log: (line: string) => void;
};

/** Where entries go in: the ingest and the app host of one process. */
export type Api = { readonly name: RoleName; readonly ingestUrl: string; readonly appUrl: string; readonly adminUrl: string };

/** One Kafka (or three nodes of it), one ClickHouse (and a second set of one or two), two API processes, two sinks and two hosts of processors, each a process of its own; each is started again when it ends, as the supervisor does. */
export type Cluster = {
  readonly dataDir: string;
  readonly key: string;
  readonly adminToken: string;
  readonly apis: readonly Api[];
  /** Addresses without any proxy, for recounts. */
  readonly kafka: { readonly host: string; readonly port: number };
  /** The same, of all brokers: `host:port`. */
  readonly kafkaAddresses: readonly string[];
  readonly clickhouse: { readonly url: string; readonly user: string; readonly password: string; readonly database: string };
  /** All that happened to processes, in order. */
  readonly events: readonly ProcessEvent[];
  process(name: ProcessName): KeptProcess;
  /** The proxy of a link; throws for one that has none. */
  link(name: LinkName): Proxy;
  /** What three brokers are joined by; throws where there is one. */
  readonly network: BrokerNetwork;
  /** The servers of the second set; throws where there is one set. */
  readonly shards: ShardEngines;
  /** Sets variables of all processes of ours, from the next start of each on. */
  setVariables(variables: Readonly<Record<string, string>>): void;
  /** Runs the command line as an operator; what it printed. Throws where its exit code is not 0. */
  command(args: readonly string[]): Promise<string>;
  /** Sends a message over the channel of a process of ours. */
  send(name: RoleName, message: object): void;
  /** Told of what our processes say over their channels. */
  onMessage(listener: (name: RoleName, message: unknown) => void): void;
  /** True when the process answers `/ready` with 200; of an engine: when it is up. */
  isReady(name: ProcessName): Promise<boolean>;
  /** Starts what is held, resumes what is paused, and resolves when every process is ready. */
  untilReady(timeoutMs?: number): Promise<void>;
  /** Ends everything and removes the folder unless it was given. */
  stop(): Promise<void>;
};

/** Starts a cluster and waits until all of it is ready. */
export async function startCluster(options: ClusterOptions): Promise<Cluster> {
  const made = new Made(options);
  try {
    await made.start();
    return made;
  } catch (error) {
    await made.stop();
    throw error;
  }
}

class Made implements Cluster {
  readonly dataDir: string;
  readonly key = KEY;
  readonly adminToken = randomBytes(16).toString('hex');
  readonly events: ProcessEvent[] = [];
  apis: readonly Api[] = [];
  kafka = { host: '127.0.0.1', port: 0 };
  clickhouse = { url: '', user: '', password: '', database: '', readerUser: '', readerPassword: '' };
  readonly #options: ClusterOptions;
  readonly #processes = new Map<ProcessName, KeptProcess>();
  readonly #roles = new Map<RoleName, RoleLaunch>();
  readonly #links = new Map<LinkName, Proxy>();
  #brokers: Brokers | null = null;
  #second: SecondSet | null = null;
  readonly #variables: Record<string, string> = {};
  readonly #listeners: ((name: RoleName, message: unknown) => void)[] = [];
  #undo: () => void = () => undefined;
  readonly #onExit = (): void => {
    for (const kept of this.#processes.values()) kept.destroy();
    this.#undo();
  };

  constructor(options: ClusterOptions) {
    this.#options = options;
    this.dataDir = options.dataDir ?? mkdtempSync(path.join(os.tmpdir(), 'logweir-faults-'));
    process.on('exit', this.#onExit);
  }

  async start(): Promise<void> {
    this.#undo = this.#options.prepare?.(this.dataDir) ?? this.#undo;
    const ports = await freePorts(27);
    const take = (): number => ports.pop() as number;
    const clickhousePort = take();
    const clickhouseLinks = { 'api-clickhouse': clickhousePort, 'sink-clickhouse': clickhousePort };
    if (this.#options.brokers === 3) await this.#addBrokers(take, clickhouseLinks);
    else await this.#addKafka([take(), take()], { 'api-kafka': take(), 'sink-kafka': take(), ...clickhouseLinks });
    const { dataDir } = this;
    this.#add('clickhouse', async (onSpawn) => {
      const engine = await startClickHouse({ dataDir, port: clickhousePort, onSpawn });
      this.clickhouse = engine;
      return engine;
    });
    const { shards = 0 } = this.#options;
    if (shards > 0) this.#second = await secondSet(shards, dataDir, take);
    for (const [name, launch] of this.#second?.launches ?? []) this.#add(name, launch);
    await Promise.all(this.#engines().map((name) => this.process(name).start()));
    if (this.#brokers !== null) await untilAllAlive(this);
    const env = this.#env();
    await runSetup({ dist: DIST, dataDir, env: { ...env, ...this.#addresses() }, signal: new AbortController().signal });
    for (const name of API_NAMES) this.#addApi(name, env, [take(), take(), take()]);
    for (const name of SINK_NAMES) this.#addRole(name, ['sink'], { ...env, ...this.#addresses('sink') });
    for (const name of HOST_NAMES) this.#addRole(name, ['processors'], { ...env, ...this.#addresses('sink') });
    await Promise.all(ROLE_NAMES.map((name) => this.process(name).start()));
    await this.untilReady();
    await this.#useAllPartitions();
  }

  process(name: ProcessName): KeptProcess {
    const kept = this.#processes.get(name);
    if (kept === undefined) throw new Error(`There is no process ${name} yet.`);
    return kept;
  }

  link(name: LinkName): Proxy {
    const proxy = this.#links.get(name);
    if (proxy === undefined) throw new Error(`The link ${name} has no proxy: the scenario must name it in \`links\`.`);
    return proxy;
  }

  get kafkaAddresses(): readonly string[] {
    return this.#brokers?.addresses().split(',') ?? [`127.0.0.1:${String(this.kafka.port)}`];
  }

  get network(): BrokerNetwork {
    if (this.#brokers === null) throw new Error('There is one broker only: the scenario must ask for `brokers: 3`.');
    return this.#brokers.network;
  }

  get shards(): ShardEngines {
    if (this.#second === null) throw new Error('There is one set only: the scenario must ask for `shards`.');
    return this.#second.engines;
  }

  setVariables(variables: Readonly<Record<string, string>>): void {
    Object.assign(this.#variables, variables);
  }

  async command(args: readonly string[]): Promise<string> {
    const { port } = new URL(this.apis[0]?.adminUrl ?? '');
    const env = { ...this.#env(), ...this.#addresses(), LOGWEIR_ADMIN_PORT: port, ...this.#variables };
    return (await promisify(execFile)(process.execPath, [CLI, ...args], { env })).stdout;
  }

  send(name: RoleName, message: object): void {
    this.#roles.get(name)?.send(message);
  }

  onMessage(listener: (name: RoleName, message: unknown) => void): void {
    this.#listeners.push(listener);
  }

  /** Spreads the load's tenant over the whole log, as a large one is, so that no partition is idle. */
  async #useAllPartitions(): Promise<void> {
    const response = await fetch(`${this.apis[0]?.adminUrl ?? ''}/admin/tenants/1/flags/shards`, {
      method: 'PUT',
      headers: { Authorization: `Bearer ${this.adminToken}`, 'Content-Type': 'application/json' },
      body: JSON.stringify({ value: this.#partitions }),
    });
    if (!response.ok) throw new Error(await response.text());
  }

  get #partitions(): number {
    return this.#options.partitions ?? 4;
  }

  async isReady(name: ProcessName): Promise<boolean> {
    if (!this.process(name).isUp) return false;
    const port = this.#roles.get(name as RoleName)?.port();
    if (port === undefined) return true;
    try {
      return (await fetch(`http://127.0.0.1:${String(port)}/ready`, { signal: AbortSignal.timeout(5000) })).ok;
    } catch {
      return false;
    }
  }

  async untilReady(timeoutMs = READY_TIMEOUT_MS): Promise<void> {
    const deadline = Date.now() + timeoutMs;
    for (const kept of this.#processes.values()) {
      kept.resume();
      kept.start().catch(() => undefined); // told by who started it first
    }
    let missing: ProcessName[] = [...this.#processes.keys()];
    while (missing.length > 0) {
      const ready = await Promise.all(missing.map((name) => this.isReady(name)));
      missing = missing.filter((_, index) => ready[index] !== true);
      if (missing.length > 0 && Date.now() > deadline) throw new Error(`Not ready after ${String(timeoutMs)} ms: ${missing.join(', ')}`);
      if (missing.length > 0) await new Promise((resolve) => setTimeout(resolve, 100));
    }
  }

  async stop(): Promise<void> {
    const stopAll = (names: readonly ProcessName[]): Promise<unknown> =>
      Promise.all(names.map((name) => this.#processes.get(name)?.stop() ?? Promise.resolve()));
    await stopAll(API_NAMES);
    await stopAll(HOST_NAMES);
    await stopAll(SINK_NAMES);
    await stopAll(this.#engines());
    await this.#second?.engines.stop();
    await Promise.all([...[...this.#links.values()].map((proxy) => proxy.close()), this.#brokers?.network.close()]);
    process.off('exit', this.#onExit);
    this.#undo();
    if (this.#options.dataDir === undefined) rmSync(this.dataDir, { recursive: true, force: true });
  }

  /** Those that are no processes of ours. */
  #engines(): ProcessName[] {
    return [...this.#processes.keys()].filter((name) => !ROLE_NAMES.includes(name as RoleName));
  }

  async #addKafka(kafkaPorts: [number, number], targets: Readonly<Record<LinkName, number>>): Promise<void> {
    const { dataDir } = this;
    this.kafka.port = kafkaPorts[0];
    await this.#openLinks(targets);
    this.#add('kafka', async (onSpawn) => {
      const extraListeners = [...this.#links]
        .filter(([name]) => name.endsWith('-kafka'))
        .map(([name, proxy]) => ({ port: targets[name], advertisedPort: proxy.port }));
      return startKafka({ dataDir, ports: kafkaPorts, extraListeners, settings: this.#options.kafkaSettings ?? {}, onSpawn });
    });
  }

  async #addBrokers(take: () => number, targets: Readonly<Partial<Record<LinkName, number>>>): Promise<void> {
    const { links = [], kafkaSettings: settings = {}, brokersJoinedBy: between = null } = this.#options;
    const proxied = (['api', 'sink'] as const).filter((kind) => links.includes(`${kind}-kafka`));
    await this.#openLinks(targets);
    const brokers = await openBrokers({ dataDir: this.dataDir, takePort: take, proxied, between, settings });
    this.#brokers = brokers;
    this.kafka.port = Number(this.kafkaAddresses[0]?.split(':')[1]);
    for (const name of BROKER_NAMES) this.#add(name, brokers.launch(name));
  }

  async #openLinks(targets: Readonly<Partial<Record<LinkName, number>>>): Promise<void> {
    for (const name of this.#options.links ?? []) {
      const protocol = name.endsWith('-kafka') ? 'kafka' : 'http';
      const port = targets[name];
      if (port !== undefined) this.#links.set(name, await startProxy({ target: { host: '127.0.0.1', port }, protocol }));
    }
  }

  #add(name: ProcessName, launch: Launch): void {
    const kept = new KeptProcess(name, launch, (event) => {
      this.events.push(event);
      if (event.kind === 'gone' && event.how?.startsWith('signal') !== true) this.#options.log(`${name} ended: ${event.how ?? ''}`);
    });
    this.#processes.set(name, kept);
  }

  #addApi(name: RoleName, env: NodeJS.ProcessEnv, [ingest, app, admin]: readonly [number, number, number]): void {
    const url = (port: number): string => `http://127.0.0.1:${String(port)}`;
    this.apis = [...this.apis, { name, ingestUrl: url(ingest), appUrl: url(app), adminUrl: url(admin) }];
    this.#addRole(name, ['ingest', 'app'], {
      ...env,
      ...this.#addresses('api'),
      LOGWEIR_INGEST_PORT: String(ingest),
      LOGWEIR_APP_PORT: String(app),
      LOGWEIR_ADMIN_PORT: String(admin),
    });
  }

  #addRole(name: RoleName, roles: readonly string[], env: NodeJS.ProcessEnv): void {
    const role = roleLaunch({
      name,
      roles,
      dist: DIST,
      dataDir: this.dataDir,
      env: () => ({ ...env, ...this.#options.env?.[name], ...this.#variables }),
      preload: this.#options.preload,
      onMessage: (message) => {
        for (const listener of this.#listeners) listener(name, message);
      },
    });
    this.#roles.set(name, role);
    this.#add(name, role.launch);
  }

  /** What all of our processes share. */
  #env(): NodeJS.ProcessEnv {
    const own = Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith('LOGWEIR_')));
    return {
      ...own,
      LOGWEIR_DATA_DIR: this.dataDir,
      LOGWEIR_KEY_PEPPER: 'pepper-of-the-fault-harness',
      LOGWEIR_ADMIN_TOKEN: this.adminToken,
      LOGWEIR_BOOTSTRAP_KEY: KEY,
      LOGWEIR_PLATFORM_ENTRIES_PER_SECOND: '0',
      // the disk of a machine that runs tests may be nearly full
      LOGWEIR_MIN_FREE_DISK_PERCENT: '0',
      // the clients of the harness do not ask /ready
      LOGWEIR_DRAIN_SECONDS: '0',
      LOGWEIR_LOG_PARTITIONS: String(this.#partitions),
      LOGWEIR_KAFKA_DIR: this.#brokers?.folder('kafka-1') ?? path.join(this.dataDir, 'kafka'),
      LOGWEIR_EMBEDDED: '1',
      ...this.#second?.variables(this.clickhouse),
      ...this.#options.settings,
    };
  }

  /** Where the engines are for a kind of process: behind its proxies, where it has some. */
  #addresses(kind?: ClientKind): NodeJS.ProcessEnv {
    const port = (engine: 'kafka' | 'clickhouse'): number | undefined =>
      kind === undefined ? undefined : this.#links.get(`${kind}-${engine}`)?.port;
    const { url, user, password, database } = this.clickhouse;
    const proxied = port('clickhouse');
    return {
      LOGWEIR_KAFKA_BROKERS: this.#brokers?.addresses(kind) ?? `127.0.0.1:${String(port('kafka') ?? this.kafka.port)}`,
      LOGWEIR_CLICKHOUSE_URL: proxied === undefined ? url : `http://127.0.0.1:${String(proxied)}`,
      LOGWEIR_CLICKHOUSE_USER: user,
      LOGWEIR_CLICKHOUSE_PASSWORD: password,
      LOGWEIR_CLICKHOUSE_DATABASE: database,
    };
  }
}
