import { spawn, type ChildProcess } from 'node:child_process';
import { closeSync } from 'node:fs';
import path from 'node:path';
import { openLog } from '../compose/embedded/engine-process.ts';
import { StartError } from '../compose/embedded/start-error.ts';
import { Heartbeat, LOOK_MS } from './heartbeat.ts';
import { SupervisedProcess, type SupervisedProcessOptions, type Running } from './supervised-process.ts';
import { lastLogLine } from './last-log-line.ts';
import { runtimeOf } from './role-runtime.ts';
import { STANDBY, beginWith } from './standby.ts';

/** A process of the service. */
export type Role = {
  readonly name: string;
  /** What it does; its own name where there are none. */
  readonly roles?: readonly string[];
  /** The public listeners that it opens. */
  readonly listens: readonly ('app' | 'ingest' | 'admin' | 'doors')[];
};

/** The role that there is only where there are doors. */
export const DOORS = 'doors';

/**
 * The processes that make up the service, in the order in which they are stopped: no new entries first, then what stores
 * and counts them.
 */
export const ROLES: readonly Role[] = [
  { name: 'ingest', listens: ['ingest'] },
  { name: DOORS, listens: ['doors'] },
  { name: 'app', listens: ['app', 'admin'] },
  { name: 'sink', listens: [] },
  { name: 'processors', listens: [] },
];

/** Roles that there were, and who does their work now. */
export const FORMER_ROLES: ReadonlyMap<string, string> = new Map([
  ['guard', 'ingest (or app, where no ingest runs) watches the log itself'],
]);

const READY_TIMEOUT_MS = 240_000;

export type RoleProcessOptions = SupervisedProcessOptions & {
  /** The folder of the compiled program. */
  readonly dist: string;
  readonly dataDir: string;
  /** What it is started with; `begin` gives what it works with. */
  readonly env: NodeJS.ProcessEnv;
  /** Its internal listener opens the port of the instance; the role app's does so without it. */
  readonly hasAdminPort?: boolean;
  /** Called when it has become ready, and when it has ended. */
  readonly onPeers: () => void;
  /** Time between two looks whether its event loop turns. */
  readonly lookMs?: number | undefined;
};

/**
 * A Node process of the service, kept running. It loads its modules at once and works from `begin` on. It logs to DATA_DIR/logs, sends `{type:'ready', port}` when it works and
 * `{type:'alive'}` every second: one whose event loop hangs for 15 s is killed, and started again. It
 * ends by itself when its supervisor has exited (the channel between them closes).
 */
export class RoleProcess extends SupervisedProcess {
  /** The port of its internal listener; null while it is not ready. */
  port: number | null = null;
  /** Whether it has public listeners: those end first. */
  readonly listens: boolean;
  readonly logFile: string;
  #child: ChildProcess | null = null;
  #wasReady = false;
  #begun: NodeJS.ProcessEnv | null = null;
  readonly #ready = deferred();
  readonly #options: RoleProcessOptions;

  constructor(role: string, options: RoleProcessOptions) {
    super(role, ({ onSpawn }) => Promise.resolve(this.#spawn(onSpawn)), options);
    this.#options = options;
    this.listens = (ROLES.find(({ name }) => name === role)?.listens.length ?? 0) > 0;
    this.logFile = path.join(options.dataDir, 'logs', `${role}.log`);
  }

  /** Resolves when it has been ready for the first time; fails when it gives up before. */
  async untilReady(): Promise<void> {
    const timer = setTimeout(() => this.#ready.reject(`it was not ready after ${READY_TIMEOUT_MS / 1000} s`), READY_TIMEOUT_MS);
    try {
      await this.#ready.promise;
    } catch (how) {
      throw new StartError(`The role ${this.name} did not start (${String(how)}): ${lastLogLine(this.logFile)}`);
    } finally {
      clearTimeout(timer);
    }
  }

  /** Starts it again, with the code that is there now; resolves when it is ready, or has ended again. */
  override async restart(timeoutMs: number): Promise<void> {
    await super.restart(timeoutMs);
    const child = this.#child;
    if (child === null || child.exitCode !== null) return;
    await new Promise<void>((resolve) => {
      child.once('exit', () => resolve());
      child.on('message', () => this.port !== null && resolve());
    });
  }

  /** Lets it work, with this environment; one that is started again later has it from its start. */
  begin(env: NodeJS.ProcessEnv): void {
    this.#begun = env;
    this.send(beginWith(env));
  }

  send(message: object): void {
    if (this.#child?.connected === true) this.#child.send(message, () => undefined); // one that is ending needs no news
  }

  #spawn(onSpawn: (pid: number) => void): Running {
    const { dist, hasAdminPort = false } = this.#options;
    const env = this.#begun ?? this.#options.env;
    const log = openLog(this.logFile);
    const roles = ROLES.find(({ name }) => name === this.name)?.roles ?? [this.name];
    const own = runtimeOf(roles);
    const args = [...own.flags, path.join(dist, 'main', 'role.js'), '--name', this.name, '--role', roles.join(',')];
    if (hasAdminPort) args.push('--admin-port');
    if (this.#begun === null) args.push(STANDBY);
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
    }, this.#options.lookMs ?? LOOK_MS);
    const exited = new Promise<string>((resolve) => {
      const ended = (how: string): void => {
        clearInterval(looks);
        this.port = null;
        this.#options.onPeers();
        resolve(how);
      };
      child.once('error', (error) => ended(error.message));
      child.once('exit', (code, signal) => {
        if (code !== null && !this.#wasReady) this.#giveUp(`exit code ${String(code)}`);
        ended(signal === null ? `exit code ${String(code)}` : `signal ${signal}`);
      });
    });
    onSpawn(child.pid ?? 0);
    return { exited, stop: () => Promise.resolve(void child.kill('SIGTERM')), kill: () => void child.kill('SIGKILL') };
  }

  /** One that was killed is started again; one that ended by itself before its first work would do so again. */
  #giveUp(how: string): void {
    this.#ready.reject(how);
    void this.kill();
  }

  #onMessage(message: unknown, heartbeat: Heartbeat): void {
    const { type, port } = (message ?? {}) as { readonly type?: unknown; readonly port?: unknown };
    if (type === 'alive') heartbeat.beat();
    if (type !== 'ready') return;
    this.port = Number(port);
    this.#wasReady = true;
    this.#ready.resolve();
    this.#options.onPeers();
  }
}

function deferred(): { readonly promise: Promise<void>; readonly resolve: () => void; readonly reject: (reason: string) => void } {
  let resolve: () => void = () => undefined;
  let reject: (reason: string) => void = () => undefined;
  const promise = new Promise<void>((yes, no) => {
    resolve = yes;
    reject = no;
  });
  promise.catch(() => undefined); // looked at only during the start
  return { promise, resolve, reject };
}
