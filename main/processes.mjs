import { readFileSync } from 'node:fs';

/** @typedef {import('./lock.d.mts').ProcessIdentity} ProcessIdentity */

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

/**
 * The processes that a process has started and that run; none where there is no /proc.
 * @param {number} pid
 * @returns {readonly number[]}
 */
export function childrenOf(pid) {
  try {
    return readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim().split(' ').filter(Boolean).map(Number);
  } catch {
    return [];
  }
}

/**
 * The program and the arguments of a process; none of one that is gone.
 * @param {number} pid
 * @returns {readonly string[]}
 */
export function commandOf(pid) {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0');
  } catch {
    return [];
  }
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
