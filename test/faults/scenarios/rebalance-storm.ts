import kafkajs from 'kafkajs';
import type { Scenario } from '../scenario.ts';
import { delivered } from './checks.ts';
import { untilOver } from './until-over.ts';

const GROUP = 'logweir-sink-logs';
const TOPIC = 'logs.v1';
const EVERY_MS = 5000;

/** A member that gets its share of the partitions and does nothing with them. */
async function joinIdle(brokers: string): Promise<{ leave(): Promise<void> }> {
  const kafka = new kafkajs.Kafka({ brokers: [brokers], clientId: 'idle-member', logLevel: kafkajs.logLevel.NOTHING });
  const consumer = kafka.consumer({ groupId: GROUP, sessionTimeout: 6000, rebalanceTimeout: 30_000, maxBytes: 10_000 });
  const joined = new Promise((resolve) => consumer.on(consumer.events.GROUP_JOIN, resolve));
  await consumer.connect();
  await consumer.subscribe({ topic: TOPIC, fromBeginning: true });
  await consumer.run({ autoCommit: false, eachBatchAutoResolve: false, eachBatch: () => Promise.resolve() });
  await joined;
  return { leave: () => consumer.disconnect() };
}

/** Members of the sinks' group come and go all the time, so partitions change hands while ranges are under way. */
export const rebalanceStorm: Scenario = {
  name: 'rebalance-storm',
  about: "Every 5 s a member joins or leaves the sinks' group, or a sink is stopped or killed.",
  entriesPerSecond: 3000,
  sampleSeconds: 12,
  check: delivered,
  run: async (context) => {
    const { cluster, random, counters, wait } = context;
    const brokers = `127.0.0.1:${cluster.kafka.port}`;
    const idle: { leave(): Promise<void> }[] = [];
    try {
      await untilOver(context, async () => {
        const began = Date.now();
        const kind = random.below(4);
        if (kind === 0)
          await cluster.process(random.pick(['sink-1', 'sink-2'] as const)).kill(random.pick(['SIGTERM', 'SIGKILL'] as const));
        else if (idle.length > 1 || (idle.length > 0 && kind === 1)) await idle.shift()?.leave();
        else idle.push(await joinIdle(brokers));
        counters.add('changes of the group');
        await wait(Math.max(0, EVERY_MS - (Date.now() - began)));
      });
    } finally {
      await Promise.all(idle.map((member) => member.leave()));
    }
  },
};
