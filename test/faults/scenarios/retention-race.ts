import kafkajs, { type Admin } from 'kafkajs';
import { topicConfig } from '../../../pipeline/bus/records/topics.ts';
import { logsSignal } from '../../../pipeline/logs/logs-signal.ts';
import { LOGS_TOPIC } from '../../../pipeline/logs/record.ts';
import type { Cluster } from '../cluster.ts';
import type { Scenario } from '../scenario.ts';
import { caughtUp } from './catch-up.ts';
import { slowRefusals } from './checks.ts';
import { bounded } from './measured.ts';
import { watchAnswers } from './refusals.ts';
import { SINK_GROUP } from './sink-members.ts';
import { restore } from './until-over.ts';
import { within } from './victims.ts';

const LONGEST_MS = 120_000;
const SHORTEST_MS = 40_000;
/** The operator does what docs/operations.md says when the oldest record has this share of the retention behind it. */
const BACK_AT = 0.82;
const DAY_MS = 86_400_000;

const FULL_AT = 'retention race: age of the oldest unread record at the first 429 wal_full, % of the retention';
const DELETED = 'retention race: records deleted unread';
const RESUMED = 'retention race: from the return of the sinks to the first acknowledgement, ms';

/** Sets how long Kafka keeps records; all else stays as the service creates the topic. */
async function setRetention(admin: Admin, retentionMs: number, segmentMs: number): Promise<void> {
  const own = topicConfig(logsSignal.topic, { partitions: 1, replicas: 1 }).configEntries ?? [];
  const others = own.filter(({ name }) => name !== 'retention.ms');
  const configEntries = [...others, { name: 'retention.ms', value: String(retentionMs) }, { name: 'segment.ms', value: String(segmentMs) }];
  await admin.alterConfigs({
    validateOnly: false,
    resources: [{ type: kafkajs.ConfigResourceTypes.TOPIC, name: LOGS_TOPIC, configEntries }],
  });
}

/** Records that Kafka has deleted and no sink has read. */
async function deletedUnread(admin: Admin): Promise<number> {
  const [[group], offsets] = await Promise.all([
    admin.fetchOffsets({ groupId: SINK_GROUP, topics: [LOGS_TOPIC] }),
    admin.fetchTopicOffsets(LOGS_TOPIC),
  ]);
  return offsets.reduce((sum, { partition, low }) => {
    const committed = Number(group?.partitions.find((entry) => entry.partition === partition)?.offset ?? -1);
    return sum + Math.max(0, Number(low) - Math.max(0, committed));
  }, 0);
}

async function connected({ kafka: { host, port } }: Cluster): Promise<Admin> {
  const client = new kafkajs.Kafka({ brokers: [`${host}:${String(port)}`], clientId: 'fault-harness', logLevel: kafkajs.logLevel.NOTHING });
  const admin = client.admin();
  await admin.connect();
  return admin;
}

/** Nothing is read while Kafka's clock runs; the guard (pipeline/bus/measured/lag-seconds.ts) must stop the writers, and the retention is raised in time. */
export const retentionRace: Scenario = {
  name: 'retention-race',
  about: 'Kafka keeps records for two minutes at most, and the sinks store nothing for most of that time.',
  links: ['sink-clickhouse'],
  // the recount reads the whole log: what earlier scenarios wrote would be deleted
  alone: true,
  kafkaSettings: { 'log.retention.check.interval.ms': '1000', 'log.initial.task.delay.ms': '1000' },
  sampleSeconds: 50,
  async run(context) {
    const { cluster, load, counters, measures, seconds, stored, log } = context;
    const retentionMs = Math.min(LONGEST_MS, Math.max(SHORTEST_MS, seconds * 800));
    const proxy = cluster.link('sink-clickhouse');
    const admin = await connected(cluster);
    const watched = watchAnswers(load);
    try {
      await proxy.refuse(true);
      proxy.cut();
      await setRetention(admin, retentionMs, retentionMs / 10);
      counters.add('retention races');
      const [began, rows] = [Date.now(), stored.at(-1)?.rows ?? 0];
      const oldest = oldestUnread(load.acks, rows) ?? began;
      log(`the sinks store nothing, and Kafka keeps records for ${String(retentionMs / 1000)} s`);
      let deleted = 0;
      await within(BACK_AT * retentionMs - (Date.now() - oldest), () => false);
      deleted = Math.max(deleted, await deletedUnread(admin));
      await setRetention(admin, 7 * DAY_MS, 7 * DAY_MS);
      const back = Date.now();
      await restore(proxy);
      const full = watched.first('wal_full');
      if (full !== undefined) measures.set(FULL_AT, (100 * (full - oldest)) / retentionMs);
      const end = await caughtUp(context, back);
      measures.set('retention race: from the return of the sinks until all is stored, s', (end - back) / 1000);
      measures.set(DELETED, Math.max(deleted, await deletedUnread(admin)));
      if (await within(30_000, () => watched.firstAckAfter(back) !== undefined))
        measures.set(RESUMED, (watched.firstAckAfter(back) ?? 0) - back);
    } finally {
      watched.end();
      await setRetention(admin, 7 * DAY_MS, 7 * DAY_MS);
      await restore(proxy);
      await admin.disconnect();
    }
  },
  check: (totals, measures) => [
    ...slowRefusals(totals),
    ...bounded(measures, FULL_AT, { least: 60, most: 85 }),
    ...bounded(measures, DELETED, { most: 0 }),
    ...bounded(measures, RESUMED, { most: 30_000 }),
  ],
};

/** When the first entry that is not in the table was acknowledged, about. */
function oldestUnread(acks: readonly { readonly at: number; readonly entries: number }[], rows: number): number | undefined {
  let entries = 0;
  return acks.find((ack) => (entries += ack.entries) > rows)?.at;
}
