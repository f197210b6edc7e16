import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { StartError } from '../compose/embedded/start-error.mjs';
import { readLock, takeLock } from './lock.mjs';
import { identify, isAlive } from './processes.mjs';

const LEFTOVER_TIMEOUT_MS = 10_000;

/**
 * A line of `logweir ps`.
 * @typedef {{ readonly role: string, readonly pid: number, readonly restarts: number }} InstanceProcess
 */

const lockFile = (/** @type {string} */ dataDir) => path.join(dataDir, 'supervisor.lock');
const listFile = (/** @type {string} */ dataDir) => path.join(dataDir, 'instance.json');
const identityFile = (/** @type {string} */ dataDir) => path.join(dataDir, 'processes.json');

/**
 * Takes a data directory for this process. What a killed supervisor has left running is waited for, and ended when it
 * does not end by itself.
 * @param {string} dataDir
 * @returns {Promise<{ readonly release: () => void }>}
 */
export async function claimDataDir(dataDir) {
  const lock = openDataDir(dataDir);
  await endLeftovers(dataDir);
  const release = () => {
    rmSync(listFile(dataDir), { force: true });
    rmSync(identityFile(dataDir), { force: true });
    lock.release();
  };
  return { release };
}

/** @param {string} dataDir */
function openDataDir(dataDir) {
  try {
    mkdirSync(dataDir, { recursive: true });
    const lock = takeLock(lockFile(dataDir));
    if (lock.heldBy === null) return lock;
    throw new StartError(
      `The data directory ${dataDir} is used by another instance, process ${lock.heldBy}; choose another one with LOGWEIR_DATA_DIR.`,
    );
  } catch (error) {
    const { code, syscall } = /** @type {NodeJS.ErrnoException} */ (error);
    if (code === undefined || syscall === undefined) throw error;
    throw new StartError(`The data directory ${dataDir} cannot be used (${code}); choose another one with LOGWEIR_DATA_DIR.`, {
      cause: error,
    });
  }
}

/** @param {string} dataDir */
async function endLeftovers(dataDir) {
  /** @type {import('./processes.mjs').ProcessIdentity[]} */
  const former = readJson(identityFile(dataDir)) ?? [];
  const deadline = Date.now() + LEFTOVER_TIMEOUT_MS;
  let alive = former.filter(isAlive);
  while (alive.length > 0) {
    if (Date.now() > deadline) for (const { pid } of alive) process.kill(pid, 'SIGKILL');
    await sleep(50);
    alive = alive.filter(isAlive);
  }
}

/**
 * Writes down which processes the instance has, for `logweir ps` and for the next start.
 * @param {string} dataDir
 * @param {readonly InstanceProcess[]} processes
 */
export function writeInstance(dataDir, processes) {
  const identities = processes.slice(1).flatMap(({ pid }) => identify(pid) ?? []);
  writeJson(identityFile(dataDir), identities);
  writeJson(listFile(dataDir), processes);
}

/**
 * The processes of the instance that runs on a data directory; null when none does.
 * @param {string} dataDir
 * @returns {readonly InstanceProcess[] | null}
 */
export function readInstance(dataDir) {
  const supervisor = readLock(lockFile(dataDir));
  return supervisor !== null && isAlive(supervisor) ? readJson(listFile(dataDir)) : null;
}

/** @param {string} file */
function readJson(file) {
  return existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : null;
}

/** Readers see the old text or the new one, whole. */
function writeJson(/** @type {string} */ file, /** @type {unknown} */ value) {
  writeFileSync(`${file}.new`, `${JSON.stringify(value)}\n`);
  renameSync(`${file}.new`, file);
}
