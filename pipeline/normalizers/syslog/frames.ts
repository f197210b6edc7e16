import { NEWLINE, SPACE } from '../../wire/bytes.ts';
import { endOfLine } from '../shared/bytes.ts';
import { priorityAt, priorityLength } from './priority.ts';

/** Where a frame lies in the body, without its count, line end and trailing NULs. */
export type Frame = { start: number; end: number };

const RETURN = 0x0d;
const NUL = 0x00;
const OPEN = 0x3c;
/** More digits than a body can have bytes. */
const MAX_COUNT_DIGITS = 10;

/**
 * Finds the next frame that is not empty, at or after `at`, and gives the offset after it; -1 where there is none. A frame is a line,
 * or `LENGTH SP <PRI>…` with its length in bytes (RFC 6587, 3.4.1: octet counting), which may hold line feeds; both kinds may stand
 * in one body. A length that leads past the body, or to where no frame can begin, is not believed: the frame then ends with its line.
 */
export function nextFrame(body: Buffer, at: number, frame: Frame): number {
  const { length } = body;
  for (let from = at; from < length;) {
    const start = afterCount(body, from);
    const counted = start === from ? -1 : countedEnd(body, from, start);
    const end = counted < 0 ? endOfLine(body, start) : counted;
    frame.start = start;
    frame.end = trimmedEnd(body, start, end);
    from = counted < 0 ? end + 1 : end;
    if (frame.end > start) return from;
  }
  return -1;
}

/** The offset after `LENGTH SP` where `<PRI>` follows, else `at`. */
function afterCount(body: Buffer, at: number): number {
  let i = at;
  while (i - at < MAX_COUNT_DIGITS && isDigit(body[i])) i += 1;
  return i > at && body[i] === SPACE && priorityAt(body, i + 1, body.length) >= 0 ? i + 1 : at;
}

/** Where the frame that begins at `start` ends by its count at `at`; -1 where the count cannot be right. */
function countedEnd(body: Buffer, at: number, start: number): number {
  let count = 0;
  for (let i = at; i < start - 1; i++) count = count * 10 + (body[i] as number) - 0x30;
  const end = start + count;
  if (count < priorityLength(priorityAt(body, start, body.length)) || end > body.length) return -1;
  const next = body[end];
  const whole =
    next === undefined ||
    isDigit(next) ||
    next === OPEN ||
    next === NEWLINE ||
    next === RETURN ||
    next === NUL ||
    body[end - 1] === NEWLINE;
  return whole ? end : -1;
}

function trimmedEnd(body: Buffer, start: number, end: number): number {
  let last = end;
  while (last > start && (body[last - 1] === NEWLINE || body[last - 1] === RETURN || body[last - 1] === NUL)) last -= 1;
  return last;
}

function isDigit(byte: number | undefined): boolean {
  return byte !== undefined && byte >= 0x30 && byte <= 0x39;
}
