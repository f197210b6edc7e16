import { ClickHouseError } from '@clickhouse/client';
import type { Logger } from 'pino';
import { repeat } from '../core/repeat.ts';
import type { Service } from '../core/service.ts';
import { sql, type Sql } from '../core/sql.ts';
import type { Store } from './client.ts';

/** Of each table whose rows a tenant's queries read: any row. */
export const ANY_ROW: ReadonlyMap<string, Sql> = new Map([
  ['logs', sql`SELECT 1 FROM logs LIMIT 1`],
  ['streams', sql`SELECT 1 FROM streams LIMIT 1`],
  ['spans', sql`SELECT 1 FROM spans LIMIT 1`],
  ['span_counts', sql`SELECT 1 FROM span_counts LIMIT 1`],
  ['samples', sql`SELECT 1 FROM samples LIMIT 1`],
  ['series', sql`SELECT 1 FROM series LIMIT 1`],
  ['series_labels', sql`SELECT 1 FROM series_labels LIMIT 1`],
  ['metrics', sql`SELECT 1 FROM metrics LIMIT 1`],
  ['replay_chunks', sql`SELECT 1 FROM replay_chunks LIMIT 1`],
  ['volume', sql`SELECT 1 FROM volume LIMIT 1`],
  ['measures', sql`SELECT 1 FROM measures LIMIT 1`],
  ['metric_rule_states', sql`SELECT 1 FROM metric_rule_states LIMIT 1`],
  ['alerts', sql`SELECT 1 FROM alerts LIMIT 1`],
  ['pattern_counts', sql`SELECT 1 FROM pattern_counts LIMIT 1`],
  ['patterns', sql`SELECT 1 FROM patterns LIMIT 1`],
]);
/** No tenant has this id: a reader that says so sees nothing, where the row policy is there. Rows of 0, which are nobody's, there are. */
export const NO_TENANT = 4_294_967_295;
const EVERY_MS = 60_000;
const DEADLINE_MS = 5000;
/** For all tables together: a ClickHouse that hangs is not waited for longer. Milliseconds. */
const LOOK_MS = 15_000;
const ACCESS_DENIED = '497';

export type RowPoliciesOptions = {
  readonly store: Pick<Store, 'rows'>;
  readonly log: Logger;
  /** Is given at each look which tables lack theirs. */
  readonly onLook?: (missing: readonly string[]) => void;
  readonly everyMs?: number;
};

/**
 * Looks once a minute whether the second wall between tenants stands: whether the reader, without a tenant, sees rows of a table. One that is
 * empty shows nothing either way. Statements name their tenant all the same.
 */
export class RowPolicies implements Service {
  readonly name = 'row policies';
  readonly #options: RowPoliciesOptions;
  readonly #stop = new AbortController();
  #running: Promise<void> | null = null;
  #missing: readonly string[] = [];

  constructor(options: RowPoliciesOptions) {
    this.#options = options;
  }

  /** A sentence about the tables whose policy is missing; null where there is none. */
  get warning(): string | null {
    if (this.#missing.length === 0) return null;
    return `ClickHouse has no row policy on ${this.#missing.join(', ')}: the reader sees rows of all tenants, and only the statements keep them apart.`;
  }

  /** A ClickHouse that does not answer delays no start. */
  start(): Promise<void> {
    const { everyMs = EVERY_MS } = this.#options;
    this.#running = this.#look().then(() => repeat(everyMs, this.#stop.signal, () => this.#look()));
    return Promise.resolve();
  }

  async stop(): Promise<void> {
    this.#stop.abort();
    await this.#running;
  }

  async #look(): Promise<void> {
    const { store, log, onLook } = this.#options;
    // whether ClickHouse answers is for others to say
    const { missing: found, unknown } = await missingPolicies(store);
    const missing = [...ANY_ROW.keys()].filter(
      (table) => found.includes(table) || (unknown.includes(table) && this.#missing.includes(table)),
    );
    if (missing.some((table) => !this.#missing.includes(table))) log.error({ tables: missing }, 'Row policies are missing.');
    this.#missing = missing;
    onLook?.(missing);
  }
}

/** The tables that show the reader rows without a tenant, and those of which ClickHouse did not answer. Never rejects. */
export async function missingPolicies(
  store: Pick<Store, 'rows'>,
): Promise<{ readonly missing: readonly string[]; readonly unknown: readonly string[] }> {
  const [missing, unknown]: [string[], string[]] = [[], []];
  const signal = AbortSignal.timeout(LOOK_MS);
  for (const [table, anyRow] of ANY_ROW)
    try {
      const rows = await store.rows(anyRow, { tenantId: NO_TENANT, timeoutMs: DEADLINE_MS, signal });
      if (rows.length > 0) missing.push(table);
    } catch (error) {
      // a table that the reader may not read shows it nothing
      if (!(error instanceof ClickHouseError && error.code === ACCESS_DENIED)) unknown.push(table);
    }
  return { missing, unknown };
}
