import { HYPHEN, SPACE } from '../../wire/bytes.ts';
import type { Draft } from '../../logs/draft.ts';
import type { SplitTime } from '../../rows/halves.ts';
import type { EntryWriter } from '../../logs/writer.ts';
import { afterByteOrderMark, untilSpace } from '../shared/bytes.ts';
import { FORMAT, HOSTNAME, MSG_ID, PROC_ID, putAppName, putHeader, TIMESTAMP } from './header-names.ts';
import { readStructuredData } from './structured-data.ts';
import { readIsoStamp, type Clock } from './timestamp.ts';

const OPEN = 0x5b;
const NAME = Buffer.from('rfc5424');

const time: SplitTime = { seconds: 0, nanos: 0 };

/** Whether the header of RFC 5424 begins at `at`: version 1, and behind it a time's first digit or `-`. */
export function isRfc5424(bytes: Buffer, at: number, end: number): boolean {
  if (bytes[at] !== 0x31 || bytes[at + 1] !== SPACE || at + 2 >= end) return false;
  const first = bytes[at + 2] as number;
  return (first >= 0x30 && first <= 0x39) || (first === HYPHEN && (at + 3 === end || bytes[at + 3] === SPACE));
}

/**
 * Reads the frame that ends at `end` from its version at `at` on: `1 TIMESTAMP HOSTNAME APP-NAME PROCID MSGID STRUCTURED-DATA MSG`
 * (RFC 5424, 6). Gives the offset where the message begins. A frame without one has its structured data as its message, or else the
 * whole frame, from `start` on. Without `structured` the message follows MSGID, as in Logplex's frames.
 */
export function readRfc5424(
  out: EntryWriter,
  draft: Draft,
  start: number,
  at: number,
  end: number,
  clock: Clock,
  structured: boolean,
): number {
  const { body } = draft;
  draft.putText(FORMAT.in(draft.names), NAME, 0, NAME.length);
  const timeAt = at + 2;
  const host = untilSpace(body, timeAt, end) + 1;
  readTime(out, draft, timeAt, host - 1, clock);
  if (host > end) return start;
  const app = untilSpace(body, host, end) + 1;
  putHeader(draft, HOSTNAME, host, app - 1);
  if (app > end) return start;
  const process = untilSpace(body, app, end) + 1;
  putAppName(draft, app, process - 1);
  if (process > end) return start;
  const message = untilSpace(body, process, end) + 1;
  putHeader(draft, PROC_ID, process, message - 1);
  if (message > end) return start;
  const rest = untilSpace(body, message, end) + 1;
  putHeader(draft, MSG_ID, message, rest - 1);
  if (rest > end) return start;
  const text = structured ? afterStructuredData(draft, rest, end) : rest;
  if (text >= end) return body[rest] === OPEN && structured ? rest : start;
  const unmarked = afterByteOrderMark(body, text);
  return unmarked < end ? unmarked : text;
}

/** The offset of the message behind `-` or structured data; what is neither is the message itself. */
function afterStructuredData(draft: Draft, at: number, end: number): number {
  const { body } = draft;
  if (body[at] === HYPHEN && (at + 1 === end || body[at + 1] === SPACE)) return at + 2;
  if (body[at] !== OPEN) return at;
  const after = readStructuredData(draft, at, end);
  return after < 0 ? at : after + 1;
}

/** Takes the frame's time; one that is unreadable stays a field. */
function readTime(out: EntryWriter, draft: Draft, start: number, end: number, clock: Clock): void {
  const { body } = draft;
  if (readIsoStamp(body, start, end, clock, time)) out.timeIs(time.seconds, time.nanos);
  else if (body[start] === HYPHEN) return;
  else if (!out.timeIsText(body.toString('utf8', start, Math.min(end, start + 65)))) putHeader(draft, TIMESTAMP, start, end);
}
