// `npm start`: installs and builds what is missing, starts the engines and the roles, stays until SIGINT or SIGTERM.
// Runs before anything is installed: Node's built-ins only.
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { StartError } from '../compose/embedded/start-error.mjs';
import { log, runInForeground } from './foreground.mjs';
import { ensureBuilt, ensureInstalled } from './install.mjs';
import { readSettings } from './settings.mjs';
import { Supervisor } from './supervisor.mjs';

const root = path.resolve(path.dirname(fileURLToPath(import.meta.url)), '..');

await runInForeground(() => {
  const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);
  if (major < 20 || (major === 20 && minor < 19)) throw new StartError(`Node 20.19 or newer is needed, this is ${process.version}.`);
  return new Supervisor({
    settings: readSettings(process.env, process.argv.slice(2)),
    env: process.env,
    dist: path.join(root, 'dist'),
    log,
    install: (signal) => ensureInstalled({ root, log, signal }),
    build: (signal) => ensureBuilt({ root, log, signal }),
  });
});
