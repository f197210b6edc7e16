import { randomUUID } from 'node:crypto';
import { parseStream } from '../pipeline/core/labels.ts';
import { idText } from '../pipeline/logs/id-text.ts';
import { logsSignal } from '../pipeline/logs/logs-signal.ts';
import type { LogRecord } from '../pipeline/logs/record.ts';
import type { Store } from '../pipeline/store/client.ts';
import { logsInsert } from './logs-body.ts';
import { KnownStreams, scopeHash, type StreamScope } from './known-streams.ts';
import { MAX_PARTITIONS, type Sink } from './sink.ts';

const STREAMS_DEADLINE_MS = 60_000;

/** Entries into `logs`, and the streams they belong to into `streams`, before them. */
export function createLogsSink(): Sink<LogRecord> {
  let known = new KnownStreams();
  return {
    name: 'logs',
    signal: logsSignal,
    table: 'logs',
    fresh: createLogsSink,

    forget() {
      known = new KnownStreams();
    },

    async prepare(records: readonly LogRecord[], store: Store): Promise<void> {
      const fresh = newStreams(records, known);
      if (fresh.size === 0) return;
      const body = Buffer.from(Array.from(fresh.values(), ({ row }) => `${row}\n`).join(''));
      await store.insert('INSERT INTO streams FORMAT JSONEachRow', [body], {
        queryId: `streams-${randomUUID()}`,
        // the table merges equal rows; without a token of its own, a block that it once had and has lost would be dropped
        settings: { async_insert: 0, insert_deduplication_token: randomUUID(), max_partitions_per_insert_block: MAX_PARTITIONS },
        signal: AbortSignal.timeout(STREAMS_DEADLINE_MS),
      });
      for (const { high, low, scope } of fresh.values()) known.add(high, low, scope);
    },

    insert: (range, options) => logsInsert([range], options),
    insertAll: logsInsert,
  };
}

/** A row of `streams` as JSON, and what it is known under once it is written. */
export type FreshStream = { readonly high: number; readonly low: number; readonly scope: number; readonly row: string };

/** The rows of `streams` that may not be there yet. */
export function newStreams(records: readonly LogRecord[], known: KnownStreams): Map<string, FreshStream> {
  const fresh = new Map<string, FreshStream>();
  for (const { tenantId, retentionDays, streams } of records) {
    let [lastDay, scope] = [NaN, 0];
    streams.forEach((stream, day) => {
      const { high, low } = stream;
      if (day !== lastDay) scope = scopeHash({ tenantId, retentionDays, day });
      lastDay = day;
      if (known.has(high, low, scope)) return;
      const name = `${String(tenantId)}/${String(retentionDays)}/${String(day)}/${String(high)}/${String(low)}`;
      if (!fresh.has(name))
        fresh.set(name, { high, low, scope, row: rowOf({ tenantId, retentionDays, day }, idText(high, low), stream.text()) });
    });
  }
  return fresh;
}

function rowOf({ tenantId, retentionDays, day }: StreamScope, id: string, text: string): string {
  const labels = Object.fromEntries(parseStream(text));
  return JSON.stringify({ tenant_id: tenantId, day: streamDay(day), stream_id: id, _stream: text, labels, retention_days: retentionDays });
}

/** Days as ClickHouse's Date holds them: 0 to 65535, which is 1970 to 2149; earlier and later ones share the ends. */
const streamDay = (day: number): number => Math.min(65_535, Math.max(0, day));
