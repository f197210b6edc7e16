import type { RunOptions } from './run-scenarios.ts';
import type { Scenario } from './scenario.ts';
import { scenarios } from './scenarios/index.ts';

export type Sample = Pick<RunOptions, 'scenarios' | 'secondsOf' | 'overlapping' | 'once' | 'entriesPerSecond' | 'onlyVerdict'>;

/** How long each of those goes on that share a cluster. */
const SECONDS = 4;

/** Of those with two sets, each of which needs minutes of its own: what `npm run test:all` takes. */
export const OF_TWO_SETS = 'cluster-kill-a-clickhouse';

/** What `npm test` takes: each kind of fault against each kind of process. The others are left to `npm run test:all`. */
export const OFTEN: readonly string[] = [
  'kill-api',
  'kill-sink',
  'kill-host',
  'kill-clickhouse',
  'kill-kafka',
  'kill-sink-at-points',
  'live-tails',
  'pause-sink',
  'dropped-produce-answers',
  'dropped-insert-answers',
  'truncated-inserts',
  'held-inserts',
  'cut-requests',
  'kill-a-broker',
  'isolate-a-broker',
];

/** It has a cluster to itself. */
const isAlone = ({ alone, shards }: Scenario): boolean => alone === true || shards !== undefined;

/** A little of every scenario but for most of those with two sets, or of those that `npm test` takes. */
export function samples(isWhole: boolean): {
  /** Those with one broker: on one cluster, one on the heels of the other. */
  readonly shared: Sample;
  /** The same with three brokers: each does what it does once. */
  readonly ofBrokers: Sample;
  /** Those that need a cluster of their own, one by one. */
  readonly alone: readonly Sample[];
} {
  const members = scenarios.members.filter(({ name, shards }) =>
    isWhole ? shards === undefined || name === OF_TWO_SETS : OFTEN.includes(name),
  );
  const together = (brokers: Scenario['brokers'], secondsOf: Sample['secondsOf']): Sample => ({
    scenarios: members.filter((one) => !isAlone(one) && one.brokers === brokers),
    secondsOf,
    overlapping: true,
    once: true,
    entriesPerSecond: 500,
    onlyVerdict: true,
  });
  return {
    shared: together(undefined, ({ sampleSeconds }) => Math.min(sampleSeconds, SECONDS)),
    ofBrokers: together(3, () => SECONDS),
    alone: members
      .filter(isAlone)
      .map((scenario) => ({ scenarios: [scenario], secondsOf: ({ sampleSeconds }) => sampleSeconds, onlyVerdict: true })),
  };
}
