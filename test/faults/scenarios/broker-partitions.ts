import { whyNoCables } from '../broker-cables.ts';
import { BROKER_NAMES, type BrokerName, type Separation } from '../broker-network.ts';
import type { Scenario, ScenarioContext } from '../scenario.ts';
import { aBroker, onThreeBrokers, staysUp, wholeAgain } from './broker-steps.ts';

/** Longer than the session of a broker (9 s), so that the others elect leaders meanwhile; the last one longer than anything waits. Seconds. */
const LASTS = [12, 16, 20, 45] as const;

/** All that passes between brokers passes through this process, which makes the load too. */
const SEPARABLE = { brokersJoinedBy: 'proxies', entriesPerSecond: 1000 } as const;

/** Separates brokers, heals the network, and waits until all is well, again and again. */
async function separateAgain(context: ScenarioContext, what: string, separate: (turn: number) => Promise<string>): Promise<void> {
  const { cluster, random, counters, seconds, wait, log } = context;
  const lengths = LASTS.filter((length) => length < seconds / 3);
  for (let turn = 0; await wholeAgain(context); turn++) {
    await wait(random.below(1500));
    const length = lengths.length === 0 ? LASTS[0] : random.pick(lengths);
    log(`${await separate(turn)}, for ${String(length)} s`);
    counters.add(what);
    await new Promise((resolve) => setTimeout(resolve, length * 1000));
    await cluster.network.heal();
  }
}

function isolation(options: Pick<Scenario, 'name' | 'about'> & { readonly withClients: boolean }): Scenario {
  const { withClients, ...rest } = options;
  const links = ['api-kafka', 'sink-kafka'] as const;
  return onThreeBrokers({ ...rest, ...SEPARABLE, links, sampleSeconds: 60, check: staysUp }, (context) =>
    separateAgain(context, withClients ? 'isolations of a broker' : 'isolations of a broker that clients reach', async (turn) => {
      const name = await aBroker(context);
      const how: Separation = turn % 2 === 0 ? 'silent' : 'refused';
      await context.cluster.network.isolate(name, how, withClients);
      return `${name} is isolated, ${how}`;
    }),
  );
}

export const isolateABroker = isolation({
  name: 'isolate-a-broker',
  about: 'One of three brokers, mostly one that leads a partition, is cut off from the others and from its clients.',
  withClients: true,
});

/** The minority takes what clients send, believes that it leads, and must not acknowledge what the others will not have. */
export const isolateAMinority = isolation({
  name: 'isolate-a-minority',
  about: 'One of three brokers, mostly one that leads a partition, is cut off from the others, while clients reach it as before.',
  withClients: false,
});

/** As machines have it: no process of ours is between. */
export const unplugAMinority = onThreeBrokers(
  {
    name: 'unplug-a-minority',
    about:
      'Three brokers in network namespaces of their own; of one, mostly one that leads a partition, the cable to the others is pulled, while clients reach it as before.',
    alone: true,
    brokersJoinedBy: 'cables',
    entriesPerSecond: 1000,
    sampleSeconds: 60,
    cannotRun: whyNoCables,
    check: staysUp,
  },
  (context) =>
    separateAgain(context, 'pulled cables of a broker', async () => {
      const name = await aBroker(context);
      await context.cluster.network.isolate(name, 'silent', false);
      return `${name} is unplugged`;
    }),
);

export const oneWayLoss = onThreeBrokers(
  {
    name: 'one-way-loss',
    about: 'What one of three brokers sends to another, or to both others, vanishes; what they send arrives.',
    ...SEPARABLE,
    sampleSeconds: 60,
    check: staysUp,
  },
  (context) =>
    separateAgain(context, 'losses one way between brokers', async (turn) => {
      const one = await aBroker(context);
      const others = BROKER_NAMES.filter((name) => name !== one);
      const deaf: readonly BrokerName[] = turn % 3 === 2 ? others : [context.random.pick(others)];
      for (const other of deaf) context.cluster.network.loseOneWay(one, other);
      return `what ${one} sends to ${deaf.join(' and ')} is lost`;
    }),
);
