import { spawn } from 'node:child_process';
import { closeSync, writeSync } from 'node:fs';
import path from 'node:path';
import { openLog } from '../compose/embedded/engine-process.ts';
import { StartError } from '../compose/embedded/start-error.ts';
import { notification } from './last-log-line.ts';
import { STANDBY, beginWith } from './standby.ts';

export type SetupOptions = {
  /** The folder of the compiled program. */
  readonly dist: string;
  readonly dataDir: string;
  readonly env: NodeJS.ProcessEnv;
  readonly signal: AbortSignal;
};

/** What the setup has found and made. */
export type SetupResult = { readonly tenantId: number; readonly key: string; readonly warnings?: readonly string[] };

/** Runs the setup program to its end. */
export const runSetup = (options: SetupOptions): Promise<SetupResult> => standbySetup(options)(options.env);

/**
 * Starts the setup program (topics, tables, the first tenant), which loads and waits; what is answered lets it run to its end, with these variables.
 * Its log goes to DATA_DIR/logs/setup.log; the last line it prints is JSON.
 */
export function standbySetup({ dist, dataDir, env, signal }: SetupOptions): (env: NodeJS.ProcessEnv) => Promise<SetupResult> {
  const program = path.join(dist, 'main', 'setup.js');
  const log = openLog(path.join(dataDir, 'logs', 'setup.log'));
  const child = spawn(process.execPath, [program, STANDBY], { env, signal, stdio: ['ignore', 'pipe', 'pipe', 'ipc'] });
  let printed = '';
  let complaint = '';
  child.stdout?.on('data', (part: Buffer) => (printed += part.toString()));
  child.stderr?.on('data', (part: Buffer) => {
    writeSync(log, part);
    complaint = (complaint + part.toString()).slice(-65_536);
  });
  const ended = new Promise<string>((resolve) => {
    child.once('error', (error) => resolve(error.message));
    child.once('close', (code, killedBy) => {
      closeSync(log);
      resolve(String(code ?? killedBy));
    });
  });
  return async (variables) => {
    if (child.connected) child.send(beginWith(variables), () => undefined); // one that has ended tells why below
    const how = await ended;
    if (how !== '0') throw new StartError(`Setup failed (${how}): ${notification(complaint) || 'it printed nothing.'}`);
    return JSON.parse(printed.trimEnd().split('\n').at(-1) ?? '') as SetupResult;
  };
}
