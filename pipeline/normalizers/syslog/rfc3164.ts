import { COLON, SPACE } from '../../wire/bytes.ts';
import type { Draft } from '../../logs/draft.ts';
import type { SplitTime } from '../../rows/halves.ts';
import type { EntryWriter } from '../../logs/writer.ts';
import { startsWith, untilSpace } from '../shared/bytes.ts';
import { FORMAT, HOSTNAME, PROC_ID, putAppName, putHeader } from './header-names.ts';
import { readBsdStamp, readIsoStamp, type Clock } from './timestamp.ts';

const PERCENT = 0x25;
const OPEN = 0x5b;
const CLOSE = 0x5d;
const NAME = Buffer.from('rfc3164');
/** AIX relays write `Message forwarded from HOST: ` in place of the host. */
const FORWARDED = Buffer.from('Message forwarded from ');
const MAX_TAG_BYTES = 128;
const MAX_HOST_BYTES = 255;

const time: SplitTime = { seconds: 0, nanos: 0 };

/**
 * Reads the frame that ends at `end` from behind its `<PRI>` on: `TIMESTAMP HOSTNAME TAG[PID]: MSG` (RFC 3164, 4.1), where host, tag
 * and the time itself may be missing. Gives the offset where the message begins; a frame without one is its own message, from
 * `start` on. Where there is no `<PRI>` (`at` is `start`), only a time of RFC 3164's own form makes it a frame; it is a plain
 * message otherwise.
 */
export function readRfc3164(out: EntryWriter, draft: Draft, start: number, at: number, end: number, clock: Clock): number {
  const stampEnd =
    at === start ? readBsdStamp(draft.body, at, end, clock, time) : readStamp(draft, skipSpaces(draft.body, at, end), end, clock);
  if (stampEnd >= 0) out.timeIs(time.seconds, time.nanos);
  if (stampEnd >= 0 || at > start) draft.putText(FORMAT.in(draft.names), NAME, 0, NAME.length);
  const text = stampEnd < 0 ? (at > start ? skipSpaces(draft.body, at, end) : at) : readOrigin(draft, stampEnd, end);
  return text < end ? text : start;
}

/** The offset after the time behind a `<PRI>`, in one of the forms in use; -1 where there is none. */
function readStamp(draft: Draft, at: number, end: number, clock: Clock): number {
  const bytes = draft.body;
  const first = bytes[at] as number;
  if (first >= 0x30 && first <= 0x39) {
    // rsyslog's RSYSLOG_ForwardFormat
    const after = untilSpace(bytes, at, end);
    if (readIsoStamp(bytes, at, after, clock, time)) return after;
  }
  const after = readBsdStamp(bytes, at, end, clock, time);
  return after >= 0 ? after : readCiscoStamp(draft, at, end, clock);
}

/**
 * Cisco's heads: IOS' `148: router1: *Nov  3 2026 10:00:00.123 UTC: %…`, where a running number, the device's name (`logging origin-id`), and a
 * star or dot while the clock is not synchronised may stand before the time, and NX-OS' `: 2026 Nov 25 10:00:00 GMT: %…`.
 */
function readCiscoStamp(draft: Draft, at: number, end: number, clock: Clock): number {
  const bytes = draft.body;
  let i = skipSequence(bytes, at, end);
  let after = readBsdStamp(bytes, skipMark(bytes, i), end, clock, time);
  if (after >= 0) return after;
  const hostEnd = tokenEnd(bytes, i, Math.min(end, i + MAX_HOST_BYTES));
  if (hostEnd === i || bytes[hostEnd] !== COLON || bytes[hostEnd + 1] !== SPACE) return -1;
  const host = i;
  i = skipSequence(bytes, skipSpaces(bytes, hostEnd + 1, end), end);
  after = readBsdStamp(bytes, skipMark(bytes, i), end, clock, time);
  if (after >= 0) putHeader(draft, HOSTNAME, host, hostEnd);
  return after;
}

/** Behind `148: `, `: `, or both. */
function skipSequence(bytes: Buffer, at: number, end: number): number {
  let i = at;
  while (i < end && (bytes[i] as number) >= 0x30 && (bytes[i] as number) <= 0x39) i += 1;
  return bytes[i] === COLON && bytes[i + 1] === SPACE ? skipSpaces(bytes, i + 1, end) : at;
}

const skipMark = (bytes: Buffer, at: number): number => (bytes[at] === 0x2a || bytes[at] === 0x2e ? at + 1 : at);

/** Reads host, tag and process from behind the time; gives the offset of the message. */
function readOrigin(draft: Draft, at: number, end: number): number {
  const { body } = draft;
  if (body[at] === COLON) return skipSpaces(body, at + 1, end);
  let i = skipSpaces(body, at, end);
  // a Cisco message's name, `%ASA-6-302013:`, is part of the message
  if (body[i] === PERCENT) return i;
  let tagged = readTag(draft, i, end);
  if (tagged >= 0) return tagged;
  i = readHost(draft, i, end);
  if (body[i] === COLON && body[i + 1] === SPACE) i += 2;
  if (body[i] === PERCENT) return i;
  tagged = readTag(draft, i, end);
  return tagged < 0 ? i : tagged;
}

function readHost(draft: Draft, at: number, end: number): number {
  const { body } = draft;
  const forwarded = startsWith(body, at, FORWARDED);
  const from = forwarded ? at + FORWARDED.length : at;
  const after = untilSpace(body, from, end);
  putHeader(draft, HOSTNAME, from, forwarded && body[after - 1] === COLON ? after - 1 : after);
  return Math.min(after + 1, end);
}

/** Reads `TAG: `, `TAG[PID]: ` or `TAG[PID] ` and gives the offset after it; -1 where there is none, and nothing is put in. */
function readTag(draft: Draft, at: number, end: number): number {
  const { body } = draft;
  const limit = Math.min(end, at + MAX_TAG_BYTES);
  const tagEnd = tokenEnd(body, at, limit);
  if (tagEnd === at) return -1;
  let after = tagEnd;
  let pidEnd = tagEnd;
  if (body[tagEnd] === OPEN) {
    pidEnd = tagEnd + 1;
    while (pidEnd < limit && (body[pidEnd] as number) > SPACE && body[pidEnd] !== CLOSE) pidEnd += 1;
    if (pidEnd >= limit || body[pidEnd] !== CLOSE) return -1;
    after = pidEnd + 1;
  } else if (body[tagEnd] !== COLON || tagEnd >= end) return -1;
  if (after < end && body[after] === COLON) after += 1;
  if (after < end && body[after] !== SPACE) return -1;
  putAppName(draft, at, tagEnd);
  if (pidEnd > tagEnd) putHeader(draft, PROC_ID, tagEnd + 1, pidEnd);
  return Math.min(after + 1, end);
}

/** The end of a tag's letters: a space, a colon, a bracket or a control character. */
function tokenEnd(bytes: Buffer, at: number, end: number): number {
  let i = at;
  for (; i < end; i++) {
    const byte = bytes[i] as number;
    if (byte <= SPACE || byte === COLON || byte === OPEN) break;
  }
  return i;
}

function skipSpaces(bytes: Buffer, at: number, end: number): number {
  let i = at;
  while (i < end && bytes[i] === SPACE) i += 1;
  return i;
}
