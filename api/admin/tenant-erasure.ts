import { randomUUID } from 'node:crypto';
import type { Logger } from 'pino';
import { repeat } from '../../pipeline/core/repeat.ts';
import type { Service } from '../../pipeline/core/service.ts';
import type { Store } from '../../pipeline/store/client.ts';
import type { ControlStore } from '../control/control-store.ts';
import { added, changeDeletion, deletionOf, deletions, emptyRecords } from '../control/deletions.ts';
import type { DeletionRecord } from '../control/records.ts';

const EVERY_MS = 15_000;
/** How long one node may take for the rows of a tenant before another one helps it: deleting twice harms nothing. */
const HELD_MS = 600_000;

type ErasedStore = Pick<Store, 'ownerRows' | 'command'>;
/** How many rows there are of each tenant, by table. */
type Rows = ReadonlyMap<number, Readonly<Record<string, number>>>;

export type TenantErasureOptions = {
  readonly control: ControlStore;
  /** Of every set: a deletion is done when none of them has a row. */
  readonly stores: readonly ErasedStore[];
  readonly log: Logger;
  readonly everyMs?: number;
  /** Milliseconds since the epoch. */
  readonly clock?: () => number;
};

/** The tables with rows of tenants, whatever signals there are. */
const TABLES = "SELECT table FROM system.columns WHERE database = currentDatabase() AND name = 'tenant_id' ORDER BY table";

/**
 * Deletes the rows of tenants that are deleted, in each table that has rows of tenants; and those that come late: from the log, where a sink had not read
 * them yet, out of dead letters, or with a backup that was restored. Each node looks four times a minute; one of them deletes.
 */
export class TenantErasure implements Service {
  readonly name = 'tenant erasure';
  readonly #options: TenantErasureOptions;
  readonly #node = randomUUID();
  readonly #stop = new AbortController();
  #running: Promise<void> | null = null;
  #looking: Promise<void> | null = null;

  constructor(options: TenantErasureOptions) {
    this.#options = options;
  }

  start(): Promise<void> {
    const { everyMs = EVERY_MS } = this.#options;
    this.#running = this.look().then(() => repeat(everyMs, this.#stop.signal, () => this.look()));
    return Promise.resolve();
  }

  async stop(): Promise<void> {
    this.#stop.abort();
    await this.#running;
  }

  /** Deletes what there is to delete now. Never rejects. */
  look(): Promise<void> {
    return (this.#looking ??= this.#look().finally(() => {
      this.#looking = null;
    }));
  }

  async #look(): Promise<void> {
    const { control, log } = this.#options;
    if (this.#stop.signal.aborted || !control.ready) return;
    const all = deletions(control);
    if (all.length === 0) return;
    const ids = all.map(({ tenantId }) => tenantId);
    try {
      await emptyRecords(control, new Set(ids));
      // once more where rows were deleted: what is found then came meanwhile
      for (let turn = 0; turn < 2; turn++) {
        const looks = await Promise.allSettled(
          this.#options.stores.map(async (store) => ({ store, rows: await this.#rowsOf(store, ids) })),
        );
        const found = looks.flatMap((look) => (look.status === 'fulfilled' ? [look.value] : []));
        // the rows of a set that does not answer are deleted when it has recovered
        for (const id of ids) await this.#erase(id, found, found.length === looks.length);
        for (const look of looks) if (look.status === 'rejected') throw look.reason;
        if (found.every(({ rows }) => rows.size === 0)) break;
      }
    } catch (error) {
      log.warn({ err: error }, 'Rows of deleted tenants could not be deleted; the next look tries again.');
    }
  }

  /** Without tenants, and tables, that have none. */
  async #rowsOf(store: ErasedStore, tenants: readonly number[]): Promise<Rows> {
    const found = new Map<number, Record<string, number>>();
    for (const [table] of await store.ownerRows(TABLES)) {
      const statement = `SELECT tenant_id, count() FROM ${quoted(String(table))} WHERE tenant_id IN {tenants:Array(UInt32)} GROUP BY tenant_id`;
      for (const [tenant, rows] of await store.ownerRows(statement, { tenants }))
        found.set(Number(tenant), { ...found.get(Number(tenant)), [String(table)]: Number(rows) });
    }
    return found;
  }

  /** `isWhole`: every set was looked at. */
  async #erase(tenantId: number, found: readonly { readonly store: ErasedStore; readonly rows: Rows }[], isWhole: boolean): Promise<void> {
    const { control, log, clock = Date.now } = this.#options;
    const own = found.flatMap(({ store, rows: all }) =>
      Object.entries(all.get(tenantId) ?? {}).map(([table, count]) => ({ store, table, count })),
    );
    const at = (ms = 0): string => new Date(clock() + ms).toISOString();
    const known = deletionOf(control, tenantId);
    if (known === undefined || this.#isHeldByOther(known)) return;
    if (own.length === 0) {
      if (known.checkedAt === null && isWhole)
        await changeDeletion(control, tenantId, (current) => ({ ...current, checkedAt: at(), heldBy: null }));
      return;
    }
    const held = await changeDeletion(control, tenantId, (current) =>
      this.#isHeldByOther(current) ? current : { ...current, checkedAt: null, heldBy: { node: this.#node, until: at(HELD_MS) } },
    );
    if (held.heldBy?.node !== this.#node) return;
    let rows: Readonly<Record<string, number>> = {};
    try {
      for (const { store, table, count } of own) {
        await store.command(`ALTER TABLE ${quoted(table)} DELETE WHERE tenant_id IN (${String(tenantId)})`, { mutations_sync: '1' });
        rows = added(rows, { [table]: count });
      }
    } finally {
      // also where a set became unavailable: the next look goes on, of another node or of this one after a restart
      await changeDeletion(control, tenantId, (current) => ({ ...current, rows: added(current.rows, rows), heldBy: null }));
    }
    log.info({ tenant: tenantId, rows }, 'Rows of a deleted tenant were deleted.');
  }

  #isHeldByOther({ heldBy }: Pick<DeletionRecord, 'heldBy'>): boolean {
    const { clock = Date.now } = this.#options;
    return heldBy !== null && heldBy.node !== this.#node && Date.parse(heldBy.until) > clock();
  }
}

const quoted = (table: string): string => `\`${table.replaceAll(/[\\`]/g, String.raw`\$&`)}\``;
