import { readInstance } from './instance.mjs';
import { readDataDir } from './settings.mjs';

/**
 * `logweir ps [--json]`: the processes of the instance that runs on the data directory.
 * @param {readonly string[]} argv what stands behind `ps`
 * @returns {number} the exit code
 */
export function ps(argv) {
  const dataDir = readDataDir(process.env);
  const processes = readInstance(dataDir);
  if (processes === null) {
    process.stderr.write(`logweir: no instance runs on ${dataDir}\n`);
    return 1;
  }
  process.stdout.write(argv.includes('--json') ? `${JSON.stringify(processes)}\n` : table(processes));
  return 0;
}

/** @param {readonly import('./instance.mjs').InstanceProcess[]} processes */
function table(processes) {
  const line = (/** @type {string} */ role, /** @type {unknown} */ pid, /** @type {unknown} */ restarts) =>
    `${role.padEnd(12)}${String(pid).padStart(8)}${String(restarts).padStart(10)}\n`;
  return line('ROLE', 'PID', 'RESTARTS') + processes.map(({ role, pid, restarts }) => line(role, pid, restarts)).join('');
}
