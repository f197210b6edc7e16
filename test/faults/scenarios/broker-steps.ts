import { BROKER_NAMES, type BrokerName } from '../broker-network.ts';
import { isInSync, leadersOf, unsafeTopics, untilInSync } from '../kafka-state.ts';
import type { LoadTotals } from '../load.ts';
import type { Measures } from '../measures.ts';
import type { Scenario, ScenarioContext } from '../scenario.ts';
import type { Violation } from '../verdict.ts';
import { allChecks, delivered, slowRefusals } from './checks.ts';
import { bounded } from './measured.ts';

const LOGS_TOPIC = 'logs.v1';
const UNSAFE = 'three brokers: topics that allow an unclean election, or with too few copies';
const LONGEST_GAP = 'three brokers: longest time without an acknowledgement, s';
const LONGEST_IDLE = 'three brokers: longest time without new rows in the table, s';
const IN_SYNC = 'three brokers: from the end of the last fault until all copies are in sync, s';

type Check = (totals: LoadTotals, measures: Measures) => readonly Violation[];

/** What must hold of every scenario with three brokers: no unclean election can have been. */
const safeTopics: Check = (_totals, measures) => bounded(measures, UNSAFE, { most: 0 });

/** One broker of three is away at a time: clients get everything through. */
export const staysUp: Check = (totals, measures) => [...allChecks(slowRefusals, delivered)(totals), ...safeTopics(totals, measures)];

/** No quorum is left at times: refusals come in time. */
export const refusesInTime: Check = (totals, measures) => [...slowRefusals(totals), ...safeTopics(totals, measures)];

/** A scenario on a cluster of its own with three brokers, all in sync at its beginning; its end waits until they are so again. */
export function onThreeBrokers(
  options: Pick<
    Scenario,
    'name' | 'about' | 'alone' | 'sampleSeconds' | 'links' | 'brokersJoinedBy' | 'entriesPerSecond' | 'shards' | 'env' | 'cannotRun'
  > & {
    readonly check: Check;
  },
  run: (context: ScenarioContext) => Promise<void>,
): Scenario {
  return {
    ...options,
    brokers: 3,
    async run(context) {
      const { cluster, load, measures, stored, log } = context;
      await untilInSync(cluster);
      measures.set(UNSAFE, (await unsafeTopics(cluster)).length);
      const began = Date.now();
      try {
        await run(context);
      } finally {
        await cluster.network.heal();
      }
      const over = Date.now();
      await cluster.untilReady();
      await untilInSync(cluster);
      measures.set(IN_SYNC, (Date.now() - over) / 1000);
      const grown = stored.filter(({ rows }, index) => rows > (stored[index - 1]?.rows ?? 0));
      measures.set(LONGEST_GAP, longestGap(load.acks, began, over) / 1000);
      measures.set(LONGEST_IDLE, longestGap(grown, began, over) / 1000);
      log(`all copies are in sync again; ${JSON.stringify(measures)}`);
    },
  };
}

/** The longest time between two times in which none of these lies, milliseconds. */
function longestGap(events: readonly { readonly at: number }[], from: number, to: number): number {
  const times = [from, ...events.map(({ at }) => at).filter((at) => at > from && at < to), to];
  return times.reduce((longest, at, index) => Math.max(longest, at - (times[index - 1] ?? at)), 0);
}

/** Waits until all brokers run and all copies are in sync, so that each fault is one of one broker; false where the time is over first. */
export async function wholeAgain({ cluster, over }: ScenarioContext): Promise<boolean> {
  while (!over()) {
    const areUp = BROKER_NAMES.every((name) => cluster.process(name).isUp);
    if (areUp && (await isInSync(cluster).catch(() => false))) return true;
    await new Promise((resolve) => setTimeout(resolve, 200));
  }
  return false;
}

/** One of the brokers; mostly one that leads a partition of the log. */
export async function aBroker({ cluster, random }: ScenarioContext): Promise<BrokerName> {
  const leaders = await leadersOf(cluster, LOGS_TOPIC);
  const preferred = random.below(4) === 0 ? [] : BROKER_NAMES.filter((name) => leaders.includes(name));
  return random.pick(preferred.length > 0 ? preferred : BROKER_NAMES);
}
