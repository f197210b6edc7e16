import Joi from 'joi';
import { shardsKey, type ShardsRecord } from '../records.ts';
import { recordOf, type RecordKind } from './kind.ts';

/** Partitions of a topic, at most. */
const PARTITIONS = 65_536;

export const shardsKind: RecordKind<ShardsRecord> = {
  name: 'shards',
  about:
    'Which servers the rows of a set lie in ([sets](sets.md#a-server-that-comes-back-empty)), and in which of its [shards](sets.md#shards) each partition is stored.',
  key: 'shards:SET',
  bounds: `One for each set, where there are several or it has shards, of ${String(PARTITIONS)} partitions.`,
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
