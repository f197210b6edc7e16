import { readFileSync } from 'node:fs';
import { HOST_NAMES, SINK_NAMES, type Cluster, type RoleName } from '../cluster.ts';
import type { FaultPoint } from '../../../pipeline/core/fault-points.ts';
import { armMessage, DISARM_MESSAGE, HOST_POINTS, SINK_POINTS, type FaultSignal } from '../fault-points.ts';
import type { Scenario, ScenarioContext } from '../scenario.ts';
import { someUp, within } from './victims.ts';

/** How long a sink may take to come to a point; longer where its partitions wait for an owner. */
const REACH_MS = 30_000;
/** Longer than the session of a consumer: the other sink has the partitions by then, and has stored the range. */
const STALL_MS = [9000, 14_000] as const;

/**
 * Arms a point in one of these that works and waits until it has struck; its name, or null where nobody came there. A patient one
 * waits beyond the time of the scenario: a short run strikes at least once, also where they are just coming back.
 */
async function strike(
  context: ScenarioContext,
  names: readonly RoleName[],
  point: FaultPoint,
  signal: FaultSignal,
  isPatient = false,
): Promise<RoleName | null> {
  const { cluster, counters, log } = context;
  const [name] = await someUp(isPatient ? { ...context, over: () => false } : context, names);
  if (name === undefined) return null;
  const { pid } = cluster.process(name);
  cluster.send(name, armMessage(point, signal));
  const hasStruck = (): boolean => cluster.process(name).pid !== pid || isStopped(pid);
  if (!(await within(REACH_MS, () => hasStruck() || (!isPatient && context.over()))) || !hasStruck()) {
    cluster.send(name, DISARM_MESSAGE);
    return null;
  }
  log(`${name} at ${point}: ${signal}`);
  counters.add(`${signal} ${point}`);
  return name;
}

/** Whether a process is stopped, as the kernel says. */
function isStopped(pid: number): boolean {
  try {
    return /^State:\s+T/m.test(readFileSync(`/proc/${String(pid)}/status`, 'utf8'));
  } catch {
    return false;
  }
}

/** Kills one of these at these points, in turn. */
async function killAtPoints(context: ScenarioContext, names: readonly RoleName[], points: readonly FaultPoint[]): Promise<void> {
  let struck = 0;
  for (let turn = 0; !context.over() || (struck === 0 && turn < 5); turn++) {
    await context.wait(context.random.below(1500));
    const point = points[turn % points.length] as FaultPoint;
    if ((await strike(context, names, point, 'SIGKILL', struck === 0)) !== null) struck += 1;
  }
}

export const killSinkAtPoints: Scenario = {
  name: 'kill-sink-at-points',
  about: 'SIGKILL of a sink after its intent, in the middle of its insert, after the insert, and after the commit, in turn.',
  faultPoints: true,
  sampleSeconds: 8,
  run: (context) => killAtPoints(context, SINK_NAMES, SINK_POINTS),
};

export const killHostAtPoints: Scenario = {
  name: 'kill-host-at-points',
  about:
    'SIGKILL of a host of processors before and after it writes what they have found, and after a snapshot, in turn; segments and snapshots are short.',
  faultPoints: true,
  sampleSeconds: 8,
  run: (context) => killAtPoints(context, HOST_NAMES, HOST_POINTS),
};

export const stallSinkAtPoints: Scenario = {
  name: 'stall-sink-at-points',
  about: 'SIGSTOP of a sink after its intent or in its insert, until the other sink has its partitions; then it goes on where it was.',
  faultPoints: true,
  sampleSeconds: 12,
  async run(context) {
    const { cluster, random, log } = context;
    for (let turn = 0; !context.over(); turn++) {
      const name = await strike(context, SINK_NAMES, turn % 2 === 0 ? 'after-intent' : 'mid-insert', 'SIGSTOP');
      if (name === null) continue;
      const kept = cluster.process(name);
      kept.pause(); // it has stopped itself: the harness has to know
      const [least, most] = STALL_MS;
      await new Promise((resolve) => setTimeout(resolve, least + random.below(most - least)));
      kept.resume();
      log(`${name} goes on`);
    }
  },
};

/** As after an outage during which 10,000 other inserts were made: only the look at the table can tell what is stored. */
export const forgottenTokens: Scenario = {
  name: 'forgotten-tokens',
  about: 'SIGKILL of a sink between its insert and its commit, while ClickHouse remembers no token of an earlier insert.',
  faultPoints: true,
  // a sink that was stalled in an earlier scenario and inserts now would be stored twice, and rightly so
  alone: true,
  sampleSeconds: 6,
  async run(context) {
    await setTokenWindow(context.cluster, 1);
    while (!context.over()) {
      await context.wait(500 + context.random.below(1500));
      await strike(context, SINK_NAMES, 'after-insert', 'SIGKILL');
    }
    await context.cluster.untilReady();
    await setTokenWindow(context.cluster, 10_000);
  },
};

async function setTokenWindow({ clickhouse: { url, user, password, database } }: Cluster, size: number): Promise<void> {
  const body = `ALTER TABLE ${database}.logs MODIFY SETTING non_replicated_deduplication_window = ${String(size)}`;
  const response = await fetch(url, { method: 'POST', body, headers: { 'X-ClickHouse-User': user, 'X-ClickHouse-Key': password } });
  if (!response.ok) throw new Error(await response.text());
}
