// Plain JavaScript, with Node's built-ins alone: an installation takes a lock before anything can be compiled.
import { linkSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';

/**
 * What distinguishes a process from a later one with the same number.
 * @typedef {{ readonly pid: number, readonly startTime: string }} ProcessIdentity
 */

/**
 * Takes a lock that is a file naming its holder. One whose holder no longer runs (killed, rebooted) is taken over.
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
 * @returns {ProcessIdentity | null}
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
 * Removes a dead holder's lock. Another process may do the same and take the lock in the meantime: then what was
 * removed here is a living one's, and is put back.
 * @param {string} file
 * @param {ProcessIdentity | null} dead
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

/**
 * The identity of a running process; null when there is none.
 * @param {number} pid
 * @returns {ProcessIdentity | null}
 */
export function identify(pid) {
  if (!exists(pid)) return null;
  const startTime = startTimeOf(pid);
  return startTime === null ? null : { pid, startTime };
}

/**
 * Whether that very process still runs.
 * @param {ProcessIdentity} identity
 */
export function isAlive({ pid, startTime }) {
  return exists(pid) && startTimeOf(pid) === startTime;
}

/** @param {number} pid */
function exists(pid) {
  if (!Number.isInteger(pid) || pid <= 0) return false;
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return /** @type {NodeJS.ErrnoException} */ (error).code === 'EPERM';
  }
}

/**
 * When the process started, in the kernel's ticks since boot (field 22 of /proc/PID/stat); null for one that has ended
 * and only waits for its parent. Where there is no /proc, the number alone must do.
 * @param {number} pid
 */
function startTimeOf(pid) {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    // The name in brackets may hold anything; what follows its last bracket starts with field 3, the state.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    return fields[0] === 'Z' || fields[0] === 'X' ? null : (fields[19] ?? null);
  } catch {
    return process.platform === 'linux' ? null : '';
  }
}
