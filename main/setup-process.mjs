import { spawn } from 'node:child_process';
import { closeSync, writeSync } from 'node:fs';
import path from 'node:path';
import { openLog } from '../compose/embedded/engine-process.mjs';
import { StartError } from '../compose/embedded/start-error.mjs';
import { telling } from './last-words.mjs';

/**
 * Runs the setup program (topics, tables, the first tenant) to its end. Its log goes to DATA_DIR/logs/setup.log; the
 * last line it prints is JSON.
 * @param {{ dist: string, dataDir: string, env: NodeJS.ProcessEnv, signal: AbortSignal }} options
 * @returns {Promise<{ readonly tenantId: number, readonly key: string, readonly warnings?: readonly string[] }>}
 */
export async function runSetup({ dist, dataDir, env, signal }) {
  const program = path.join(dist, 'main', 'setup.js');
  const log = openLog(path.join(dataDir, 'logs', 'setup.log'));
  const child = spawn(process.execPath, ['--enable-source-maps', program], { env, signal, stdio: ['ignore', 'pipe', 'pipe'] });
  let printed = '';
  let complaint = '';
  child.stdout.on('data', (part) => (printed += part));
  child.stderr.on('data', (part) => {
    writeSync(log, part);
    complaint = (complaint + part).slice(-65_536);
  });
  const how = await new Promise((resolve) => {
    child.once('error', (error) => resolve(error.message));
    child.once('close', (code, killedBy) => resolve(code ?? killedBy));
  });
  closeSync(log);
  if (how !== 0) throw new StartError(`Setup failed (${how}): ${telling(complaint) || 'it printed nothing.'}`);
  return JSON.parse(printed.trimEnd().split('\n').at(-1) ?? '');
}
