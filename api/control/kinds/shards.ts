import Joi from 'joi';
import { shardsKey, type ShardsRecord } from '../records.ts';
import { recordOf, type RecordKind } from './kind.ts';

/** Partitions of a topic, at most. */
const PARTITIONS = 65_536;

export const shardsKind: RecordKind<ShardsRecord> = {
  name: 'shards',
  about: 'In which shard of a set each partition is stored, and which servers these are ([sets](sets.md#shards)).',
  key: 'shards:SET',
  bounds: `One for each set with shards, of ${String(PARTITIONS)} partitions.`,
  deletion: 'None: a partition stays where it is.',
  routes: [],
  commands: [],
  schema: recordOf({
    set: Joi.string().required(),
    partitions: Joi.array().items(Joi.number().integer().min(0)).max(PARTITIONS).required(),
    servers: Joi.array().items(Joi.string()).required(),
  }),
  tenantOf: () => null,
  emptied: (shards) => shards,
  keyOf: ({ set }) => shardsKey(set),
  index: () => undefined,
};
