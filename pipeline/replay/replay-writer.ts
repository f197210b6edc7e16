import { sessionTooLarge } from '../core/errors.ts';
import { LayoutChunk } from '../intake/layout-writer.ts';
import { Rejections } from '../intake/rejections.ts';
import type { Intake, RowChunk, RowsRequest, RowWriter } from '../intake/rows.ts';
import { placeOf, tenantSeed } from '../intake/shard.ts';
import { timeBounds } from '../intake/time-bounds.ts';
import { MAX_SESSION_MS, replayLayout, TOMBSTONE, type ReplayChunk } from './chunk.ts';
import { chunksOf, type BatchLabels, type FoundEvent } from './event-batch.ts';
import { replaySignal } from './replay-signal.ts';
import { SessionBounds } from './session-bounds.ts';

/** A record of Kafka takes 8 MiB. */
export const MAX_EVENT_BYTES = 8_000_000;
/** What a row takes beside its events and strings. */
const ROW_BYTES = 150;

/** Takes the events of one request, batch by batch: events first, then whose they are. */
export class ReplayWriter implements RowWriter {
  readonly options: RowsRequest;
  readonly rejected = new Rejections();
  readonly limited = 0;
  accepted = 0;
  total = 0;
  readonly #bounds: SessionBounds;
  readonly #seed: number;
  /** The first and the last time that an event may have. Milliseconds. */
  readonly #times: readonly [first: number, last: number];
  #events: FoundEvent[] = [];
  readonly #open = new Map<number, LayoutChunk<ReplayChunk>>();
  readonly #done: LayoutChunk<ReplayChunk>[] = [];

  constructor(bounds: SessionBounds, options: RowsRequest) {
    this.#bounds = bounds;
    this.options = options;
    this.#seed = tenantSeed(options.tenantId);
    const [first, last] = timeBounds(options);
    this.#times = [first * 1000, last * 1000 + 999];
  }

  /** Takes an event into the batch, or rejects it. */
  add(event: FoundEvent): void {
    const { source, start, end, time } = event;
    const [first, last] = this.#times;
    if (end - start > MAX_EVENT_BYTES) this.reject(`longer than ${String(MAX_EVENT_BYTES)} bytes`, source, start, end);
    else if (time < first) this.reject(this.#tooOld(), source, start, end);
    else if (time > last) this.reject(this.#tooNew(), source, start, end);
    else {
      this.#events.push(event);
      this.accepted += 1;
      this.total += 1;
    }
  }

  /** Counts an event that is not taken. The reason is general; `detail` is about this one. */
  reject(reason: string, source?: Buffer, from?: number, to?: number, detail: (() => string) | null = null): void {
    this.rejected.add(this.total, reason, source, from, to, detail);
    this.total += 1;
  }

  /** Throws HttpError 413 for a session that takes no events any more, whatever is in the batch: before they are read. */
  refuseOver(session: string): void {
    const fault = this.#bounds.faultOf(this.options.tenantId, session);
    if (fault !== '') throw sessionTooLarge(fault);
  }

  /** Ends the batch: its events are those of a session. Throws HttpError 413 where the session then were too large. */
  close(labels: BatchLabels): void {
    const events = this.#events;
    this.#events = [];
    if (events.length === 0) return;
    const rows = chunksOf(events, labels);
    const bytes = rows.reduce((sum, row) => sum + row.bytes, 0);
    const { first } = rows[0] as ReplayChunk;
    const fault = this.#bounds.add(this.options.tenantId, labels.session, bytes, first, (rows.at(-1) as ReplayChunk).last);
    if (fault !== '') throw sessionTooLarge(fault);
    for (const row of rows) this.#put(row);
  }

  /** Deletes a session that began then (milliseconds): all of it that there is, and all that may come. */
  remove(session: string, start: number): void {
    const time = start + MAX_SESSION_MS;
    this.#put({
      ...{ kind: TOMBSTONE, session, seq: 0n, part: 0, first: time, last: time, events: 0, bytes: 0, clicks: [], errors: 0 },
      ...{ failedRequests: 0, snapshot: 0, meta: 0, urls: [], user: '', service: '', version: '', traceIds: [], body: Buffer.alloc(0) },
    });
  }

  chunks(): RowChunk[] {
    const chunks = [...this.#done, ...this.#open.values()];
    this.#done.length = 0;
    this.#open.clear();
    return chunks;
  }

  #put(row: ReplayChunk): void {
    const { partitions } = this.options;
    const place = placeOf(this.#seed, hashOf(row.session), partitions.length);
    const size = sizeOf(row);
    let chunk = this.#open.get(place);
    if (chunk?.fits({ size, count: 1 }) === false) {
      this.#done.push(chunk);
      chunk = undefined;
    }
    if (chunk === undefined) {
      chunk = new LayoutChunk(replayLayout, partitions[place] as number);
      this.#open.set(place, chunk);
    }
    chunk.add(row, size);
  }

  #tooOld(): string {
    const { retentionDays } = this.options;
    return retentionDays === 0
      ? 'the timestamp is before the year 1900'
      : `the timestamp is older than the retention of ${String(retentionDays)} days`;
  }

  #tooNew(): string {
    return this.options.retentionDays === 0 ? 'the timestamp is after the year 2261' : 'the timestamp is more than 2 days ahead';
  }
}

/** About what a row takes before it is compressed. */
function sizeOf({ body, urls, session, user, clicks, traceIds }: ReplayChunk): number {
  const strings = urls.reduce((sum, url) => sum + 3 * url.length, 3 * (session.length + user.length));
  return ROW_BYTES + body.length + strings + 8 * clicks.length + 33 * traceIds.length;
}

/** FNV-1a of a session's id: all of a session lies in one partition. */
function hashOf(session: string): number {
  let hash = 0x811c9dc5;
  for (let index = 0; index < session.length; index++) hash = Math.imul(hash ^ session.charCodeAt(index), 0x01000193);
  return hash;
}

/** How requests become rows of sessions, which have what `bounds` say. Events are limited by their bytes, and not by a rate. */
export function createReplayIntake(bounds = new SessionBounds()): Intake<ReplayWriter> {
  return { signal: replaySignal, unit: 'events', isRated: false, writer: (request) => new ReplayWriter(bounds, request) };
}
