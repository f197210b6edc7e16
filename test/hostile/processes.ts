import { readFileSync } from 'node:fs';
import { childrenOf, commandOf } from '../../main/processes.ts';
import type { Instance } from '../e2e/instance.ts';

/** A process of the service: its name (a query worker is one of several), and its resident memory, MB. */
type Look = ReadonlyMap<number, { readonly name: string; readonly mb: number }>;

/** What became of the processes of the service while they were watched. */
export type ProcessRecord = {
  /** By how much each grew at most, MB; of several query workers the one that grew most. */
  readonly growthMb: Readonly<Record<string, number>>;
  /** Roles and engines that were started again. */
  readonly restarted: readonly string[];
  /** Query workers that were ended with a query. */
  readonly workersLost: number;
  /** Processors and mergers that have halted: the names of their metrics. */
  readonly halted: readonly string[];
};

const WORKER = 'query worker';
const EVERY_MS = 100;

function residentMb(pid: number): number {
  try {
    return Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${String(pid)}/status`, 'latin1'))?.[1] ?? 0) / 1024;
  } catch {
    return 0;
  }
}

function look(instance: Instance): Look {
  const roles = [...instance.processes()].map(([role, { pid }]) => [pid, role] as const);
  const workers = roles
    .filter(([, role]) => role.split(',').includes('app'))
    .flatMap(([pid]) => childrenOf(pid))
    .filter((pid) => commandOf(pid).some((part) => /query-worker\.[jt]s$/.test(part)))
    .map((pid) => [pid, WORKER] as const);
  const all = [...roles, ...workers, [instance.supervisor.pid ?? 0, 'supervisor'] as const];
  return new Map(all.map(([pid, name]) => [pid, { name, mb: residentMb(pid) }]));
}

/** The values of a metric, of all processes, by its name with labels. */
async function metric(instance: Instance, name: string): Promise<(readonly [string, number])[]> {
  const { body } = await instance.call('GET', `${instance.admin}/metrics`);
  return String(body)
    .split('\n')
    .filter((line) => line.startsWith(`${name}{`))
    .map((line) => [line.slice(0, line.lastIndexOf(' ')), Number(line.slice(line.lastIndexOf(' ') + 1))] as const);
}

/** How many query workers were ended with a query so far. */
const workersLost = async (instance: Instance): Promise<number> =>
  (await metric(instance, 'logweir_query_workers_lost_total')).reduce((sum, [, lost]) => sum + lost, 0);

/** The processors that have halted. */
const halted = async (instance: Instance): Promise<string[]> =>
  (await metric(instance, 'logweir_processor_halted')).flatMap(([name, partitions]) => (partitions > 0 ? [name] : []));

/** Watches the processes of an instance from now on. */
export async function watchProcesses(instance: Instance): Promise<{ stop(): Promise<ProcessRecord> }> {
  const [first, lostBefore] = [look(instance), await workersLost(instance)];
  // a worker that comes later is compared with the smallest of those that were there
  const smallest = Math.min(...[...first.values()].filter(({ name }) => name === WORKER).map(({ mb }) => mb));
  const growth = new Map<string, number>();
  const restarts = new Map([...instance.processes()].map(([role, one]) => [role, one]));
  const note = (): void => {
    for (const [pid, { name, mb }] of look(instance)) {
      const before = first.get(pid)?.mb ?? (name === WORKER ? smallest : 0);
      growth.set(name, Math.max(growth.get(name) ?? 0, mb - before));
    }
  };
  const timer = setInterval(note, EVERY_MS);
  return {
    async stop(): Promise<ProcessRecord> {
      clearInterval(timer);
      note();
      const restarted = [...instance.processes()]
        .filter(([role, { pid, restarts: times }]) => restarts.get(role)?.pid !== pid || restarts.get(role)?.restarts !== times)
        .map(([role]) => role);
      const growthMb = Object.fromEntries([...growth].map(([name, mb]) => [name, Math.round(mb)]));
      return { growthMb, restarted, workersLost: (await workersLost(instance)) - lostBefore, halted: await halted(instance) };
    },
  };
}

/** CPU time that the processes of an instance have used so far, seconds. */
export function cpuSeconds(instance: Instance): number {
  let ticks = 0;
  for (const pid of look(instance).keys())
    try {
      const stat = readFileSync(`/proc/${String(pid)}/stat`, 'latin1');
      const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
      ticks += Number(fields[11]) + Number(fields[12]);
    } catch {
      // it has ended meanwhile
    }
  return ticks / TICKS_PER_SECOND;
}

const TICKS_PER_SECOND = 100;
