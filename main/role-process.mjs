import { spawn } from 'node:child_process';
import { closeSync } from 'node:fs';
import path from 'node:path';
import { openLog } from '../compose/embedded/engine-process.mjs';
import { StartError } from '../compose/embedded/start-error.mjs';
import { Heartbeat, LOOK_MS } from './heartbeat.mjs';
import { KeptChild } from './kept-child.mjs';
import { lastWords } from './last-words.mjs';
import { runtimeOf } from './role-runtime.mjs';

/**
 * The processes that make up the service, in the order in which they are stopped: no new entries first, then what stores
 * and counts them, and at last what watches the log. `roles` are what one does, its own name where there are none; `listens` names the public listeners that it opens.
 * @type {readonly { readonly name: string, readonly roles?: readonly string[], readonly listens: readonly ('app' | 'ingest' | 'admin')[] }[]}
 */
export const ROLES = [
  { name: 'ingest', listens: ['ingest'] },
  { name: 'app', listens: ['app', 'admin'] },
  { name: 'sink', listens: [] },
  { name: 'processors', listens: [] },
  // it reads no data, which so cannot end it
  { name: 'guard', listens: [] },
];

const READY_TIMEOUT_MS = 240_000;

/**
 * A Node process of the service, kept running. It logs to DATA_DIR/logs, says `{type:'ready', port}` when it works and
 * `{type:'alive'}` every second: one whose event loop hangs for 15 s is killed, and started again. It
 * ends by itself when its supervisor is gone (the channel between them closes).
 */
export class RoleProcess extends KeptChild {
  /** The port of its internal listener; null while it is not ready. @type {number | null} */
  port = null;
  /** @type {import('node:child_process').ChildProcess | null} */
  #child = null;
  #wasReady = false;
  #ready = deferred();

  /**
   * @param {string} role
   * @param {{ dist: string, dataDir: string, env: NodeJS.ProcessEnv, onChange: () => void, onPeers: () => void,
   *   log: (line: string) => void, delaysMs?: readonly number[] | undefined, lookMs?: number | undefined }} options
   */
  constructor(role, options) {
    super(role, ({ onSpawn }) => Promise.resolve(this.#spawn(onSpawn)), options);
    this.options = options;
    /** Whether it has public listeners: those end first. */
    this.listens = (ROLES.find(({ name }) => name === role)?.listens.length ?? 0) > 0;
    this.logFile = path.join(options.dataDir, 'logs', `${role}.log`);
  }

  /** Resolves when it has been ready for the first time; fails when it gives up before. */
  async untilReady() {
    const timer = setTimeout(() => this.#ready.reject(`it was not ready after ${READY_TIMEOUT_MS / 1000} s`), READY_TIMEOUT_MS);
    try {
      await this.#ready.promise;
    } catch (how) {
      throw new StartError(`The role ${this.name} did not start (${how}): ${lastWords(this.logFile)}`);
    } finally {
      clearTimeout(timer);
    }
  }

  /** @param {object} message */
  send(message) {
    if (this.#child?.connected) this.#child.send(message, () => {}); // one that is ending needs no news
  }

  /** @param {(pid: number) => void} onSpawn */
  #spawn(onSpawn) {
    const { dist, env } = this.options;
    const log = openLog(this.logFile);
    const roles = ROLES.find(({ name }) => name === this.name)?.roles ?? [this.name];
    const own = runtimeOf(roles);
    const args = [...own.flags, path.join(dist, 'main', 'role.js'), '--name', this.name, '--role', roles.join(',')];
    // A process group of its own: a Ctrl-C of the terminal reaches the supervisor alone, which stops all in order.
    const child = spawn(process.execPath, args, {
      env: { ...own.env, ...env },
      detached: true,
      stdio: ['ignore', log, log, 'ipc'],
    });
    closeSync(log);
    this.#child = child;
    const heartbeat = new Heartbeat();
    child.on('message', (message) => this.#onMessage(message, heartbeat));
    const looks = setInterval(() => {
      if (!heartbeat.look()) return;
      clearInterval(looks);
      this.log(`the event loop of ${this.name} has hung for 15 s: it is killed`);
      child.kill('SIGKILL');
    }, this.options.lookMs ?? LOOK_MS);
    const exited = new Promise((/** @type {(how: string) => void} */ resolve) => {
      const ended = (/** @type {string} */ how) => {
        clearInterval(looks);
        this.port = null;
        this.options.onPeers();
        resolve(how);
      };
      child.once('error', (error) => ended(error.message));
      child.once('exit', (code, signal) => {
        if (code !== null && !this.#wasReady) this.#giveUp(`exit code ${code}`);
        ended(signal === null ? `exit code ${code}` : `signal ${signal}`);
      });
    });
    onSpawn(child.pid ?? 0);
    return { exited, stop: async () => void child.kill('SIGTERM'), kill: () => void child.kill('SIGKILL') };
  }

  /**
   * One that was killed is started again; one that ended by itself before its first work would do so again.
   * @param {string} how
   */
  #giveUp(how) {
    this.#ready.reject(how);
    void this.kill();
  }

  /** @param {unknown} message @param {Heartbeat} heartbeat */
  #onMessage(message, heartbeat) {
    const { type, port } = /** @type {{ type?: unknown, port?: unknown }} */ (message ?? {});
    if (type === 'alive') heartbeat.beat();
    if (type !== 'ready') return;
    this.port = Number(port);
    this.#wasReady = true;
    this.#ready.resolve(null);
    this.options.onPeers();
  }
}

function deferred() {
  /** @type {(value: null) => void} */
  let resolve = () => {};
  /** @type {(reason: string) => void} */
  let reject = () => {};
  const promise = new Promise((yes, no) => {
    resolve = yes;
    reject = no;
  });
  promise.catch(() => {}); // looked at only during the start
  return { promise, resolve, reject };
}
