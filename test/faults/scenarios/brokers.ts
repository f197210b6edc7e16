import { BROKER_NAMES } from '../broker-network.ts';
import type { ScenarioContext } from '../scenario.ts';
import { aBroker, onThreeBrokers, refusesInTime, staysUp, wholeAgain } from './broker-steps.ts';
import { bounded } from './measured.ts';
import { watchAnswers } from './refusals.ts';
import { within } from './victims.ts';

const PAUSES = [1, 12, 45] as const;
const RESUME_MS = 120_000;

export const killABroker = onThreeBrokers(
  {
    name: 'kill-a-broker',
    about: 'SIGKILL of one of three brokers, mostly one that leads a partition; the next when all copies are in sync again.',
    sampleSeconds: 30,
    check: staysUp,
  },
  async (context) => {
    const { cluster, random, counters, wait, log } = context;
    while (await wholeAgain(context)) {
      const name = await aBroker(context);
      await wait(random.below(3000));
      await cluster.process(name).kill();
      counters.add('kills of a broker of three');
      log(`killed ${name}`);
    }
  },
);

/** The other two elect a leader while it stands still, and it goes on as if it were the leader yet. */
export const pauseABroker = onThreeBrokers(
  {
    name: 'pause-a-broker',
    about: 'SIGSTOP of one of three brokers, mostly one that leads a partition, for 1 s, 12 s and 45 s in turn.',
    sampleSeconds: 40,
    check: staysUp,
  },
  async (context) => {
    const { cluster, counters, seconds, log } = context;
    const lengths = PAUSES.filter((length) => length === 1 || length < seconds / 2);
    for (let turn = 0; await wholeAgain(context); turn++) {
      const name = await aBroker(context);
      const length = lengths[turn % lengths.length] ?? 1;
      log(`stopping ${name} for ${String(length)} s`);
      counters.add(`pauses of a broker of three, ${String(length)} s`);
      cluster.process(name).pause();
      await new Promise((resolve) => setTimeout(resolve, length * 1000));
      cluster.process(name).resume();
    }
  },
);

export const rollBrokers = onThreeBrokers(
  {
    name: 'roll-brokers',
    about: 'SIGTERM of each of three brokers in turn, the next when all copies are in sync again.',
    sampleSeconds: 60,
    check: staysUp,
  },
  async (context) => {
    const { cluster, counters, log } = context;
    for (let turn = 0; await wholeAgain(context); turn++) {
      const name = BROKER_NAMES[turn % BROKER_NAMES.length] ?? 'kafka-1';
      const began = Date.now();
      await cluster.process(name).kill('SIGTERM');
      counters.add('restarts of a broker of three');
      log(`${name} ended after ${String(Date.now() - began)} ms`);
    }
  },
);

const ACKS_ALONE = 'one broker of three: acknowledgements while it was alone';
const SLOWEST = 'one broker of three: the slowest refusal, ms';
const RESUMED = 'one broker of three: from the time the others are up to the first acknowledgement, ms';
/** What was in the log twice when the second broker died may be acknowledged yet. */
const ON_THE_WAY_MS = 1000;

/** One is no quorum, neither of controllers nor of copies: nothing can be acknowledged. */
export const killTwoBrokers = onThreeBrokers(
  {
    name: 'kill-two-brokers',
    about: 'SIGKILL of two of three brokers, which stay away for 20 s: one alone must acknowledge nothing.',
    sampleSeconds: 50,
    check: (totals, measures) => [
      ...refusesInTime(totals, measures),
      ...bounded(measures, ACKS_ALONE, { most: 0 }),
      ...bounded(measures, RESUMED, { most: 60_000 }),
    ],
  },
  async (context) => {
    const [alone, slowest, resumed] = [[0], [0], [0]];
    while (await wholeAgain(context)) {
      const found = await oneLeftAlone(context);
      alone.push(found.acks);
      slowest.push(found.slowestMs);
      resumed.push(found.resumedMs);
    }
    context.measures.set(
      ACKS_ALONE,
      alone.reduce((sum, count) => sum + count, 0),
    );
    context.measures.set(SLOWEST, Math.max(...slowest));
    context.measures.set(RESUMED, Math.max(...resumed));
  },
);

type Alone = { readonly acks: number; readonly slowestMs: number; readonly resumedMs: number };

async function oneLeftAlone({ cluster, load, random, counters, log }: ScenarioContext): Promise<Alone> {
  const left = random.pick(BROKER_NAMES);
  const victims = BROKER_NAMES.filter((name) => name !== left).map((name) => cluster.process(name));
  const watched = watchAnswers(load);
  for (const victim of victims) victim.hold();
  await Promise.all(victims.map((victim) => victim.kill()));
  const began = Date.now();
  counters.add('kills of a broker of three', victims.length);
  log(`only ${left} is left`);
  await new Promise((resolve) => setTimeout(resolve, 20_000));
  const acks = watched.acksBetween(began + ON_THE_WAY_MS, Date.now());
  const back = Date.now();
  await Promise.all(victims.map((victim) => victim.start()));
  const up = Date.now();
  await within(RESUME_MS, () => watched.firstAckAfter(back) !== undefined);
  watched.end();
  // two of three are enough: it may come before the last one is up
  const resumedMs = Math.max(0, (watched.firstAckAfter(back) ?? up + RESUME_MS) - up);
  log(`${String(acks)} acknowledgements meanwhile; the first ${String(resumedMs)} ms after the others were up`);
  return { acks, slowestMs: watched.refusals.reduce((slowest, { tookMs }) => Math.max(slowest, tookMs), 0), resumedMs };
}
