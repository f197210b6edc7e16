import { once } from 'node:events';
import path from 'node:path';
import { startClickHouse } from '../compose/embedded/clickhouse.mjs';
import { startKafka } from '../compose/embedded/kafka.mjs';
import { checkPlatform } from '../compose/embedded/platform.mjs';
import { claimDataDir, writeInstance } from './instance.mjs';
import { KeptChild } from './kept-child.mjs';
import { checkListeners } from './listeners.mjs';
import { RoleProcess } from './role-process.mjs';
import { keptSecrets } from './secrets.mjs';
import { runSetup } from './setup-process.mjs';
import { checkConfig } from './config-check.mjs';

// All must be over within 25 s, or whoever started the service loses patience.
const STOP_BUDGET_MS = 24_000;
// 3 s until everybody has seen it on /ready, 10 s for requests that have begun
const LISTENING_ROLE_STOP_MS = 14_000;
const ROLE_STOP_MS = 8000;
const ENGINES_STOP_MS = 5000;

/** A real ClickHouse, and queries that run as the owner of its tables. */
const NO_READER =
  'WARNING: LOGWEIR_CLICKHOUSE_READER_USER is not set: queries run as the owner, without the row policy between tenants (docs/operations.md).';

/**
 * @typedef {object} SupervisorOptions
 * @property {import('./settings.d.mts').Settings} settings
 * @property {NodeJS.ProcessEnv} env what the processes get, beside what the supervisor adds
 * @property {string} dist the folder of the compiled program
 * @property {(line: string) => void} log takes progress lines
 * @property {(signal: AbortSignal) => Promise<void>} [install] fetches the packages; ClickHouse is started after it
 * @property {(signal: AbortSignal) => Promise<void>} [build] compiles the program; the roles are started after it
 * @property {Engines} [engines]
 * @property {number} [lookMs] time between two looks whether a role's event loop turns
 * @property {readonly number[]} [delaysMs] waits before a child is started again, by the number of early deaths
 *
 * @typedef {{ startKafka: typeof startKafka, startClickHouse: typeof startClickHouse }} Engines
 */

/** Starts the engines and the roles of one instance, keeps them running, and stops them in order. */
export class Supervisor {
  /** @type {{ release: () => void } | null} */
  #claim = null;
  /** @type {KeptChild[]} */
  #engines = [];
  /** @type {RoleProcess[]} */
  #roles = [];
  #stopping = new AbortController();
  /** @type {Promise<unknown>} */
  #starting = Promise.resolve();
  /** @type {Promise<void> | null} */
  #stopped = null;

  /** @param {SupervisorOptions} options */
  constructor(options) {
    const nothing = () => Promise.resolve();
    this.options = { install: nothing, build: nothing, engines: { startKafka, startClickHouse }, ...options };
  }

  /**
   * Starts everything; answers the line that says so. When it fails, nothing is left running.
   * @returns {Promise<string>}
   */
  async start() {
    const starting = this.#start();
    this.#starting = starting.catch(() => {});
    try {
      return await starting;
    } catch (error) {
      await this.stop();
      throw error;
    }
  }

  /** Stops everything, in order, within 25 s; interrupts a start. Safe to call twice. */
  stop() {
    this.#stopped ??= this.#stop();
    return this.#stopped;
  }

  /** Ends all processes at once; a stop that is under way is over then. */
  killAll() {
    this.#stopping.abort();
    for (const child of [...this.#roles, ...this.#engines]) void child.kill();
  }

  async #start() {
    const { settings, env, dist, log, install, build } = this.options;
    const { dataDir, isKafkaEmbedded, isClickHouseEmbedded } = settings;
    const { signal } = this.#stopping;
    if (isKafkaEmbedded || isClickHouseEmbedded) checkPlatform();
    this.#claim = await claimDataDir(dataDir);
    await checkListeners(settings.listeners);
    if (!isClickHouseEmbedded && !env['LOGWEIR_CLICKHOUSE_READER_USER']) log(NO_READER);
    /** @type {NodeJS.ProcessEnv} */
    const roleEnv = { ...env, ...keptSecrets(dataDir, env, isKafkaEmbedded), LOGWEIR_DATA_DIR: dataDir };
    if (isKafkaEmbedded || isClickHouseEmbedded) roleEnv['LOGWEIR_EMBEDDED'] = '1';

    await checkConfig(dist, roleEnv, async () => {
      await install(signal);
      await build(signal);
    });

    // Kafka needs no package of npm: it is fetched and started while they are installed.
    const installed = install(signal);
    const kafka = isKafkaEmbedded ? this.#startKafka() : {};
    const clickhouse = isClickHouseEmbedded ? installed.then(() => this.#startClickHouse()) : {};
    const built = installed.then(() => build(signal));
    Object.assign(roleEnv, ...(await this.#all([kafka, clickhouse, built])));

    log('preparing topics and tables …');
    const { tenantId, key, warnings = [] } = await runSetup({ dist, dataDir, env: roleEnv, signal });
    for (const warning of warnings) log(`WARNING: ${warning}.`);
    await this.#startRoles(roleEnv);
    return `Logweir is ready: app ${settings.appUrl} ingest ${settings.ingestUrl} tenant ${tenantId} key ${key || '-'}`;
  }

  /** @returns {Promise<Record<string, string>>} what the roles must know of it */
  async #startKafka() {
    const { settings, engines } = this.options;
    const { dataDir, survivesPowerLoss } = settings;
    /** @type {readonly [number, number] | undefined} the roles hold the address, so a new start keeps it */
    let ports;
    await this.#keepEngine('kafka', async (context) => {
      const kafka = await engines.startKafka({ dataDir, survivesPowerLoss, ports, log: this.options.log, ...context });
      ports = kafka.ports;
      return kafka;
    });
    return { LOGWEIR_KAFKA_BROKERS: `127.0.0.1:${ports?.[0]}`, LOGWEIR_KAFKA_DIR: path.join(dataDir, 'kafka') };
  }

  /** @returns {Promise<Record<string, string>>} what the roles must know of it */
  async #startClickHouse() {
    const { settings, engines } = this.options;
    const { dataDir, survivesPowerLoss } = settings;
    /** @type {import('../compose/embedded/clickhouse.d.mts').ClickHouse | undefined} */
    let last;
    await this.#keepEngine('clickhouse', async (context) => {
      last = await engines.startClickHouse({ dataDir, survivesPowerLoss, port: last?.port, log: this.options.log, ...context });
      return last;
    });
    if (last === undefined) throw new Error('BUG: ClickHouse is up, and its URL is unknown.');
    return {
      LOGWEIR_CLICKHOUSE_URL: last.url,
      LOGWEIR_CLICKHOUSE_USER: last.user,
      LOGWEIR_CLICKHOUSE_PASSWORD: last.password,
      LOGWEIR_CLICKHOUSE_DATABASE: last.database,
      LOGWEIR_CLICKHOUSE_READER_USER: last.readerUser,
      LOGWEIR_CLICKHOUSE_READER_PASSWORD: last.readerPassword,
    };
  }

  /** @param {string} name @param {import('./kept-child.mjs').Start} start */
  async #keepEngine(name, start) {
    const { log, delaysMs } = this.options;
    const engine = new KeptChild(name, start, { log, delaysMs, onChange: () => this.#writeInstance() });
    this.#stopping.signal.throwIfAborted();
    this.#engines.push(engine);
    await engine.start();
  }

  /** @param {NodeJS.ProcessEnv} env */
  async #startRoles(env) {
    const { settings, dist, log, delaysMs, lookMs } = this.options;
    this.#stopping.signal.throwIfAborted();
    const onChange = () => this.#writeInstance();
    const onPeers = () => this.#sendPeers();
    const options = { dist, dataDir: settings.dataDir, env, log, delaysMs, lookMs, onChange, onPeers };
    this.#roles = settings.roles.map((role) => new RoleProcess(role, options));
    for (const role of this.#roles) await role.start();
    const { signal } = this.#stopping;
    await Promise.race([Promise.all(this.#roles.map((role) => role.untilReady())), once(signal, 'abort')]);
    signal.throwIfAborted();
  }

  async #stop() {
    const deadline = Date.now() + STOP_BUDGET_MS;
    const left = () => Math.max(deadline - Date.now(), 0);
    this.#stopping.abort();
    const stopRoles = (/** @type {boolean} */ listening, /** @type {number} */ mostMs) => {
      const roles = this.#roles.filter(({ listens }) => listens === listening);
      return Promise.all(roles.map((role) => role.stop(Math.min(mostMs, Math.max(left() - ENGINES_STOP_MS, 0)))));
    };
    await stopRoles(true, LISTENING_ROLE_STOP_MS);
    await stopRoles(false, ROLE_STOP_MS);
    await Promise.all(this.#engines.map((engine) => engine.stop(left())));
    await this.#starting;
    this.#claim?.release();
  }

  /**
   * Waits for all; when one fails, everything is stopped before this fails for the same reason.
   * @param {readonly (object | Promise<unknown>)[]} tasks
   */
  async #all(tasks) {
    /** @type {unknown[]} the first tells why; the others are its consequences */
    const errors = [];
    const watched = tasks.map((task) =>
      Promise.resolve(task).catch((error) => {
        errors.push(error);
        void this.stop();
      }),
    );
    const results = await Promise.all(watched);
    if (errors.length > 0) throw errors[0];
    return results;
  }

  /** Every role knows where the others' internal listeners are. */
  #sendPeers() {
    const ready = this.#roles.filter(({ port }) => port !== null);
    const peers = ready.map(({ name, pid, port }) => ({ role: name, pid, port }));
    for (const role of ready) role.send({ type: 'peers', peers });
  }

  #writeInstance() {
    const children = [...this.#engines].sort((a, b) => b.name.localeCompare(a.name)).concat(this.#roles);
    const lines = children.filter(({ pid }) => pid > 0).map(({ name, pid, restarts }) => ({ role: name, pid, restarts }));
    writeInstance(this.options.settings.dataDir, [{ role: 'supervisor', pid: process.pid, restarts: 0 }, ...lines]);
  }
}
