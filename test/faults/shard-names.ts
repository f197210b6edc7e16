/** Servers of the second set, which is `b`; the process `clickhouse` is the first one, `a`. */
export const SHARD_NAMES = ['clickhouse-b1', 'clickhouse-b2'] as const;
export type ShardName = (typeof SHARD_NAMES)[number];
