import { randomUUID } from 'node:crypto';
import { parseStream } from '../pipeline/core/labels.ts';
import { logsSignal } from '../pipeline/logs/logs-signal.ts';
import type { LogRecord } from '../pipeline/logs/record.ts';
import type { Store } from '../pipeline/store/client.ts';
import { logsInsert } from './logs-body.ts';
import { KnownStreams, type StreamKey } from './known-streams.ts';
import { MAX_PARTITIONS, type Sink } from './sink.ts';

const STREAMS_DEADLINE_MS = 60_000;

/** Entries into `logs`, and the streams they belong to into `streams`, before them. */
export function createLogsSink(): Sink<LogRecord> {
  let known = new KnownStreams();
  return {
    name: 'logs',
    signal: logsSignal,
    table: 'logs',

    forget() {
      known = new KnownStreams();
    },

    async prepare(records: readonly LogRecord[], store: Store): Promise<void> {
      const fresh = newStreams(records, known);
      if (fresh.size === 0) return;
      const body = Buffer.from(Array.from(fresh.values(), ({ row }) => `${row}\n`).join(''));
      await store.insert('INSERT INTO streams FORMAT JSONEachRow', [body], {
        queryId: `streams-${randomUUID()}`,
        settings: { async_insert: 0, max_partitions_per_insert_block: MAX_PARTITIONS },
        signal: AbortSignal.timeout(STREAMS_DEADLINE_MS),
      });
      for (const { key } of fresh.values()) known.add(key);
    },

    insert: (range, options) => logsInsert([range], options),
    insertAll: logsInsert,
  };
}

/** A row of `streams` as JSON, and what it is known under once it is written. */
export type FreshStream = { readonly key: StreamKey; readonly row: string };

/** The rows of `streams` that may not be there yet. */
export function newStreams(records: readonly LogRecord[], known: KnownStreams): Map<string, FreshStream> {
  const fresh = new Map<string, FreshStream>();
  for (const { tenantId, retentionDays, streams } of records) {
    for (const [id, { text, days }] of streams) {
      for (const day of days) {
        const key = { tenantId, retentionDays, day, id };
        if (known.has(key)) continue;
        const name = `${String(tenantId)}/${String(retentionDays)}/${String(day)}/${id}`;
        if (!fresh.has(name)) fresh.set(name, { key, row: rowOf(key, text) });
      }
    }
  }
  return fresh;
}

function rowOf({ tenantId, retentionDays, day, id }: StreamKey, text: string): string {
  const labels = Object.fromEntries(parseStream(text));
  return JSON.stringify({ tenant_id: tenantId, day: streamDay(day), stream_id: id, _stream: text, labels, retention_days: retentionDays });
}

/** Days as ClickHouse's Date holds them: 0 to 65535, which is 1970 to 2149; earlier and later ones share the ends. */
const streamDay = (day: number): number => Math.min(65_535, Math.max(0, day));
