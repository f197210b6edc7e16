import { linkSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { identify, isAlive } from './processes.mjs';

/**
 * Takes a lock that is a file naming its holder. One whose holder is gone (killed, rebooted) is taken over.
 * @param {string} file
 * @returns {{ readonly release: () => void, readonly heldBy: null } | { readonly release: null, readonly heldBy: number }}
 */
export function takeLock(file) {
  const own = `${file}.${process.pid}`;
  writeFileSync(own, `${JSON.stringify(identify(process.pid))}\n`);
  try {
    for (;;) {
      if (link(own, file)) return { release: () => release(file), heldBy: null };
      const holder = readLock(file);
      if (holder !== null && isAlive(holder)) return { release: null, heldBy: holder.pid };
      discard(file, holder);
    }
  } finally {
    rmSync(own, { force: true });
  }
}

/**
 * Who holds the lock, alive or not; null when the file is not there or cannot be read.
 * @param {string} file
 * @returns {import('./lock.d.mts').ProcessIdentity | null}
 */
export function readLock(file) {
  try {
    return JSON.parse(readFileSync(file, 'utf8'));
  } catch {
    return null;
  }
}

/** A link appears at once with all its text, and only when there is no such file yet. */
function link(/** @type {string} */ own, /** @type {string} */ file) {
  try {
    linkSync(own, file);
    return true;
  } catch (error) {
    if (/** @type {NodeJS.ErrnoException} */ (error).code === 'EEXIST') return false;
    throw error;
  }
}

/**
 * Takes a dead holder's lock away. Another process may do the same and take the lock in the meantime: then what was
 * taken away here is a living one's, and is put back.
 * @param {string} file
 * @param {import('./lock.d.mts').ProcessIdentity | null} dead
 */
function discard(file, dead) {
  const aside = `${file}.${process.pid}.old`;
  try {
    renameSync(file, aside);
  } catch {
    return; // another process was faster
  }
  const taken = readLock(aside);
  if (taken !== null && (taken.pid !== dead?.pid || taken.startTime !== dead.startTime)) link(aside, file);
  rmSync(aside, { force: true });
}

/** @param {string} file */
function release(file) {
  if (readLock(file)?.pid === process.pid) rmSync(file, { force: true });
}
