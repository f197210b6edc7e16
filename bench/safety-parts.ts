import { MUTATIONS } from '../test/faults/mutations.ts';
import type { Patch } from '../test/faults/patched-dist.ts';

/** A part of what makes "acknowledged" mean "stored exactly once", and the patches of the compiled program that take it out. */
export type SafetyPart = { readonly name: string; readonly about: string; readonly patches: readonly Patch[] };

/** The patches by which the fault tests switch the same part off. */
function mutation(name: string): readonly Patch[] {
  const found = MUTATIONS.find((one) => one.name === name);
  if (found === undefined) throw new Error(`BUG: There is no mutation ${name}.`);
  return found.patches;
}

/** Every part of the way from a request to the table; each can be taken out alone or with others. */
export const SAFETY_PARTS: readonly SafetyPart[] = [
  {
    name: 'idempotence',
    about: 'batches have a producer id and sequence numbers; all replicas acknowledge',
    patches: [
      ...mutation('idempotence'),
      { file: 'pipeline/bus/broker-connection.js', find: 'start.writeInt16BE(-1, 2);', replace: 'start.writeInt16BE(1, 2);' },
    ],
  },
  {
    name: 'usage',
    about: 'the log is folded into the volume of each tenant, and API nodes count what is not folded yet',
    patches: [
      { file: 'main/roles/processors.js', find: 'return hosts.flatMap(({ states, host }) => [...states, host]);', replace: 'return [];' },
      { file: 'main/roles/processors.js', find: '() => hosts.every(({ host }) => host.joined)', replace: '() => true' },
      { file: 'main/roles/ingest.js', find: 'counts.sent(records);', replace: '' },
    ],
  },
  {
    name: 'intent',
    about: 'the end of a range is committed before the range is stored',
    patches: mutation('intent'),
  },
  {
    name: 'token',
    about: 'ClickHouse remembers which ranges it has',
    patches: [
      {
        file: 'sinks/writer.js',
        find: 'settings: { ...SETTINGS, ...settings, insert_deduplication_token: token }',
        replace: 'settings: { ...SETTINGS, ...settings }',
      },
      {
        file: 'sinks/writer.js',
        find: 'insert_deduplicate: 1, deduplicate_blocks_in_dependent_materialized_views: 1,',
        replace: 'insert_deduplicate: 0, deduplicate_blocks_in_dependent_materialized_views: 0,',
      },
    ],
  },
  {
    name: 'one-block',
    about: 'an insert makes its blocks one after the other, the same for the same rows',
    patches: [{ file: 'sinks/writer.js', find: "max_threads: 1, max_insert_threads: '1', input_format_parallel_parsing: 0,", replace: '' }],
  },
  {
    name: 'fence',
    about: 'an insert of several partitions writes nothing once one of its ranges is repeated',
    patches: mutation('fence'),
  },
  {
    name: 'read-back',
    about: 'a range that may be stored is looked up before it is stored again',
    patches: mutation('read-back'),
  },
  {
    name: 'positions',
    about: 'every row has its offset and its place in the record',
    patches: [
      {
        file: 'sinks/shared-columns.js',
        find: 'const values = [tenantId, arrived, partition, offset, retentionDays];',
        replace: 'const values = [tenantId, arrived, partition, 0, retentionDays];',
      },
      { file: 'sinks/shared-columns.js', find: 'ORDINALS.subarray(0, 2 * rows)', replace: 'Buffer.alloc(2 * rows)' },
    ],
  },
];
