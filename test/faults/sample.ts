import type { RunOptions } from './run-scenarios.ts';
import { scenarios } from './scenarios/index.ts';

/** Scenarios that need half a minute each to do anything are left to runs of their own; the others get a few seconds. */
const [LONGEST_SECONDS, SECONDS] = [12, 6];

/** A little of nearly every scenario on one cluster, one on the heels of the other, in some two minutes: what the end-to-end tests run. */
export const SAMPLE: Pick<RunOptions, 'scenarios' | 'secondsOf' | 'overlapping' | 'entriesPerSecond'> = {
  scenarios: scenarios.members.filter(
    ({ alone, brokers, sampleSeconds }) => alone !== true && brokers === undefined && sampleSeconds <= LONGEST_SECONDS,
  ),
  secondsOf: ({ sampleSeconds }) => Math.min(sampleSeconds, SECONDS),
  overlapping: true,
  entriesPerSecond: 1000,
};
