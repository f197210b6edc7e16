import type { GroupPositions } from '../../pipeline/bus/reading/set-positions.ts';
import type { FilledTable, Logs, Noted } from './sink-groups.ts';

/** Records that Kafka no longer has of what a sink would have to read again: `from` to the one before `to`. */
export type Expired = {
  readonly topic: string;
  readonly table: string;
  readonly partition: number;
  readonly from: number;
  readonly to: number;
};

/** Where groups are to go on from so that tables of a backup and the log together have every record, and what that means. */
export type Resumption = {
  readonly groups: readonly GroupPositions[];
  /** How many records are read again. */
  readonly again: number;
  readonly expired: readonly Expired[];
  /** Topics whose logs are not those of the backup: they are read from their beginnings. */
  readonly otherLogs: readonly string[];
};

/** Finds where to go on, by what was noted before the backup, and the logs of now. */
export function resumeFrom(filled: readonly FilledTable[], noted: Noted, now: Logs): Resumption {
  const expired: Expired[] = [];
  const otherLogs = new Set<string>();
  let again = 0;
  const groups = filled.map(({ sink, topic, table, groupId }) => {
    const known = new Map(noted.positions.filter((one) => one.sink === sink && one.topic === topic).map((one) => [one.partition, one]));
    const positions = new Map([...(now.bounds.get(topic) ?? [])].map(([partition, { low, end }]) => {
      const { offset = -1, metadata = '' } = known.get(partition) ?? {};
      const isOther = now.cluster !== noted.cluster || offset > end;
      if (isOther) otherLogs.add(topic);
      // nothing stored, and every row that is there is compared with what the log has: by append time too, since offsets are used again
      if (isOther || offset < 0) {
        again += end - low;
        return [partition, { offset: low, metadata: '' }];
      }
      again += end - Math.max(low, offset);
      if (offset < low) expired.push({ topic, table, partition, from: offset, to: Math.min(low, end) });
      return [partition, { offset, metadata }];
    })); // prettier-ignore
    return { groupId, topic, positions };
  });
  return { groups, again, expired, otherLogs: [...otherLogs] };
}
