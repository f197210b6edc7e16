import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { StartError } from '../compose/embedded/start-error.ts';
import { identify, isAlive, readLock, takeLock } from './lock.mjs';

const LEFTOVER_TIMEOUT_MS = 10_000;

/** A line of `logweir ps`. */
export type InstanceProcess = { readonly role: string; readonly pid: number; readonly restarts: number };

type ProcessIdentity = NonNullable<ReturnType<typeof identify>>;

const lockFile = (dataDir: string): string => path.join(dataDir, 'supervisor.lock');
const listFile = (dataDir: string): string => path.join(dataDir, 'instance.json');
const identityFile = (dataDir: string): string => path.join(dataDir, 'processes.json');

/**
 * Takes a data directory for this process. What a killed supervisor has left running is waited for, and ended when it
 * does not end by itself.
 */
export async function claimDataDir(dataDir: string): Promise<{ readonly release: () => void }> {
  const lock = openDataDir(dataDir);
  await endLeftovers(dataDir);
  const release = (): void => {
    rmSync(listFile(dataDir), { force: true });
    rmSync(identityFile(dataDir), { force: true });
    lock.release();
  };
  return { release };
}

function openDataDir(dataDir: string): { readonly release: () => void } {
  try {
    mkdirSync(dataDir, { recursive: true });
    const lock = takeLock(lockFile(dataDir));
    if (lock.heldBy === null) return lock;
    throw new StartError(
      `The data directory ${dataDir} is used by another instance, process ${lock.heldBy}; choose another one with LOGWEIR_DATA_DIR.`,
    );
  } catch (error) {
    const { code, syscall } = error as NodeJS.ErrnoException;
    if (code === undefined || syscall === undefined) throw error;
    throw new StartError(`The data directory ${dataDir} cannot be used (${code}); choose another one with LOGWEIR_DATA_DIR.`, {
      cause: error,
    });
  }
}

async function endLeftovers(dataDir: string): Promise<void> {
  const former = (readJson(identityFile(dataDir)) ?? []) as readonly ProcessIdentity[];
  const deadline = Date.now() + LEFTOVER_TIMEOUT_MS;
  let alive = former.filter(isAlive);
  while (alive.length > 0) {
    if (Date.now() > deadline) for (const { pid } of alive) process.kill(pid, 'SIGKILL');
    await sleep(50);
    alive = alive.filter(isAlive);
  }
}

/** Writes down which processes the instance has, for `logweir ps` and for the next start. */
export function writeInstance(dataDir: string, processes: readonly InstanceProcess[]): void {
  const identities = processes.slice(1).flatMap(({ pid }) => identify(pid) ?? []);
  writeJson(identityFile(dataDir), identities);
  writeJson(listFile(dataDir), processes);
}

/** The processes of the instance that runs on a data directory; null when none does. */
export function readInstance(dataDir: string): readonly InstanceProcess[] | null {
  const supervisor = readLock(lockFile(dataDir));
  return supervisor !== null && isAlive(supervisor) ? (readJson(listFile(dataDir)) as readonly InstanceProcess[] | null) : null;
}

function readJson(file: string): unknown {
  return existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : null;
}

/** Readers see the old content or the new one, whole. */
function writeJson(file: string, value: unknown): void {
  writeFileSync(`${file}.new`, `${JSON.stringify(value)}\n`);
  renameSync(`${file}.new`, file);
}
