import { milliseconds, uint16, uint32, uint64, uint8 } from '../rows/fixed-types.ts';
import { Layout } from '../rows/layout.ts';
import { numberList } from '../rows/number-list-type.ts';
import { bytes, string, stringList, word } from '../rows/string-types.ts';

/** The name of the signal: its topic is `replay.v1`. */
export const REPLAY = 'replay';

/** An id of a session. */
export const SESSION_ID = /^[A-Za-z0-9_.-]{1,128}$/;

/** What a row is: events of a session, or that a session was deleted. */
export const EVENTS = 0;
export const TOMBSTONE = 1;

/** What a type of an event means, as rrweb numbers them; there are no others than 0 to 6. */
export const [FULL_SNAPSHOT, INCREMENT, META, CUSTOM, PLUGIN] = [2, 3, 4, 5, 6];
export const LAST_TYPE = 6;

/** A session has no event later than this after its first one. Milliseconds. */
export const MAX_SESSION_MS = 12 * 3_600_000;

/**
 * Events of one session that came in one batch, in the order of their times (docs/adr/0046-session-replay.md). What is counted of a session is
 * the sum over its rows, each batch once.
 */
export type ReplayChunk = {
  readonly kind: number;
  readonly session: string;
  /** The number of the batch in its session; with bit 63 a hash of its bytes, where it has no number. */
  readonly seq: bigint;
  /** Which part of a batch that was too long for one row. */
  readonly part: number;
  /** Times of the first and of the last event: milliseconds since 1970. Of a tombstone the latest time that the session may have. */
  readonly first: number;
  readonly last: number;
  readonly events: number;
  /** Of the events as JSON. */
  readonly bytes: number;
  /** Where and when it was clicked: see `clickOf`. */
  readonly clicks: readonly number[];
  readonly errors: number;
  readonly failedRequests: number;
  /** Times of the first full snapshot and of the first meta event: milliseconds since 1970, 0 for none. */
  readonly snapshot: number;
  readonly meta: number;
  /** Pages that were opened, each once. */
  readonly urls: readonly string[];
  readonly user: string;
  readonly service: string;
  readonly version: string;
  /** 32 hexadecimal digits each. */
  readonly traceIds: readonly string[];
  /** A line for each event: milliseconds after `first`, the type, and the event as JSON. */
  readonly body: Buffer;
};

/** Bits of a coordinate, and the largest one. */
const COORDINATE_BITS = 13;
const MOST_COORDINATE = 2 ** COORDINATE_BITS - 1;

/** A click as one number: milliseconds after the chunk's first event, and the place in the window. */
export function clickOf(after: number, x: number, y: number): number {
  const clamped = (value: number): number => Math.min(MOST_COORDINATE, Math.max(0, Math.round(value)));
  return (after * 2 ** COORDINATE_BITS + clamped(x)) * 2 ** COORDINATE_BITS + clamped(y);
}

/** The columns of a record of `replay.v1`, in their order. docs/topics.md is the specification. */
export const replayLayout = new Layout<ReplayChunk>(REPLAY, [
  { name: 'kind', type: uint8, member: 'kind', isGood: (kind) => kind === EVENTS || kind === TOMBSTONE },
  { name: 'session', type: string, member: 'session', isGood: (session) => session !== '' },
  { name: 'seq', type: uint64, member: 'seq' },
  { name: 'part', type: uint16, member: 'part' },
  { name: 'first', type: milliseconds, member: 'first' },
  { name: 'last', type: milliseconds, member: 'last', isGood: (last, row, { first }) => last >= first(row) },
  { name: 'events', type: uint32, member: 'events' },
  { name: 'bytes', type: uint32, member: 'bytes' },
  { name: 'clicks', type: numberList, member: 'clicks' },
  { name: 'errors', type: uint32, member: 'errors' },
  { name: 'failed_requests', type: uint32, member: 'failedRequests' },
  { name: 'snapshot', type: milliseconds, member: 'snapshot' },
  { name: 'meta', type: milliseconds, member: 'meta' },
  { name: 'urls', type: stringList, member: 'urls' },
  { name: 'user', type: string, member: 'user' },
  { name: 'service', type: word, member: 'service' },
  { name: 'version', type: word, member: 'version' },
  { name: 'trace_ids', type: stringList, member: 'traceIds' },
  { name: 'body', type: bytes, member: 'body' },
]);
