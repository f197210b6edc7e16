import { once } from 'node:events';
import path from 'node:path';
import { startClickHouse, type ClickHouse } from '../compose/embedded/clickhouse.ts';
import { startKafka } from '../compose/embedded/kafka.ts';
import { checkPlatform } from '../compose/embedded/platform.ts';
import { claimDataDir, writeInstance } from './instance.ts';
import { SupervisedProcess, type Start } from './supervised-process.ts';
import { checkListeners } from './listeners.ts';
import { RoleProcess } from './role-process.ts';
import { withVariables } from '../pipeline/core/config-files.ts';
import { keptSecrets } from './secrets.ts';
import type { Settings } from './settings.ts';
import { standbySetup } from './setup-process.ts';
import { signInLine } from './sign-in-line.ts';

// All must end within 25 s, or the starter of the service kills it.
const STOP_BUDGET_MS = 24_000;
// 3 s until all pollers have seen it on /ready, 10 s for requests that have begun
const LISTENING_ROLE_STOP_MS = 14_000;
const ROLE_STOP_MS = 8000;
const ENGINES_STOP_MS = 5000;

/** A real ClickHouse, and queries that run as the owner of its tables. */
const NO_READER =
  'WARNING: LOGWEIR_CLICKHOUSE_READER_USER is not set: queries run as the owner, without the row policy between tenants (docs/operations.md).';

/** What starts the engines. */
export type Engines = { readonly startKafka: typeof startKafka; readonly startClickHouse: typeof startClickHouse };

export type SupervisorOptions = {
  readonly settings: Settings;
  /** What the processes get, in addition to what the supervisor adds. */
  readonly env: NodeJS.ProcessEnv;
  /** The folder of the compiled program. */
  readonly dist: string;
  /** Takes progress lines. */
  readonly log: (line: string) => void;
  readonly engines?: Engines;
  /** Time between two looks whether a role's event loop turns. */
  readonly lookMs?: number;
  /** Waits before a child is started again, by the number of early deaths. */
  readonly delaysMs?: readonly number[];
};

type Variables = Readonly<Record<string, string>>;

/** Starts the engines and the roles of one instance, keeps them running, and stops them in order. */
export class Supervisor {
  #claim: { readonly release: () => void } | null = null;
  readonly #engines: SupervisedProcess[] = [];
  #roles: readonly RoleProcess[] = [];
  readonly #stopping = new AbortController();
  #starting: Promise<unknown> = Promise.resolve();
  #stopped: Promise<void> | null = null;
  readonly #options: SupervisorOptions & { readonly engines: Engines };

  constructor(options: SupervisorOptions) {
    this.#options = { engines: { startKafka, startClickHouse }, ...options };
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

  /** Stops everything, in order, within 25 s; interrupts a start. Safe to call twice. */
  stop(): Promise<void> {
    this.#stopped ??= this.#stop();
    return this.#stopped;
  }

  /** Starts roles again with the code that is there now, while all else goes on; resolves when they are ready. */
  async restart(names: readonly string[]): Promise<void> {
    const roles = this.#roles.filter(({ name }) => names.includes(name));
    await Promise.all(roles.map((role) => role.restart(role.listens ? LISTENING_ROLE_STOP_MS : ROLE_STOP_MS)));
  }

  /** Ends all processes at once; a stop that is under way ends then. */
  killAll(): void {
    this.#stopping.abort();
    for (const child of [...this.#roles, ...this.#engines]) void child.kill();
  }

  async #start(): Promise<string> {
    const { settings, env, dist, log } = this.#options;
    const { dataDir, isKafkaEmbedded, isClickHouseEmbedded } = settings;
    const { signal } = this.#stopping;
    if (isKafkaEmbedded || isClickHouseEmbedded) checkPlatform();
    this.#claim = await claimDataDir(dataDir);
    await checkListeners(settings.listeners);
    for (const warning of settings.warnings) log(`WARNING: ${warning}.`);
    if (!isClickHouseEmbedded && !settings.hasReader) log(NO_READER);
    const secrets = keptSecrets(dataDir, settings.keys, isKafkaEmbedded);
    let roleEnv: NodeJS.ProcessEnv = withVariables(env, { ...secrets, LOGWEIR_DATA_DIR: dataDir });
    if (isKafkaEmbedded || isClickHouseEmbedded) roleEnv['LOGWEIR_EMBEDDED'] = '1';

    const kafka = isKafkaEmbedded ? this.#startKafka() : Promise.resolve({});
    const clickhouse = isClickHouseEmbedded ? this.#startClickHouse() : Promise.resolve({});
    // what is ours loads meanwhile
    const setup = standbySetup({ dist, dataDir, env: roleEnv, signal });
    const [found] = await Promise.all([this.#all([kafka, clickhouse]), this.#launchRoles(roleEnv)]);
    for (const variables of found) roleEnv = withVariables(roleEnv, variables);

    log('preparing topics and tables …');
    const { tenantId, key, warnings = [] } = await setup(roleEnv);
    for (const warning of warnings) log(`WARNING: ${warning}.`);
    await this.#beginRoles(roleEnv);
    if (settings.adminUrl !== null) log(await signInLine(settings.adminUrl, roleEnv['LOGWEIR_ADMIN_TOKEN'] ?? '', tenantId));
    return `Logweir is ready: app ${settings.appUrl} ingest ${settings.ingestUrl} tenant ${tenantId} key ${key || '-'}`;
  }

  /** Gives what the roles must know of it. */
  async #startKafka(): Promise<Variables> {
    const { settings, engines, log } = this.#options;
    const { dataDir, survivesPowerLoss, mayInstall } = settings;
    // the roles hold the address, so a new start keeps it
    let ports: readonly [number, number] | undefined;
    await this.#keepEngine('kafka', async (context) => {
      const kafka = await engines.startKafka({ dataDir, survivesPowerLoss, mayInstall, ports, log, ...context });
      ports = kafka.ports;
      return kafka;
    });
    return { LOGWEIR_KAFKA_BROKERS: `127.0.0.1:${String(ports?.[0])}`, LOGWEIR_KAFKA_DIR: path.join(dataDir, 'kafka') };
  }

  /** Gives what the roles must know of it. */
  async #startClickHouse(): Promise<Variables> {
    const { settings, engines, log } = this.#options;
    const { dataDir, backups, survivesPowerLoss, coldVolume: cold } = settings;
    let last: ClickHouse | undefined;
    await this.#keepEngine('clickhouse', async (context) => {
      last = await engines.startClickHouse({ dataDir, backups, cold, survivesPowerLoss, port: last?.port, log, ...context });
      return last;
    });
    return clickHouseVariables(last);
  }

  async #keepEngine(name: string, start: Start): Promise<void> {
    const { log, delaysMs } = this.#options;
    const engine = new SupervisedProcess(name, start, { log, delaysMs, onChange: () => this.#writeInstance() });
    this.#stopping.signal.throwIfAborted();
    this.#engines.push(engine);
    await engine.start();
  }

  async #launchRoles(env: NodeJS.ProcessEnv): Promise<void> {
    const { settings, dist, log, delaysMs, lookMs } = this.#options;
    this.#stopping.signal.throwIfAborted();
    const onChange = (): void => this.#writeInstance();
    const onPeers = (): void => this.#sendPeers();
    const options = { dist, dataDir: settings.dataDir, env, log, delaysMs, lookMs, onChange, onPeers };
    this.#roles = settings.roles.map((role) => new RoleProcess(role, { ...options, hasAdminPort: role === settings.adminRole }));
    for (const role of this.#roles) await role.start();
  }

  async #beginRoles(env: NodeJS.ProcessEnv): Promise<void> {
    const { signal } = this.#stopping;
    signal.throwIfAborted();
    for (const role of this.#roles) role.begin(env);
    await Promise.race([Promise.all(this.#roles.map((role) => role.untilReady())), once(signal, 'abort')]);
    signal.throwIfAborted();
  }

  async #stop(): Promise<void> {
    const deadline = Date.now() + STOP_BUDGET_MS;
    const left = (): number => Math.max(deadline - Date.now(), 0);
    this.#stopping.abort();
    const stopRoles = (listening: boolean, mostMs: number): Promise<unknown> => {
      const roles = this.#roles.filter(({ listens }) => listens === listening);
      return Promise.all(roles.map((role) => role.stop(Math.min(mostMs, Math.max(left() - ENGINES_STOP_MS, 0)))));
    };
    await stopRoles(true, LISTENING_ROLE_STOP_MS);
    await stopRoles(false, ROLE_STOP_MS);
    await Promise.all(this.#engines.map((engine) => engine.stop(left())));
    await this.#starting;
    this.#claim?.release();
  }

  /** Waits for all; when one fails, everything is stopped before this fails for the same reason. */
  async #all(tasks: readonly Promise<Variables>[]): Promise<readonly Variables[]> {
    const errors: unknown[] = []; // the first is the cause; the others are its consequences
    const watched = tasks.map((task) =>
      task.catch((error: unknown): Variables => {
        errors.push(error);
        void this.stop();
        return {};
      }),
    );
    const results = await Promise.all(watched);
    if (errors.length > 0) throw errors[0];
    return results;
  }

  /** Every role knows where the others' internal listeners are, and who is not there yet. */
  #sendPeers(): void {
    const ready = this.#roles.filter(({ port }) => port !== null);
    const peers = ready.map(({ name, pid, port }) => ({ role: name, pid, port }));
    const names = this.#roles.map(({ name }) => name);
    for (const role of ready) role.send({ type: 'peers', peers, names });
  }

  #writeInstance(): void {
    const children = [...this.#engines.toSorted((a, b) => b.name.localeCompare(a.name)), ...this.#roles];
    const lines = children.filter(({ pid }) => pid > 0).map(({ name, pid, restarts }) => ({ role: name, pid, restarts }));
    writeInstance(this.#options.settings.dataDir, [{ role: 'supervisor', pid: process.pid, restarts: 0 }, ...lines]);
  }
}

/** What the roles must know of an embedded ClickHouse. */
function clickHouseVariables(clickhouse: ClickHouse | undefined): Variables {
  if (clickhouse === undefined) throw new Error('BUG: ClickHouse is up, and its URL is unknown.');
  return {
    LOGWEIR_CLICKHOUSE_URL: clickhouse.url,
    LOGWEIR_CLICKHOUSE_USER: clickhouse.user,
    LOGWEIR_CLICKHOUSE_PASSWORD: clickhouse.password,
    LOGWEIR_CLICKHOUSE_DATABASE: clickhouse.database,
    LOGWEIR_CLICKHOUSE_READER_USER: clickhouse.readerUser,
    LOGWEIR_CLICKHOUSE_READER_PASSWORD: clickhouse.readerPassword,
  };
}
