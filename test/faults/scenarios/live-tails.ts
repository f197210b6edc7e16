import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { API_NAMES, SINK_NAMES, type Cluster } from '../cluster.ts';
import type { Scenario, ScenarioContext } from '../scenario.ts';
import { TailFollower } from '../tail-follower.ts';
import { tailFaults, type Chain, type Row } from '../tail-log.ts';
import type { Violation } from '../verdict.ts';
import { allUp, someUp, within } from './victims.ts';

/** Between two deeds. */
const BETWEEN_MS = [500, 4000] as const;
/** Kafka stands still for so long: shorter and longer than a fetch may take. Live workers: longer than they may be silent, too. Seconds. */
const [KAFKA_PAUSES, WORKER_PAUSES] = [
  [1, 12, 45],
  [1, 5, 20],
] as const;
/** A tail is back by then, on a machine however busy. */
const BACK_MS = 300_000;

type Followed = { readonly name: string; readonly isBack: boolean; readonly chains: readonly Chain[] };

/** What is done, again and again; gives how it is called, null where the time was over first. */
type Deed = (context: ScenarioContext, followers: readonly TailFollower[], turn: number) => Promise<string | null>;

const DEEDS: readonly Deed[] = [
  // whose tails go on in another one, over the same connections
  async (context) => {
    const pid = await aWorker(context);
    if (pid === 0) return null;
    signal(pid, 'SIGKILL');
    return 'kills of live worker';
  },
  async (context) => {
    const names = await allUp(context, API_NAMES);
    if (names.length === 0) return null;
    await context.cluster.process(context.random.pick(names)).kill();
    return 'kills of api';
  },
  ({ random }, followers) => {
    random.pick(followers).cut();
    return Promise.resolve('cuts of tails');
  },
  // its partitions go to the other one, and what tails are given first is stored late
  async (context) => {
    const [name] = await someUp(context, SINK_NAMES);
    if (name === undefined) return null;
    await context.cluster.process(name).kill();
    return 'kills of sink';
  },
  async (context, _followers, turn) => {
    const [name] = await someUp(context, ['kafka'] as const);
    if (name === undefined) return null;
    const seconds = lengthOf(KAFKA_PAUSES, context, turn);
    context.cluster.process(name).pause();
    await new Promise((resolve) => setTimeout(resolve, seconds * 1000));
    context.cluster.process(name).resume();
    return `pauses of kafka, ${String(seconds)} s`;
  },
  async (context, _followers, turn) => {
    const pid = await aWorker(context);
    if (pid === 0) return null;
    const seconds = lengthOf(WORKER_PAUSES, context, turn);
    signal(pid, 'SIGSTOP');
    await new Promise((resolve) => setTimeout(resolve, seconds * 1000));
    signal(pid, 'SIGCONT');
    return `pauses of live worker, ${String(seconds)} s`;
  },
];

/** Of these lengths, in turn, those that a short run has time for. */
function lengthOf(lengths: readonly number[], { seconds }: ScenarioContext, turn: number): number {
  const fitting = lengths.filter((length) => length === 1 || length < seconds / 8);
  return fitting[Math.floor(turn / DEEDS.length) % fitting.length] ?? 1;
}

/** The live worker of an API process, which is its child; waits for one. 0: the time was over first. */
async function aWorker({ cluster, random, over }: ScenarioContext): Promise<number> {
  const found = (): number[] => API_NAMES.flatMap((name) => workersOf(cluster.process(name).pid));
  await within(BACK_MS, () => over() || found().length > 0);
  const pids = found();
  return pids.length === 0 ? 0 : random.pick(pids);
}

function workersOf(pid: number): number[] {
  try {
    const children = readFileSync(`/proc/${String(pid)}/task/${String(pid)}/children`, 'latin1').trim().split(' ').filter(Boolean).map(Number); // prettier-ignore
    return children.filter(isWorker);
  } catch {
    // it has ended
    return [];
  }
}

const isWorker = (pid: number): boolean => readFileSync(`/proc/${String(pid)}/cmdline`, 'latin1').includes('live-worker');

function signal(pid: number, what: NodeJS.Signals): void {
  try {
    if (isWorker(pid)) process.kill(pid, what);
  } catch {
    // it has ended
  }
}

const fileOf = ({ dataDir }: Pick<Cluster, 'dataDir'>): string => path.join(dataDir, 'tails.json');

/** Tails that go on where they were, whatever is killed, stands still or leaves: of what they were sure of nothing is missing, and nothing is there twice. */
export const liveTails: Scenario = {
  name: 'live-tails',
  about:
    'Tails go on at their positions while live workers, API processes and sinks are killed, Kafka and live workers stand still, and clients leave.',
  sampleSeconds: 6,
  entriesPerSecond: 1000,
  async run(context) {
    const { cluster, random, counters, measures, over, wait, log } = context;
    const followers = [0, 1, 2, 3].map((turn) => new TailFollower(cluster, turn < 2 ? 'socket' : 'events', turn));
    await within(BACK_MS, () => over() || followers.every(({ isLive }) => isLive));
    for (let turn = 0; !over(); turn++) {
      const [least, most] = BETWEEN_MS;
      await wait(turn === 0 ? 0 : least + random.below(most - least));
      if (turn > 0 && over()) break;
      const what = await DEEDS[turn % DEEDS.length]?.(context, followers, turn);
      if (what == null) break;
      counters.add(what);
      log(what);
    }
    await cluster.untilReady();
    const followed: Followed[] = [];
    for (const follower of followers) followed.push(await ending(follower));
    writeFileSync(fileOf(cluster), JSON.stringify(followed), { mode: 0o600 });
    measures.set('entries that tails were sure of', sum(followed.flatMap(({ chains }) => chains.map(({ uids }) => uids.length))));
    measures.set('times that tails went on', sum(followers.map(({ resumed }) => resumed)));
  },
  async recount(cluster) {
    const followed = JSON.parse(readFileSync(fileOf(cluster), 'utf8')) as readonly Followed[];
    const rows = await firstEntries(cluster);
    return followed.flatMap(({ name, isBack, chains }) => [
      ...(isBack ? [] : [{ check: `a tail did not come back (${name})`, count: 1, examples: [] }]),
      ...(chains.some(({ uids }) => uids.length > 0) ? [] : [{ check: `a tail has followed nothing (${name})`, count: 1, examples: [] }]),
      ...chains.flatMap((chain): readonly Violation[] => tailFaults(name, chain, rows)),
    ]);
  },
};

const sum = (numbers: readonly number[]): number => numbers.reduce((all, one) => all + one, 0);

/** Lets a tail come back to what arrives, and ends it there. */
async function ending(follower: TailFollower): Promise<Followed> {
  const before = follower.position;
  const isBack = await within(BACK_MS, () => follower.isLive && follower.size > 0 && follower.position !== before);
  return { name: follower.name, isBack, chains: await follower.stop() };
}

/** Where the first entry of each request lies in the log, as the table says. */
async function firstEntries({ clickhouse: { url, user, password, database } }: Cluster): Promise<Row[]> {
  const uid = String.raw`extract(_msg, 'uid=([0-9]+-[0-9]+\\.[0-9]+\\.0)(?:$|[^0-9])')`;
  const body = `SELECT ${uid} AS uid, kafka_part, kafka_off, kafka_idx FROM logs WHERE tenant_id = 1 AND uid != '' FORMAT JSONCompactEachRow`;
  const headers = { 'X-ClickHouse-User': user, 'X-ClickHouse-Key': password, 'X-ClickHouse-Database': database };
  const response = await fetch(url, { method: 'POST', headers, body });
  const text = await response.text();
  if (!response.ok) throw new Error(text);
  return text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => {
      const [found, partition, offset, index] = JSON.parse(line) as [string, number, number | string, number];
      return { uid: found, partition, offset: Number(offset), index };
    });
}
