import { ClickHouseError } from '@clickhouse/client';
import { sql } from '../core/sql.ts';
import type { Store } from './client.ts';
import { NO_TENANT } from './row-policies.ts';

type LimitedStore = Pick<Store, 'ownerRows' | 'rows'>;

/** All quotas of a server. */
const QUOTAS = "SELECT toString(sum(cityHash64(formatRow('TSV', *)))) FROM system.quota_limits";
/** What a profile holds its reader to. */
const PROFILE = sql`SELECT toString(getSetting('readonly')), toString(getSetting('max_memory_usage_for_user')), toString(getSetting('max_concurrent_queries_for_user'))`;
const DEADLINE_MS = 5000;
const ACCESS_DENIED = '497';

/**
 * What a shard lets its reader do that the first one does not, or the other way round, as the end of a sentence about the set; null: nothing. Quotas that
 * the owner may not see are not compared.
 */
export async function limitsFault(shards: readonly LimitedStore[], signal: AbortSignal): Promise<string | null> {
  const [first, ...others] = await Promise.all(
    shards.map(async (shard) => [await quotasOf(shard, signal), await profileOf(shard, signal)]),
  );
  const other = others.findIndex((limits) => limits.some((limit, at) => limit !== null && first?.[at] !== null && limit !== first?.[at]));
  return other < 0
    ? null
    : `has other quotas, or a profile of its reader with other limits, in shard ${String(other + 2)} than in the first`;
}

async function quotasOf(shard: LimitedStore, signal: AbortSignal): Promise<string | null> {
  try {
    return String((await shard.ownerRows(QUOTAS, {}, signal))[0]?.[0]);
  } catch (error) {
    if (error instanceof ClickHouseError && error.code === ACCESS_DENIED) return null;
    throw error;
  }
}

const profileOf = async (shard: LimitedStore, signal: AbortSignal): Promise<string> =>
  String(await shard.rows(PROFILE, { tenantId: NO_TENANT, timeoutMs: DEADLINE_MS, signal }));
