import path from 'node:path';
import { packageRoot } from '../pipeline/core/package-root.ts';
import { log, runInForeground } from './foreground.ts';
import { readSettings } from './settings.ts';
import { Supervisor } from './supervisor.ts';

/** What `npm start` does once the program is compiled (main/start.mjs): starts the engines and the roles, and stays until a signal. */
export function supervise(argv: readonly string[], parent: number): Promise<void> {
  const env = process.env;
  const dist = path.join(packageRoot(), 'dist');
  return runInForeground(() => new Supervisor({ settings: readSettings(env, argv), env, dist, log }), parent);
}
