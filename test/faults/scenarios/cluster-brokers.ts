import type { Scenario } from '../scenario.ts';
import { isolateAMinority, oneWayLoss } from './broker-partitions.ts';
import { killABroker } from './brokers.ts';

/** For what a machine does beside three brokers and three ClickHouses. */
export const ENTRIES_PER_SECOND = 150;

/** A scenario of three brokers on a cluster that has two sets, the second one of two shards. */
const onTwoSets = (scenario: Scenario): Scenario => ({
  ...scenario,
  name: `cluster-${scenario.name}`,
  about: `With two sets: ${scenario.about}`,
  shards: 2,
  entriesPerSecond: ENTRIES_PER_SECOND,
});

export const clusterKillABroker = onTwoSets(killABroker);
export const clusterIsolateAMinority = onTwoSets(isolateAMinority);
export const clusterOneWayLoss = onTwoSets(oneWayLoss);
