// `npm start`, with `--dev` `npm run dev`, with `--cluster` `npm run cluster`: installs the packages and compiles the program where that is needed, then hands over to the compiled
// supervisor, which starts the engines and the roles. Runs before anything is installed: Node's built-ins only.
import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { InstallError, ensureBuilt, ensureInstalled } from './install.mjs';
import { RuntimeError, assertCanInstall, handOver } from './runtime.mjs';

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'];
const root = path.resolve(import.meta.dirname, '..');
const parent = process.ppid;
const isDev = process.argv.includes('--dev');
const isCluster = process.argv.includes('--cluster');
const args = process.argv.slice(2).filter((word) => word !== '--dev' && word !== '--cluster');
const stopping = new AbortController();
const { signal } = stopping;

/** @param {string} line */
const log = (line) => void process.stderr.write(`logweir: ${line}\n`);

function stop() {
  if (signal.aborted) return;
  log('stopping …');
  stopping.abort();
}

/** Fetches Kafka. It may fail: the supervisor tries again, and reports why. @returns {Promise<void>} */
const fetchKafka = () =>
  new Promise((resolve) => {
    const child = spawn(process.execPath, [path.join(root, 'main', 'fetch-kafka.ts')], {
      cwd: root,
      signal,
      stdio: ['ignore', 'ignore', 'inherit'],
    });
    child.once('error', () => undefined); // its close event follows
    child.once('close', () => resolve());
  });

async function prepare() {
  assertCanInstall();
  await ensureInstalled({ root, log, signal });
  signal.throwIfAborted();
  await handOver({ root, program: import.meta.filename, args: process.argv.slice(2), signal });
  await ensureBuilt({ root, log, signal, meanwhile: fetchKafka });
  // what V8 compiles is kept, of this process and of those that it starts
  const { enableCompileCache } = await import('node:module'); // Node 20 has none
  const folder = process.env['NODE_COMPILE_CACHE'] ?? path.join(root, '.cache', 'logweir', 'compiled');
  enableCompileCache(folder);
  process.env['NODE_COMPILE_CACHE'] = folder;
  return isDev ? develop() : isCluster ? cluster() : supervise();
}

/** What has been compiled. @param {string} name */
const compiled = (name) => import(pathToFileURL(path.join(root, 'dist', 'main', name)).href);

async function supervise() {
  const module = await compiled('supervise.js');
  return () => module.supervise(args, parent);
}

async function cluster() {
  const module = await compiled('run-cluster.js');
  return () => module.runCluster(args, parent);
}

async function develop() {
  if (!existsSync(path.join(root, 'tsconfig.json')))
    throw new InstallError('A release has no sources to change: npm run dev is for a clone.');
  const module = await compiled('develop.js');
  return () => module.develop({ argv: args, parent, build: () => ensureBuilt({ root, log: () => undefined }) });
}

process.stderr.on('error', () => undefined); // the reader of these lines may have exited
for (const name of SIGNALS) process.on(name, stop);
// npm that is killed cannot pass that on
const looks = setInterval(() => process.env['npm_lifecycle_event'] !== undefined && process.ppid !== parent && stop(), 1000);
try {
  const run = await prepare();
  signal.throwIfAborted();
  const ended = run(); // which listens to the signals itself, from now on
  for (const name of SIGNALS) process.off(name, stop);
  clearInterval(looks);
  await ended;
} catch (error) {
  if (signal.aborted) process.exit(0);
  const text =
    error instanceof InstallError || error instanceof RuntimeError ? error.message : error instanceof Error ? error.stack : String(error);
  process.stderr.write(`logweir: ${text}\n`, () => process.exit(1));
}
