import { readFileSync } from 'node:fs';

/** CPU seconds that a process has used since its start, user and system, in steps of 10 ms (`/proc/PID/stat`, proc(5)). */
export function cpuSeconds(pid: number): number {
  // the second field is the name, which may have spaces
  const fields = readFileSync(`/proc/${String(pid)}/stat`, 'utf8')
    .replace(/^.*\) /s, '')
    .split(' ');
  return (Number(fields[11]) + Number(fields[12])) / 100;
}
