import kafkajs from 'kafkajs';
import type { Cluster } from '../cluster.ts';

/** The consumer group of the sinks. */
export const SINK_GROUP = 'logweir-sink-logs';

/** The ids of the members of the sinks' group. One that has joined anew after its session was over has another id. */
export async function sinkMembers({ kafka: { host, port } }: Cluster): Promise<string[]> {
  const client = new kafkajs.Kafka({ brokers: [`${host}:${String(port)}`], clientId: 'fault-harness', logLevel: kafkajs.logLevel.NOTHING });
  const admin = client.admin();
  await admin.connect();
  try {
    const { groups } = await admin.describeGroups([SINK_GROUP]);
    return groups.flatMap(({ members }) => members.map(({ memberId }) => memberId)).sort();
  } finally {
    await admin.disconnect();
  }
}
