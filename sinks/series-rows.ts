import { randomUUID } from 'node:crypto';
import xxhash from 'xxhash-wasm';
import { readDefinition } from '../pipeline/samples/definition.ts';
import { eachDefinition, type Visit } from '../pipeline/samples/record-definitions.ts';
import type { SamplesRecord } from '../pipeline/samples/samples-record.ts';
import type { Store } from '../pipeline/store/client.ts';
import { KnownStreams, scopeHash } from './known-streams.ts';
import { MAX_PARTITIONS } from './sink.ts';

const { h64Raw, h64 } = await xxhash();
const id = new BigUint64Array(1);
const halves = new Int32Array(id.buffer);
const [DAY_MS, LINE_FEED] = [86_400_000, 0x0a];
const DEADLINE_MS = 60_000;
/** Pages of definitions in each of two generations; each is of some sixty. */
const MAX_PAGES = 50_000;
/** Rows of one statement. */
const MOST_ROWS = 50_000;

/** The tables that say what series are, in the order in which they are written: a reader looks for series first. */
const TABLES = ['metrics', 'series_labels', 'series'] as const;
type Rows = Record<(typeof TABLES)[number], string[]>;
/** What becomes known once all rows are written. */
type Fresh = readonly [high: number, low: number, scope: number];
type FreshKeys = Record<'definitions' | 'others' | 'pages', Map<string, Fresh>>;

/** The metric that the series of a classic histogram or a summary are parts of. */
const familyOf = (metric: string, kind: string): string =>
  kind === 'histogram' || kind === 'summary' ? metric.replace(/_(?:bucket|sum|count)$/, '') : metric;

/** What of series, their labels and their metrics was written today, so that each is written once a day. */
export class SeriesRows {
  /** By the hash of the whole definition. */
  readonly #definitions = new KnownStreams();
  /** By the hash of a label with its metric, and of what is known of a metric. */
  readonly #others = new KnownStreams();
  /** By the hash of the frame of a page of definitions, all of which are known. */
  readonly #pages = new KnownStreams(MAX_PAGES);

  /** Writes the rows that may not be there yet, of definitions that may be in doubt too: safe to repeat. */
  async write(records: readonly SamplesRecord[], store: Store): Promise<void> {
    const rows: Rows = { metrics: [], series_labels: [], series: [] };
    const fresh: FreshKeys = { definitions: new Map(), others: new Map(), pages: new Map() };
    for (const record of records) if (record.count > 0) this.#collect(record, rows, fresh);
    for (const table of TABLES)
      for (let from = 0; from < rows[table].length; from += MOST_ROWS)
        await insertRows(store, table, rows[table].slice(from, from + MOST_ROWS));
    for (const [high, low, scope] of fresh.definitions.values()) this.#definitions.add(high, low, scope);
    for (const [high, low, scope] of fresh.others.values()) this.#others.add(high, low, scope);
    for (const [high, low, scope] of fresh.pages.values()) this.#pages.add(high, low, scope);
  }

  #collect(record: SamplesRecord, rows: Rows, { definitions, others, pages }: FreshKeys): void {
    const { tenantId, retentionDays, timestamp } = record;
    const day = Math.min(65_535, Math.max(0, Math.floor(timestamp / DAY_MS)));
    const scope = scopeHash({ tenantId, retentionDays, day });
    const shared = { tenant_id: tenantId, last: day, retention_days: retentionDays };
    const isFresh = (known: KnownStreams, fresh: Map<string, Fresh>): boolean => {
      const [high, low] = [halves[1] as number, halves[0] as number];
      if (known.has(high, low, scope)) return false;
      const key = `${String(high)}/${String(low)}/${String(scope)}`;
      if (fresh.has(key)) return false;
      fresh.set(key, [high, low, scope]);
      return true;
    };
    const isKnownPage = (frame: Buffer): boolean => {
      id[0] = h64Raw(frame);
      return !isFresh(this.#pages, pages);
    };
    const define: Visit = (bytes, start, end) => {
      id[0] = h64Raw(bytes.subarray(start, end));
      if (!isFresh(this.#definitions, definitions)) return;
      const read = readDefinition(bytes.toString('utf8', start, end));
      if (read === null) return;
      const { labels, facts, metric } = read;
      const { kind, unit, help, isDelta } = facts;
      id[0] = h64(`${familyOf(metric, kind)}\n${JSON.stringify(facts)}`);
      if ((kind !== 'unknown' || unit !== '' || help !== '') && isFresh(this.#others, others))
        rows.metrics.push(JSON.stringify({ ...shared, metric: familyOf(metric, kind), kind, unit, help }));
      if (labels.length === 0) return;
      const lineEnd = bytes.indexOf(LINE_FEED, start);
      const series = h64Raw(bytes.subarray(start, lineEnd < 0 || lineEnd > end ? end : lineEnd));
      rows.series.push(JSON.stringify({ ...shared, metric, series: String(series), labels: Object.fromEntries(labels), kind, is_delta: isDelta ? 1 : 0 })); // prettier-ignore
      for (const [label, value] of labels) {
        id[0] = h64(`${label}\n${metric}\n${value}`);
        if (isFresh(this.#others, others)) rows.series_labels.push(JSON.stringify({ ...shared, label, value, metric }));
      }
    };
    eachDefinition(record, define, isKnownPage);
  }
}

async function insertRows(store: Store, table: string, lines: readonly string[]): Promise<void> {
  await store.insert(`INSERT INTO ${table} FORMAT JSONEachRow`, [Buffer.from(lines.map((line) => `${line}\n`).join(''))], {
    queryId: `${table}-${randomUUID()}`,
    // the tables merge equal rows; without a token of its own, a block that one once had and has lost would be dropped
    settings: { async_insert: 0, insert_deduplication_token: randomUUID(), max_partitions_per_insert_block: MAX_PARTITIONS },
    signal: AbortSignal.timeout(DEADLINE_MS),
  });
}
