import type { ControlStore } from './control-store.ts';
import { shardsKey, type ShardsRecord } from './records.ts';
import { shardsOf } from './shard-map.ts';

/**
 * What is wrong with the servers of a set, by their ids in the order of its shards, as the end of a sentence about it; null: those that have rows of it are
 * where they were. A set of which no server is known yet may have any that belongs to no other set.
 */
export function serversFault(control: Pick<ControlStore, 'record' | 'allRecords'>, set: string, ids: readonly string[]): string | null {
  const known = shardsOf(control, set)?.servers ?? [];
  if (known.length === 0) return takenFault(control, ids);
  const other = known.findIndex((id, shard) => id !== ids[shard]);
  if (other < 0) return null;
  return ids.length === 1
    ? `is in another server than the one that its rows were stored in, whose server_id is ${String(known[other])}: that server has lost its tables, or the url is that of another one. Rebuild it from another set (logweir admin restore --set ${set})`
    : `has another server as its shard ${String(other + 1)} than the one that stores its partitions, whose shard_id is ${String(known[other])}: the file names the shards in another order, or that server has lost its tables`;
}

/** A set would store its rows a second time in the tables of another one. */
function takenFault(control: Pick<ControlStore, 'allRecords'>, ids: readonly string[]): string | null {
  for (const { key, record } of control.allRecords()) {
    if (!key.startsWith(shardsKey(''))) continue;
    const { set, servers } = record as ShardsRecord;
    if (servers.some((id) => ids.includes(id))) return `is in a server of the set ${set}`;
  }
  return null;
}

/** Has every node know the only server of a set, unless one is known. Throws HttpError 503 where Kafka does not take the record. */
export async function claimServer(control: Pick<ControlStore, 'record' | 'write'>, set: string, id: string): Promise<void> {
  if (shardsOf(control, set) !== undefined) return;
  await control.write<ShardsRecord>(
    shardsKey(set),
    () => shardsOf(control, set),
    (current) => current ?? { set, partitions: [], servers: [id] },
  );
}

/** Has every node know another server as the only one of a set, which has got all that it is to have. Throws HttpError 503 as well. */
export async function replaceServer(control: Pick<ControlStore, 'record' | 'write'>, set: string, id: string): Promise<void> {
  await control.write<ShardsRecord>(
    shardsKey(set),
    () => shardsOf(control, set),
    (current) => ({ set, partitions: current?.partitions ?? [], servers: [id] }),
  );
}
