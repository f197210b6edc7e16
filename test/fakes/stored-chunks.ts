import type { Range } from '../../pipeline/bus/consumer/range.ts';
import type { SignalRecord } from '../../pipeline/bus/records/signal-record.ts';
import { ReplayWriter } from '../../pipeline/replay/replay-writer.ts';
import { SessionBounds } from '../../pipeline/replay/session-bounds.ts';
import { replayNormalizers } from '../../pipeline/normalizers/index.ts';
import type { Store } from '../../pipeline/store/client.ts';
import { replayChunksSink } from '../../sinks/replay-chunks.ts';
import { rowsRequest } from '../pipeline/replay/take-events.ts';

/** When the sessions of tests begin, milliseconds since 1970: 2026-11-18T12:00:00Z. */
export const REPLAY_AT = 1_795_003_200_000;

/** An event as a recorder sends it, milliseconds after REPLAY_AT. */
export const replayEvent = (after: number, type: number, data: unknown = {}): object => ({ type, data, timestamp: REPLAY_AT + after });

let offset = 0;

/** What a request puts on the log of a tenant, as the sink stores it: in records with the offsets that follow, appended a second later each. */
export async function storeChunks(store: Store, tenantId: number, write: (out: ReplayWriter) => void): Promise<void> {
  const out = new ReplayWriter(new SessionBounds(), rowsRequest({ tenantId }));
  write(out);
  const records = out.chunks().map((chunk) => {
    const { count } = chunk;
    const { value, encoding } = chunk.encode();
    offset += 1;
    return {
      offset,
      timestamp: REPLAY_AT + offset * 1000,
      replayOf: null,
      fault: null,
      tenantId,
      retentionDays: 0,
      count,
      bytes: 0,
      encoding,
      value,
    };
  }) as unknown as SignalRecord[];
  const range = { partition: 0, start: records[0]?.offset ?? 0, end: offset + 1, records, inDoubt: null } as unknown as Range;
  const { text, body, settings = {} } = replayChunksSink.insert(range);
  await store.insert(text, body, { queryId: `test-replay-${String(offset)}-${String(Math.random())}`, settings });
}

/** Takes the body of a batch. */
function takeBatch(batch: object, out: ReplayWriter): void {
  const body = Buffer.from(JSON.stringify(batch));
  const request = { path: '', contentType: '', query: new URLSearchParams(), header: () => '', body, maxBytes: Infinity, receivedAt: 0n };
  replayNormalizers.members[0]?.normalize(request, out);
}

/** The same of the bodies of batches, one after the other. */
export async function storeBatches(store: Store, tenantId: number, batches: readonly object[]): Promise<void> {
  for (const batch of batches)
    await storeChunks(store, tenantId, (out) => {
      takeBatch(batch, out);
    });
}

/** The same of all of them at once, in records that many share. */
export const storeTogether = (store: Store, tenantId: number, batches: readonly object[]): Promise<void> =>
  storeChunks(store, tenantId, (out) => {
    for (const batch of batches) takeBatch(batch, out);
  });
