import { API_NAMES, HOST_NAMES, PROCESS_NAMES, SINK_NAMES, type ProcessName } from '../cluster.ts';
import type { Scenario, ScenarioContext } from '../scenario.ts';
import { allChecks, delivered, slowRefusals } from './checks.ts';
import { allUp, kindOf, someUp } from './victims.ts';

type KillPlan = {
  /** Each time: who dies, one right after the other. */
  readonly victims: (context: ScenarioContext) => Promise<readonly ProcessName[]>;
  /** Milliseconds from the time that a victim could be found to the kill. */
  readonly after: readonly [number, number];
  /** At most so many milliseconds between the victims of one time. */
  readonly within?: number;
};

/** Kills, and kills again, for as long as the scenario goes on; who died is started again at once, as the supervisor does. */
async function killAndKill(context: ScenarioContext, { victims, after: [least, most], within = 0 }: KillPlan): Promise<void> {
  const { cluster, random, counters, seconds, over, wait, log } = context;
  while (!over()) {
    const names = await victims(context);
    if (names.length === 0) return;
    // a short run has one at least
    const longest = Math.min(most, Math.max(least, seconds * 500));
    await wait(least + random.below(longest - least + 1));
    if (over()) return;
    const gone: Promise<void>[] = [];
    for (const name of names) {
      if (gone.length > 0 && within > 0) await wait(random.below(within));
      gone.push(cluster.process(name).kill());
      counters.add(`kills of ${kindOf(name)}`);
    }
    log(`killed ${names.join(', ')}`);
    await Promise.all(gone);
  }
}

type Choice = KillPlan['victims'];

const all =
  (...names: readonly ProcessName[]): Choice =>
  (context) =>
    allUp(context, names);

/** One of two APIs while both work, so that there always is another one. */
const anApi: Choice = async (context) => {
  const names = await allUp(context, API_NAMES);
  return names.length === 0 ? [] : [context.random.pick(names)];
};

/** A sink that works; the other one may still be starting. */
const aSink: Choice = (context) => someUp(context, SINK_NAMES);

/** One of the first and the engine, in any order. */
const withEngine =
  (first: Choice, engine: 'kafka' | 'clickhouse'): Choice =>
  async (context) => {
    const names = [...(await allUp(context, [engine])), ...(await first(context))];
    return context.random.below(2) === 0 ? names : names.toReversed();
  };

const kills = (name: string, about: string, sampleSeconds: number, plan: KillPlan): Scenario => ({
  name,
  about,
  sampleSeconds,
  run: (context) => killAndKill(context, plan),
  // while Kafka is away, nobody can get anything through
  check: /kafka|all/.test(name) ? slowRefusals : allChecks(slowRefusals, delivered),
});

export const killApi = kills('kill-api', 'SIGKILL of one of two API processes at a random moment.', 4, {
  victims: anApi,
  after: [100, 3000],
});

export const killSink = kills('kill-sink', 'SIGKILL of one of two sinks at a random moment.', 4, { victims: aSink, after: [100, 3000] });

/** A host of processors that works; the other one may still be starting. */
const aHost: Choice = (context) => someUp(context, HOST_NAMES);

export const killHost = kills('kill-host', 'SIGKILL of one of two hosts of processors at a random moment.', 4, {
  victims: aHost,
  after: [100, 3000],
});

export const killClickHouse = kills('kill-clickhouse', 'SIGKILL of ClickHouse at a random moment: during inserts, and during merges.', 4, {
  victims: all('clickhouse'),
  after: [500, 6000],
});

export const killKafka = kills('kill-kafka', 'SIGKILL of the only broker at a random moment.', 6, {
  victims: all('kafka'),
  after: [1000, 8000],
});

export const killAll = kills('kill-all', 'SIGKILL of every process at once: a power cut, but for what the kernel holds.', 6, {
  victims: all(...PROCESS_NAMES),
  after: [1000, 8000],
});

export const killSinkAndClickHouse = kills('kill-sink-and-clickhouse', 'SIGKILL of a sink and of ClickHouse within a second.', 4, {
  victims: withEngine(aSink, 'clickhouse'),
  after: [500, 5000],
  within: 1000,
});

export const killApiAndKafka = kills('kill-api-and-kafka', 'SIGKILL of an API process and of Kafka within a second.', 6, {
  victims: withEngine(anApi, 'kafka'),
  after: [1000, 8000],
  within: 1000,
});

export const killSinkAndKafka = kills('kill-sink-and-kafka', 'SIGKILL of a sink and of Kafka within a second.', 6, {
  victims: withEngine(aSink, 'kafka'),
  after: [1000, 8000],
  within: 1000,
});
