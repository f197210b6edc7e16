import { LRUCache } from 'lru-cache';
import { numberSet, ofTenant, sql } from '../../pipeline/core/sql.ts';
import type { QueryOptions, Store } from '../../pipeline/store/client.ts';
import { daysOf, onDays } from '../../logsql/sql/days.ts';
import type { StreamNames } from '../../logsql/base/table.ts';
import type { TimeWindow } from '../../logsql/base/time-window.ts';

/** As many label sets as are kept in memory, over all tenants. */
const MAX_KEPT = 50_000;
/** And as many bytes of them, about. */
const MAX_KEPT_BYTES = 24 * 1024 * 1024;
const KEPT = { max: MAX_KEPT, maxSize: MAX_KEPT_BYTES, sizeCalculation: (stream: string) => 200 + stream.length };
/** Ids looked up in one statement, which takes 128 KiB of them. */
const BATCH = 4000;

/** The label sets of streams by their ids. An id is a hash of its label set, so what is known stays true. */
export class StreamDirectory {
  readonly #store: Store;
  readonly #known: LRUCache<string, string>;

  constructor(store: Store, known = new LRUCache<string, string>(KEPT)) {
    this.#store = store;
    this.#known = known;
  }

  /** The same, which looks up in another store what is not known. */
  on(store: Store): StreamDirectory {
    return new StreamDirectory(store, this.#known);
  }

  /**
   * The labels of these ids, which are of entries within the window: each stream is registered for each day that it has entries of, so no
   * other days are read. An id that is not registered for them is left out.
   */
  async resolve(ids: readonly string[], window: TimeWindow, options: QueryOptions): Promise<StreamNames> {
    const found = new Map<string, string>();
    const missing: string[] = [];
    for (const id of new Set(ids)) {
      const known = this.#known.get(`${String(options.tenantId)}/${id}`);
      if (known === undefined) missing.push(id);
      else found.set(id, known);
    }
    for (let at = 0; at < missing.length; at += BATCH) {
      const batch = missing.slice(at, at + BATCH);
      const rows = await this.#store.rows(
        sql`SELECT stream_id, any(_stream) FROM streams WHERE ${ofTenant(options.tenantId)} AND ${onDays(daysOf(window))} AND stream_id IN ${numberSet(batch)} GROUP BY stream_id`,
        options,
      );
      for (const [id, stream] of rows) {
        found.set(String(id), String(stream));
        this.#known.set(`${String(options.tenantId)}/${String(id)}`, String(stream));
      }
    }
    return found;
  }
}
