/** Runs a statement on one server, as its owner: the rows of its result as texts. */
export type Ask = (statement: string) => Promise<string[][]>;

/** Written for a set alone: what was migrated, and fences of its inserts. */
const OWN_TABLES = ['migrations', 'insert_fences'];
/** Sums of ClickHouse are of 64 bits. */
const BITS = 64;

/**
 * How many different rows each table of a set has, and a sum of their hashes over all columns, as one text. `servers`: its shards, each of which
 * has other rows.
 */
export async function tableHashes(...servers: readonly Ask[]): Promise<Record<string, string>> {
  const found: Record<string, readonly [bigint, bigint]> = {};
  for (const ask of servers) {
    const tables = await ask("SELECT name FROM system.tables WHERE database = 'logweir' AND engine LIKE '%MergeTree' ORDER BY name");
    for (const [table = ''] of tables) {
      if (OWN_TABLES.includes(table)) continue;
      const rows = `SELECT DISTINCT cityHash64(formatRow('JSONCompactEachRow', *)) AS hash FROM logweir.${table}`;
      const [[count = '0', sum = '0'] = []] = await ask(`SELECT count(), sum(hash) FROM (${rows})`);
      const [counted, summed] = found[table] ?? [0n, 0n];
      found[table] = [counted + BigInt(count), BigInt.asUintN(BITS, summed + BigInt(sum))];
    }
  }
  return Object.fromEntries(Object.entries(found).map(([table, both]) => [table, both.join(' ')]));
}
