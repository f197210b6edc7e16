import { queryOnce } from '../../pipeline/bus/connection/admin-connection.ts';
import type { createKafka } from '../../pipeline/bus/connection/kafka.ts';
import { boundsOf, committedBy, type Bounds } from '../../pipeline/bus/reading/group-positions.ts';
import { setPositions, type GroupPositions } from '../../pipeline/bus/reading/set-positions.ts';
import type { NotedPosition } from './manifest.ts';

/** A table that is filled from a topic, and the consumer group that fills it. */
export type FilledTable = { readonly sink: string; readonly table: string; readonly topic: string; readonly groupId: string };

/** Where all groups stood, and in which cluster. */
export type Noted = { readonly cluster: string; readonly positions: readonly NotedPosition[] };

/** Where the logs begin and end now, by topic and partition, and in which cluster. */
export type Logs = { readonly cluster: string; readonly bounds: ReadonlyMap<string, ReadonlyMap<number, Bounds>> };

/** The consumer groups of the sinks, as backups see them. */
export interface SinkGroups {
  /** Notes where each group stands: of what lies before, every row is in its table. */
  note(): Promise<Noted>;
  logs(): Promise<Logs>;
  /** The sinks that have processes which may write: their groups have members. */
  running(): Promise<readonly string[]>;
  /** Puts groups to positions. Rejects for a group that has members. */
  put(groups: readonly GroupPositions[]): Promise<void>;
}

const DEADLINE_MS = 60_000;

/** The groups as they are on Kafka. */
export function kafkaSinkGroups(kafka: ReturnType<typeof createKafka>, filled: readonly FilledTable[]): SinkGroups {
  return {
    note: () =>
      queryOnce(kafka, DEADLINE_MS, async (admin) => {
        const { clusterId } = await admin.describeCluster();
        const positions: NotedPosition[] = [];
        for (const { sink, topic, groupId } of filled) {
          // first the group: what it has committed is in the log
          const committed = await committedBy(admin, groupId, topic);
          for (const [partition, { low, end }] of await boundsOf(admin, topic)) {
            const { offset, metadata } = committed.get(partition) ?? { offset: -1, metadata: '' };
            positions.push({ sink, topic, partition, offset, metadata, low, end });
          }
        }
        return { cluster: clusterId, positions };
      }),
    logs: () =>
      queryOnce(kafka, DEADLINE_MS, async (admin) => {
        const { clusterId } = await admin.describeCluster();
        const bounds = new Map<string, Map<number, Bounds>>();
        for (const { topic } of filled) bounds.set(topic, await boundsOf(admin, topic));
        return { cluster: clusterId, bounds };
      }),
    running: () =>
      queryOnce(kafka, DEADLINE_MS, async (admin) => {
        const { groups } = await admin.describeGroups(filled.map(({ groupId }) => groupId));
        const busy = new Set(groups.filter(({ members }) => members.length > 0).map(({ groupId }) => groupId));
        return filled.filter(({ groupId }) => busy.has(groupId)).map(({ sink }) => sink);
      }),
    put: (groups) => setPositions(kafka, DEADLINE_MS, groups),
  };
}
