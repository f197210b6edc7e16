import type { RunOptions } from './run-scenarios.ts';
import { scenarios } from './scenarios/index.ts';

export type Sample = Pick<RunOptions, 'scenarios' | 'secondsOf' | 'overlapping' | 'entriesPerSecond' | 'onlyVerdict'>;

/** How long each of those goes on that share a cluster. */
const SECONDS = 6;

const shared = { overlapping: true, entriesPerSecond: 1000, onlyVerdict: true } as const;

/** A little of every scenario with one broker on one cluster, one on the heels of the other, in some three minutes. */
export const SAMPLE: Sample = {
  ...shared,
  scenarios: scenarios.members.filter(({ alone, brokers }) => alone !== true && brokers === undefined),
  secondsOf: ({ sampleSeconds }) => Math.min(sampleSeconds, SECONDS),
};

/** The same with three brokers: each does what it does once. */
export const SAMPLE_OF_BROKERS: Sample = {
  ...shared,
  scenarios: scenarios.members.filter(({ alone, brokers }) => alone !== true && brokers === 3),
  secondsOf: () => SECONDS,
};

/** Those that need a cluster of their own, one by one. */
export const SAMPLES_ALONE: readonly Sample[] = scenarios.members
  .filter(({ alone }) => alone === true)
  .map((scenario) => ({ scenarios: [scenario], secondsOf: ({ sampleSeconds }) => sampleSeconds, onlyVerdict: true }));
