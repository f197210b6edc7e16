import { LRUCache } from 'lru-cache';
import { sql, type Sql } from '../../../pipeline/core/sql.ts';
import { formatTime, MIN_TIME } from '../../../pipeline/core/time.ts';
import type { Row } from '../../../pipeline/store/client.ts';
import type { Deps, KnownPattern, KnownPatterns, Request } from '../deps.ts';
import { retentionFloor } from '../window.ts';
import { latestPatterns, numbersOf, patternCounts } from './counts.ts';

/** Patterns that are kept in memory, over all tenants. */
const MAX_KEPT = 50_000;
/** Age at which a known pattern is queried again while it serves, and an unknown one before it is answered. Milliseconds. */
const FRESH_MS = 15_000;
const UNKNOWN_MS = 2000;
/** An answer waits no longer for what it may do without. Milliseconds. */
const WAIT_MS = 1000;
const MS = 1_000_000n;

type Kept = { readonly pattern: KnownPattern | null; at: number };

/** What is known of patterns, as entries are enriched with it. What was queried lately comes from memory. */
export class PatternDirectory implements KnownPatterns {
  readonly #known = new LRUCache<string, Kept>({ max: MAX_KEPT });

  async of(patterns: Iterable<string>, request: Request, deps: Deps): Promise<ReadonlyMap<string, KnownPattern>> {
    const wanted = [...new Set(patterns)];
    const [missing, stale]: [string[], string[]] = [[], []];
    const now = performance.now();
    for (const pattern of wanted) {
      const kept = this.#known.get(keyOf(request, pattern));
      const age = now - (kept?.at ?? -Infinity);
      if (kept === undefined || (kept.pattern === null && age > UNKNOWN_MS)) missing.push(pattern);
      else if (age > FRESH_MS) {
        kept.at = now;
        stale.push(pattern);
      }
    }
    // an old answer serves while a newer one is queried
    if (stale.length > 0) void this.#query(stale, request, deps);
    if (missing.length > 0) await this.#query(missing, request, deps);
    const found = new Map<string, KnownPattern>();
    for (const pattern of wanted) {
      const known = this.#known.get(keyOf(request, pattern))?.pattern;
      if (known !== undefined && known !== null) found.set(pattern, known);
    }
    return found;
  }

  async #query(patterns: readonly string[], request: Request, deps: Deps): Promise<void> {
    const { store, options } = deps.runner(request);
    const at = performance.now();
    try {
      const rows = await store.rows(statement(patterns, request, deps), { ...options, signal: AbortSignal.timeout(WAIT_MS) });
      const found = new Map(rows.map((row) => [String(row[0]), knownOf(row)]));
      for (const pattern of patterns) this.#known.set(keyOf(request, pattern), { at, pattern: found.get(pattern) ?? null });
    } catch {
      // a search is answered all the same
    }
  }
}

const knownOf = ([, fingerprint, first, occurrences]: Row): KnownPattern => ({
  fingerprint: String(fingerprint),
  firstSeen: formatTime(BigInt(String(first)) * MS),
  occurrences: Number(occurrences),
});

const keyOf = ({ tenantId }: Request, pattern: string): string => `${String(tenantId)}/${pattern}`;

function statement(patterns: readonly string[], { tenantId, retentionDays }: Request, deps: Deps): Sql {
  const now = deps.now();
  const words = latestPatterns(tenantId);
  const roots = sql`(SELECT root FROM ${words} WHERE number IN ${numbersOf(patterns)})`;
  const members = sql`(SELECT number FROM ${words} WHERE root IN ${roots})`;
  const window = { start: retentionFloor(now, retentionDays) ?? MIN_TIME, end: now, isOpen: true };
  const counts = sql`SELECT pattern, sum(entries) AS n FROM ${patternCounts(tenantId, window, [sql`pattern IN ${members}`])} GROUP BY pattern`;
  const clusters = sql`SELECT root, min(first) AS earliest, sum(n) AS occurrences FROM ${words} AS m LEFT JOIN (${counts}) AS c ON m.number = c.pattern WHERE root IN ${roots} GROUP BY root`;
  return sql`SELECT substring(own.fingerprint, 1, 16), own.root, toString(earliest), toString(occurrences) FROM (SELECT fingerprint, root FROM ${words} WHERE number IN ${numbersOf(patterns)}) AS own INNER JOIN (${clusters}) AS whole ON own.root = whole.root WHERE occurrences > 0`;
}
