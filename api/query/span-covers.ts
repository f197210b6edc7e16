import { LRUCache } from 'lru-cache';
import type { Deps, KnownSpanCovers, Request } from './deps.ts';
import { closings, spanCoverOf, type SpanCover } from './span-cover.ts';
import { tenantRows } from './tenant-rows.ts';

/** As many tenants as how far they are counted is kept of, in each set. */
const MAX_KEPT = 2000;
/** For how long it serves: half of the shortest segment, so that little more is read that is counted by now. Nanoseconds. */
const FRESH_NS = 30_000_000_000n;

type Kept = { readonly at: bigint; readonly cover: SpanCover };

/**
 * How far the spans of tenants are counted, as it was read lately. What is older is as exact: rows that are counted never change, and the spans behind
 * them are looked at themselves (docs/adr/0043-derived-from-spans.md). Sets are apart, since one may be behind another.
 */
export class SpanCovers implements KnownSpanCovers {
  readonly #kept = new LRUCache<string, Kept>({ max: MAX_KEPT });

  async of(request: Request, deps: Deps): Promise<SpanCover> {
    const key = `${request.set ?? ''}/${String(request.tenantId)}`;
    const now = deps.now();
    const kept = this.#kept.get(key);
    if (kept !== undefined && now >= kept.at && now - kept.at < FRESH_NS) return kept.cover;
    const cover = spanCoverOf(await tenantRows(closings(request.tenantId, now), request, deps));
    this.#kept.set(key, { at: now, cover });
    return cover;
  }
}
