import type { Chunk } from '../../../pipeline/logs/chunk.ts';
import { entriesIn } from '../../../pipeline/logs/columns/row-reader.ts';
import { EntryCodec, EntryWriter, validUtf8, type WriterOptions } from '../../../pipeline/logs/writer.ts';
import { readStreams } from '../../fakes/log-record.ts';
import type { FieldValue, LogEntry } from '../../../pipeline/core/entry.ts';

export const RECEIVED_AT = 1_795_269_600_000_000_000n; // 2026-11-21T14:00:00Z
export const codec = new EntryCodec();

/** Tenant 1, which keeps for ever. */
export const DEFAULTS: WriterOptions = { tenantId: 1, partitions: [0], retentionDays: 0, receivedAt: RECEIVED_AT, streamFields: null };

/** A writer for tenant 1, which keeps for ever, unless told otherwise. */
export function newWriter(options: Partial<WriterOptions> = {}): EntryWriter {
  return new EntryWriter(codec, { ...DEFAULTS, ...options });
}

/** The rows a writer holds, read back as entries. */
export function entriesOf(writer: EntryWriter): LogEntry[] {
  return writer.chunks().flatMap(entriesOfChunk);
}

/** The rows of a chunk, encoded and read back. The chunk must not be used any more. */
export function entriesOfChunk(chunk: Chunk): LogEntry[] {
  const { count } = chunk;
  const streams = readStreams(chunk.streams).toMap();
  return entriesIn(chunk.encode().value, count, (id) => streams.get(id)?.text ?? `no stream ${id}`);
}

/** What becomes of one JSON text: the entry, or why it is rejected, or 'invalid' where it is no JSON. */
export function canonical(json: string, options: Partial<WriterOptions> = {}): Record<string, unknown> | string {
  const writer = newWriter(options);
  const body = validUtf8(Buffer.from(json));
  if (writer.object(body, 0, body.length, true) < 0) return 'invalid';
  const [refused] = writer.rejected.first;
  if (refused !== undefined) return refused.reason;
  const entry: LogEntry = entriesOf(writer)[0] ?? new Map<string, FieldValue>();
  return Object.fromEntries([...entry].map(([name, value]) => [name, typeof value === 'string' ? value : { json: value.text }]));
}
