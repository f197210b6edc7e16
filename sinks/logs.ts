import { randomUUID } from 'node:crypto';
import { RecentMap } from '../pipeline/core/generations.ts';
import { parseStream } from '../pipeline/core/labels.ts';
import { logsSignal } from '../pipeline/logs/logs-signal.ts';
import type { LogRecord } from '../pipeline/logs/record.ts';
import type { Store } from '../pipeline/store/client.ts';
import { logsInsert } from './logs-body.ts';
import { MAX_PARTITIONS, type Sink } from './sink.ts';

/** Streams (by tenant, day and id) that this process has written lately, in each of two generations; writing one again does no harm. */
const MAX_KNOWN_STREAMS = 250_000;
const STREAMS_DEADLINE_MS = 60_000;

/** Entries into `logs`, and the streams they belong to into `streams`, before them. */
export function createLogsSink(): Sink<LogRecord> {
  let known = new RecentMap<string, true>(MAX_KNOWN_STREAMS);
  return {
    name: 'logs',
    signal: logsSignal,
    table: 'logs',

    forget() {
      known = new RecentMap<string, true>(MAX_KNOWN_STREAMS);
    },

    async prepare(records: readonly LogRecord[], store: Store): Promise<void> {
      const fresh = newStreams(records, known);
      if (fresh.size === 0) return;
      const body = Buffer.from([...fresh.values()].join('\n') + '\n');
      await store.insert('INSERT INTO streams FORMAT JSONEachRow', [body], {
        queryId: `streams-${randomUUID()}`,
        settings: { async_insert: 0, max_partitions_per_insert_block: MAX_PARTITIONS },
        signal: AbortSignal.timeout(STREAMS_DEADLINE_MS),
      });
      for (const key of fresh.keys()) known.set(key, true);
    },

    insert: (range, options) => logsInsert([range], options),
    insertAll: logsInsert,
  };
}

/** The rows of `streams` that may not be there yet, by their key. */
export function newStreams(records: readonly LogRecord[], known: RecentMap<string, true>): Map<string, string> {
  const fresh = new Map<string, string>();
  for (const { tenantId, retentionDays, streams } of records) {
    for (const [id, { text, days }] of streams) {
      for (const day of days) {
        const key = `${String(tenantId)}/${String(retentionDays)}/${String(day)}/${id}`;
        if (known.get(key) !== undefined || fresh.has(key)) continue;
        const labels = Object.fromEntries(parseStream(text));
        fresh.set(
          key,
          JSON.stringify({ tenant_id: tenantId, day: streamDay(day), stream_id: id, _stream: text, labels, retention_days: retentionDays }),
        );
      }
    }
  }
  return fresh;
}

/** Days as ClickHouse's Date holds them: 0 to 65535, which is 1970 to 2149; earlier and later ones share the ends. */
const streamDay = (day: number): number => Math.min(65_535, Math.max(0, day));
