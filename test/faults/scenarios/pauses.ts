import { API_NAMES, SINK_NAMES, type ProcessName } from '../cluster.ts';
import type { Scenario, ScenarioContext } from '../scenario.ts';
import { allChecks, delivered, slowRefusals } from './checks.ts';
import { kindOf, someUp } from './victims.ts';

/** Shorter than any time-out; longer than the session of a consumer (6 s); longer than a request waits. Seconds. */
const PAUSES = [1, 12, 45] as const;
const BETWEEN_MS = [500, 3000] as const;

/** Stops a process with SIGSTOP, 1, 12 and 45 s in turn, and lets it go on as if nothing had been. */
async function pauseAndPause(context: ScenarioContext, names: readonly ProcessName[]): Promise<void> {
  const { cluster, random, counters, over, wait, seconds, log } = context;
  const lengths = PAUSES.filter((length) => length === 1 || length < seconds / 2);
  for (let turn = 0; !over(); turn++) {
    const [least, most] = BETWEEN_MS;
    await wait(least + random.below(Math.min(most, seconds * 500) - least));
    const [name] = await someUp(context, names);
    if (name === undefined) return;
    const length = lengths[turn % lengths.length] ?? 1;
    log(`stopping ${name} for ${String(length)} s`);
    counters.add(`pauses of ${kindOf(name)}, ${String(length)} s`);
    cluster.process(name).pause();
    await new Promise((resolve) => setTimeout(resolve, length * 1000));
    cluster.process(name).resume();
  }
}

const pauses = (names: readonly ProcessName[], kind: string, what: string): Scenario => ({
  name: `pause-${kind}`,
  about: `SIGSTOP of ${what} for 1 s, 12 s and 45 s in turn.`,
  sampleSeconds: 3,
  run: (context) => pauseAndPause(context, names),
});

export const pauseApi: Scenario = { ...pauses(API_NAMES, 'api', 'one of two API processes'), check: delivered };
export const pauseSink: Scenario = {
  ...pauses(SINK_NAMES, 'sink', 'one of two sinks, which loses its partitions meanwhile'),
  check: allChecks(slowRefusals, delivered),
};
export const pauseKafka: Scenario = { ...pauses(['kafka'], 'kafka', 'the only broker'), check: slowRefusals };
export const pauseClickHouse: Scenario = {
  ...pauses(['clickhouse'], 'clickhouse', 'ClickHouse'),
  check: allChecks(slowRefusals, delivered),
};
