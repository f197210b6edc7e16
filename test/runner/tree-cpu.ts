import { readdirSync, readFileSync } from 'node:fs';
import { cpuMs } from '../cpu-time.ts';

/** Linux counts the CPU of processes in hundredths of a second, for programs. */
const TICK_MS = 10;

type Process = { readonly parent: number; readonly ms: number };

/**
 * Milliseconds of CPU that this process, all that it has started, and what those have started, have used: engines are most of what a test costs.
 * What has lost its parent is not found. Where there is no /proc: of this process alone.
 */
export function treeCpuMs(): number {
  const processes = new Map<number, Process>();
  for (const name of listOf('/proc')) {
    const found = /^\d+$/.test(name) ? read(name) : null;
    if (found !== null) processes.set(Number(name), found);
  }
  const own = processes.get(process.pid);
  if (own === undefined) return cpuMs();
  const isOurs = (pid: number): boolean => {
    for (let at = pid, steps = 0; at > 1 && steps < processes.size; at = processes.get(at)?.parent ?? 0, steps++)
      if (at === process.pid) return true;
    return false;
  };
  let sum = 0;
  for (const [pid, { ms }] of processes) if (isOurs(pid)) sum += ms;
  return sum;
}

function listOf(folder: string): readonly string[] {
  try {
    return readdirSync(folder);
  } catch {
    return []; // another system
  }
}

/** What proc(5) says of a process: its parent, and its own CPU with that of the children that it has waited for. */
function read(pid: string): Process | null {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, 'latin1');
    // the name before may have spaces and parentheses
    const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
    const ticks = fields.slice(11, 15).reduce((sum, field) => sum + Number(field), 0);
    return { parent: Number(fields[1]), ms: ticks * TICK_MS };
  } catch {
    return null; // it has ended meanwhile
  }
}
