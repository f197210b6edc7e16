import { spawn } from 'node:child_process';
import { closeSync, mkdirSync, openSync } from 'node:fs';
import path from 'node:path';
import { lastLogLine } from '../../main/last-log-line.ts';
import { runtimeOf } from '../../main/role-runtime.ts';
import type { Launch } from './kept-process.ts';

export type RoleOptions = {
  readonly name: string;
  /** What the process does, as `--role` of main/role.ts takes it. */
  readonly roles: readonly string[];
  /** The folder of the compiled program. */
  readonly dist: string;
  readonly dataDir: string;
  /** As it is at each start. */
  readonly env: () => NodeJS.ProcessEnv;
  /** A module that is loaded before the program (fault-points.mjs). */
  readonly preload?: string | undefined;
  /** Told of what the process says over its channel. */
  readonly onMessage?: (message: unknown) => void;
};

/** A process of ours and the port of its internal listener; 0: none is ready. */
export type RoleLaunch = { readonly launch: Launch; readonly port: () => number; send(message: object): void };

/** Starts a process of the service as main/role-process.ts does: with the channel over which it says that it is ready, and that ends it with us. */
export function roleLaunch(options: RoleOptions): RoleLaunch {
  let port = 0;
  let send: (message: object) => void = () => undefined;
  const launch: Launch = (onSpawn) =>
    new Promise((resolve, reject) => {
      const logFile = path.join(options.dataDir, 'logs', `${options.name}.log`);
      mkdirSync(path.dirname(logFile), { recursive: true });
      const log = openSync(logFile, 'a', 0o600);
      const program = path.join(options.dist, 'main', 'role.js');
      const preload = options.preload === undefined ? [] : ['--import', options.preload];
      const runtime = runtimeOf(options.roles);
      const args = [...runtime.flags, ...preload, program, '--name', options.name, '--role', options.roles.join(',')];
      const env = { ...runtime.env, ...options.env() };
      const child = spawn(process.execPath, args, { env, detached: true, stdio: ['ignore', log, log, 'ipc'] });
      closeSync(log);
      const exited = new Promise<string>((ended) => {
        child.once('error', (error) => ended(error.message));
        child.once('exit', (code, signal) => ended(signal === null ? `exit code ${String(code)}` : `signal ${signal}`));
      });
      if (child.pid !== undefined) onSpawn(child.pid);
      send = (message) => child.send(message, () => undefined);
      const stop = async (): Promise<void> => {
        child.kill('SIGTERM');
        await exited;
      };
      void exited.then((how) => {
        port = 0;
        send = () => undefined;
        reject(new Error(how.startsWith('signal') ? how : `${how}: ${lastLogLine(logFile)}`));
      });
      child.on('message', (message: { readonly type?: unknown; readonly port?: unknown }) => {
        options.onMessage?.(message);
        if (message.type !== 'ready') return;
        port = Number(message.port);
        child.send({ type: 'peers', peers: [], names: [] }, () => undefined); // a node of its own, as its supervisor would send it
        resolve({ exited, stop });
      });
    });
  return {
    launch,
    port: () => port,
    send: (message) => {
      send(message);
    },
  };
}
