// What a clone needs before it can run: its packages, and the compiled program. Node's built-ins alone.
import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, readdirSync, statSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { ensureWasm } from './build-wasm.mjs';
import { takeLock } from './lock.mjs';

/** Something that keeps a clone from being installed or compiled: the message is printed as it is, without a stack. */
export class InstallError extends Error {
  /** @override */
  name = 'InstallError';
}

/**
 * @typedef {object} InstallOptions
 * @property {string} root the folder of package.json
 * @property {(line: string) => void} log takes progress lines
 * @property {AbortSignal | undefined} [signal]
 * @property {() => Promise<void>} [meanwhile] what is done while the compiler runs, where it does
 */

/**
 * Installs the packages that package-lock.json names, unless that has been done.
 * @param {InstallOptions} options
 */
export async function ensureInstalled(options) {
  const { root, log, signal } = options;
  const stamp = path.join(root, 'node_modules', '.logweir-installed');
  const wanted = sha256(readFileSync(path.join(root, 'package-lock.json')));
  const isDone = () => readText(stamp) === wanted || wasInstalledByHand(root);
  if (isDone()) return;
  await alone(options, async () => {
    if (isDone()) return; // another start has done it meanwhile
    log('installing packages …');
    const npm = process.env['npm_execpath'];
    const command = npm?.endsWith('.js') ? [process.execPath, npm] : ['npm'];
    // a release is compiled already, and cannot be tested
    const development = isRelease(root) ? '--omit=dev' : '--include=dev';
    const flags = ['ci', '--ignore-scripts', development, '--include=optional', '--no-audit', '--no-fund'];
    const wantedFolders = foldersOf(root, isRelease(root));
    const progress = setInterval(() => {
      const count = wantedFolders.filter((folder) => existsSync(path.join(root, folder, 'package.json'))).length;
      log(`installing packages: ${count} of ${wantedFolders.length} …`);
    }, PROGRESS_MS);
    const { code, output } = await run([...command, ...flags], { root, signal }).finally(() => clearInterval(progress));
    if (code !== 0) throw new InstallError(`The packages could not be installed:\n${complaints(output)}`);
    writeFileSync(stamp, wanted);
  });
}

/** How often it is told how far npm has come. */
const PROGRESS_MS = 5000;

/**
 * The folders of the packages that this machine gets.
 * @param {string} root
 * @param {boolean} withoutDevelopment
 * @returns {string[]}
 */
function foldersOf(root, withoutDevelopment) {
  const { packages = {} } = JSON.parse(readFileSync(path.join(root, 'package-lock.json'), 'utf8'));
  /** @type {[string, { os?: string[], cpu?: string[], libc?: string[], dev?: boolean }][]} */
  const all = Object.entries(packages);
  const fits = (/** @type {string[] | undefined} */ list, /** @type {string} */ own) => list === undefined || list.includes(own);
  return all
    .filter(([folder]) => folder !== '')
    .filter(([, { os, cpu, libc }]) => fits(os, process.platform) && fits(cpu, process.arch) && fits(libc, 'glibc'))
    .filter(([, { dev }]) => !(withoutDevelopment && dev === true))
    .map(([folder]) => folder);
}

/**
 * Compiles the sources into dist/, unless they are the same as at the last time.
 * @param {InstallOptions} options
 */
export async function ensureBuilt(options) {
  const { root, log, signal, meanwhile } = options;
  if (isRelease(root)) return;
  const dist = path.join(root, 'dist');
  const stamp = path.join(dist, '.logweir-built');
  const wanted = sourceFingerprint(root);
  const isDone = () => readText(stamp) === wanted;
  if (isDone()) return;
  await alone(options, async () => {
    if (isDone()) return;
    log('building …');
    // where it fails, what is there now is not what was built before
    if (existsSync(stamp)) writeFileSync(stamp, '');
    const wasm = ensureWasm({ root, signal }).catch((/** @type {Error} */ error) => {
      throw new InstallError(error.message, { cause: error });
    });
    const [{ code, output }] = await Promise.all([
      run([process.execPath, '--disable-warning=ExperimentalWarning', path.join(root, 'main', 'compile.mjs')], { root, signal }),
      buildPages(root, signal),
      wasm,
      meanwhile?.(),
    ]);
    if (code !== 0) throw new InstallError(`The program could not be compiled:\n${complaints(output)}`);
    mkdirSync(dist, { recursive: true });
    writeFileSync(stamp, wanted);
  });
}

/**
 * Builds the pages (web/ui), unless they are the same as at the last time.
 * @param {string} root
 * @param {AbortSignal | undefined} signal
 */
async function buildPages(root, signal) {
  const stamp = path.join(root, 'dist', 'web', 'ui', '.logweir-built');
  const wanted = fingerprintOf(root, PAGE_SOURCES);
  if (readText(stamp) === wanted) return;
  const { code, output } = await run([process.execPath, path.join(root, 'web', 'build-ui.mjs')], { root, signal });
  if (code !== 0) throw new InstallError(`The pages could not be built:\n${complaints(output)}`);
  writeFileSync(stamp, wanted);
}

/** The folders that are compiled (main/compile.mjs). */
export const COMPILED = ['pipeline', 'api', 'sinks', 'logsql', 'promql', 'main', 'cli', 'compose', 'web/client'];
/** What the pages are made of. */
const PAGE_SOURCES = ['package-lock.json', 'web', 'logsql', 'pipeline/clusterer', 'pipeline/core'];

/** True in what `npm run release` has made: the program is compiled. */
const isRelease = (/** @type {string} */ root) => existsSync(path.join(root, 'release.json'));

/** npm writes this list last, so it is newer than the lock file when `npm ci` or `npm install` was run by hand. */
function wasInstalledByHand(/** @type {string} */ root) {
  const list = statSync(path.join(root, 'node_modules', '.package-lock.json'), { throwIfNoEntry: false });
  return list !== undefined && list.mtimeMs >= statSync(path.join(root, 'package-lock.json')).mtimeMs;
}

/**
 * Changes whenever a source may have changed.
 * @param {string} root
 */
function sourceFingerprint(root) {
  return fingerprintOf(root, ['package-lock.json', ...COMPILED, 'web']);
}

/** @param {string} root @param {readonly string[]} names */
function fingerprintOf(root, names) {
  const lines = [process.version];
  for (const name of names) listFiles(path.join(root, name), lines);
  return sha256(lines.join('\n'));
}

/** @param {string} file @param {string[]} lines */
function listFiles(file, lines) {
  const status = statSync(file, { throwIfNoEntry: false });
  if (status === undefined) return;
  if (status.isDirectory()) for (const name of readdirSync(file).sort()) listFiles(path.join(file, name), lines);
  else if (/\.(tsx?|mjs|json|css|html|svg)$/.test(file)) lines.push(`${file} ${status.size} ${status.mtimeMs}`);
}

/**
 * Does a piece of work while no other start in this folder does its own.
 * @param {InstallOptions} options
 * @param {() => Promise<void>} work
 */
async function alone({ root, log, signal }, work) {
  const folder = path.join(root, '.cache', 'logweir');
  mkdirSync(folder, { recursive: true });
  const file = path.join(folder, 'install.lock');
  let lock = takeLock(file);
  if (lock.heldBy !== null) log(`waiting for process ${lock.heldBy}, which installs too …`);
  while (lock.heldBy !== null) {
    await sleep(200, undefined, { signal });
    lock = takeLock(file);
  }
  try {
    await work();
  } finally {
    lock.release();
  }
}

/**
 * Runs a program to its end; `output` is what it printed.
 * @param {readonly string[]} command
 * @param {{ root: string, signal: AbortSignal | undefined }} options
 * @returns {Promise<{ code: number, output: string }>}
 */
function run([program = '', ...args], { root, signal }) {
  return new Promise((resolve) => {
    const child = execFile(program, args, { cwd: root, signal, maxBuffer: 64 * 1024 * 1024 }, (error, stdout, stderr) =>
      resolve({ code: error === null ? 0 : 1, output: stdout + stderr || String(error?.message) }),
    );
    child.stdin?.end();
  });
}

/**
 * The lines that report what is wrong; both npm and compilers begin with the cause.
 * @param {string} output
 */
function complaints(output) {
  const lines = output.split('\n').filter((line) => /error [^\s]/.test(line));
  return lines.slice(0, 10).join('\n') || output.trim();
}

/** @param {string | Buffer} content */
const sha256 = (content) => createHash('sha256').update(content).digest('hex');

/** @param {string} file */
function readText(file) {
  return existsSync(file) ? readFileSync(file, 'utf8') : '';
}
