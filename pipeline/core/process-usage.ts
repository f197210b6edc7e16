import { readFileSync } from 'node:fs';

/** Linux counts CPU time in hundredths of a second in all that it exports. */
const TICK_MS = 10;
const PAGE_BYTES = 4096;

/** CPU time of a process in milliseconds: proc(5), `stat`, utime and stime. Null where that cannot be known. */
export function cpuMsOf(pid: number | undefined): number | null {
  const stat = read(pid, 'stat');
  if (stat === null) return null;
  // the name before may have spaces and brackets in it
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return (Number(fields[11]) + Number(fields[12])) * TICK_MS;
}

/**
 * Memory of a process alone, in bytes: proc(5), `statm`, resident without shared pages. Those are of Node's own file, 55 MB of it in Node 26,
 * which is in memory once for all processes. 0 where that cannot be known.
 */
export function ownBytesOf(pid: number | undefined): number {
  const [, resident = '0', shared = '0'] = read(pid, 'statm')?.split(' ') ?? [];
  return (Number(resident) - Number(shared)) * PAGE_BYTES;
}

function read(pid: number | undefined, file: string): string | null {
  if (pid === undefined) return null;
  try {
    return readFileSync(`/proc/${String(pid)}/${file}`, 'latin1');
  } catch {
    return null;
  }
}
