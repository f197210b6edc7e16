import { SINK_NAMES, type Cluster, type RoleName } from '../cluster.ts';
import { untilKafka, withAdmin } from '../kafka-state.ts';
import { isInsertInto, type HeldRequest } from '../proxy.ts';
import type { Match } from '../proxy-rules.ts';
import type { Scenario, ScenarioContext } from '../scenario.ts';
import { delivered } from './checks.ts';
import { SINK_GROUP } from './sink-members.ts';
import { untilOver } from './until-over.ts';
import { within } from './victims.ts';

/** The proxy hears at once that a process has ended. */
const END_SEEN_MS = 1000;
/** The session of a consumer, the start of a sink, and its look at what is stored. */
const REPEATED_MS = 180_000;

/** The id of an insert of several partitions, with which its query id begins (docs/adr/0016-one-insert-for-several-partitions.md). */
const jointId = (head: string): string | null => /[?&]query_id=([0-9a-f]{16}-\d+)-/.exec(head)?.[1] ?? null;
const isJointInsert: Match = (request) => isInsertInto('logs')(request) && jointId(request.head) !== null;

/** Kills the sink that has sent it: one, or both where the first was the other one. */
async function killSender({ cluster, random, log }: ScenarioContext, held: HeldRequest): Promise<void> {
  const first = random.pick(SINK_NAMES);
  const killed: RoleName[] = [];
  for (const name of [first, ...SINK_NAMES.filter((other) => other !== first)]) {
    await cluster.process(name).kill();
    killed.push(name);
    if (await within(END_SEEN_MS, held.isAbandoned)) break;
  }
  log(`killed ${killed.join(', ')}`);
}

/** Waits until no intent names the insert: each of its ranges has been stored by another one. */
const untilRepeated = (cluster: Cluster, id: string): Promise<void> =>
  untilKafka(`the ranges of insert ${id} are repeated`, REPEATED_MS, () =>
    withAdmin(cluster, async (admin) => {
      const topics = await admin.fetchOffsets({ groupId: SINK_GROUP, topics: ['logs.v1'] });
      return topics.every(({ partitions }) => partitions.every(({ metadata }) => metadata?.includes(`"${id}"`) !== true));
    }),
  );

/** Only a fence keeps an insert out that arrives when its ranges are stored: it has a token of its own, and is not running before. */
export const heldInserts: Scenario = {
  name: 'held-inserts',
  about:
    'An insert of several partitions is held on its way, its sink is killed or cut off, its ranges are repeated; then it arrives at ClickHouse.',
  links: ['sink-clickhouse'],
  sampleSeconds: 4,
  check: delivered,
  run: async (context) => {
    const { cluster, random, counters, log } = context;
    const proxy = cluster.link('sink-clickhouse');
    await untilOver(context, async (signal) => {
      const held = await proxy.holdNextRequest(isJointInsert, signal);
      if (held === null) return;
      const id = jointId(held.head) ?? '';
      const isKill = random.below(2) === 0;
      if (isKill) await killSender(context, held);
      else held.cut();
      await untilRepeated(cluster, id);
      if (!(await held.deliver())) return;
      log(`insert ${id} arrived late`);
      counters.add(`late inserts of a sink that was ${isKill ? 'killed' : 'cut off'}`);
    });
  },
};
