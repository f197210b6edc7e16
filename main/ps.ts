import { readInstance, type InstanceProcess } from './instance.ts';
import { childrenOf, commandOf } from './processes.ts';
import { readDataDir } from './settings.ts';

/** A line: a process, or a query worker (`parent`: the process that it works for, which counts its exchanges in /metrics). */
type ShownProcess = { readonly role: string; readonly pid: number; readonly restarts: number | null; readonly parent?: number };

const HELP = `Usage: logweir ps [--json]
Lists the processes of the instance that runs on LOGWEIR_DATA_DIR: role, pid, and how often each was started again.

Exit codes: 0 done, 1 no instance runs there, 2 wrong command line.
`;

/** `logweir ps [--json]`: the processes of the instance that runs on the data directory. Takes what stands behind `ps`, gives the exit code. */
export function ps(argv: readonly string[]): number {
  if (argv.includes('--help') || argv.includes('-h')) {
    process.stdout.write(HELP);
    return 0;
  }
  const unknown = argv.find((word) => word !== '--json');
  if (unknown !== undefined) {
    process.stderr.write(`Unknown argument ${JSON.stringify(unknown)}.\n${HELP}`);
    return 2;
  }
  const dataDir = readDataDir(process.env);
  const running = readInstance(dataDir);
  const processes = running?.flatMap((one): readonly ShownProcess[] => [one, ...workersOf(one)]);
  if (processes === undefined) {
    process.stderr.write(`logweir: no instance runs on ${dataDir}\n`);
    return 1;
  }
  process.stdout.write(argv.includes('--json') ? `${JSON.stringify(processes)}\n` : table(processes));
  return 0;
}

/**
 * The query workers of a process. They are its children and come and go without the supervisor, so they are looked for where the system lists them;
 * none where there is no /proc.
 */
function workersOf({ role, pid }: InstanceProcess): readonly ShownProcess[] {
  if (!role.split(',').includes('app')) return [];
  return childrenOf(pid)
    .filter((child) => commandOf(child).some((part) => /[/\\]query-worker\.[jt]s$/.test(part)))
    .map((child) => ({ role: 'query worker', pid: child, restarts: null, parent: pid }));
}

function table(processes: readonly ShownProcess[]): string {
  const line = (role: string, pid: string | number, restarts: string | number): string =>
    `${role.padEnd(13)}${String(pid).padStart(8)}${String(restarts).padStart(10)}\n`;
  return line('ROLE', 'PID', 'RESTARTS') + processes.map(({ role, pid, restarts }) => line(role, pid, restarts ?? '-')).join('');
}
