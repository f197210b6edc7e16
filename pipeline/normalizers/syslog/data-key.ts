import { BACKSLASH, QUOTE, SPACE } from '../../wire/bytes.ts';
import { afterByteOrderMark } from '../shared/bytes.ts';
import { nextFrame, type Frame } from './frames.ts';
import { priorityAt, priorityLength } from './priority.ts';
import { isRfc5424 } from './rfc5424.ts';

const OPEN = 0x5b;
const CLOSE = 0x5d;
/** TIMESTAMP, HOSTNAME, APP-NAME, PROCID and MSGID stand between the version and the data. */
const FIELDS_BEFORE = 5;
const MAX_KEY_LENGTH = 200;
/** `[logweir@32473 key="…"]`, whatever number it has. */
const ELEMENT = /^\[logweir@\d{1,10} +key="([A-Za-z0-9_-]+)"\]$/;
const NIL = Buffer.from('-');

/** The frames of a body that came under one key, as a body; `key`: null where none was found in them. */
export type KeyedFrames = { readonly key: string | null; readonly body: Buffer; readonly frames: number };

/** Parts a body by the keys in the structured data of its frames. Each key's element is taken out, so that it is not stored. */
export function framesByKey(body: Buffer): readonly KeyedFrames[] {
  const parts = new Map<string | null, { readonly chunks: Buffer[]; frames: number }>();
  const frame: Frame = { start: 0, end: 0 };
  for (let at = nextFrame(body, afterByteOrderMark(body, 0), frame); at >= 0; at = nextFrame(body, at, frame)) {
    const { key, text } = withoutKey(body, frame);
    const part = parts.get(key) ?? { chunks: [], frames: 0 };
    parts.set(key, part);
    part.frames += 1;
    pushCounted(part.chunks, text);
  }
  return [...parts].map(([key, { chunks, frames }]) => ({ key, frames, body: Buffer.concat(chunks) }));
}

/** Appends a frame so that a body's reader finds it again, whatever is in it. */
export function pushCounted(chunks: Buffer[], frame: Buffer): void {
  if (priorityAt(frame, 0, frame.length) >= 0) chunks.push(Buffer.from(`${String(frame.length)} `));
  // behind a counted one too, where what follows may not look like a frame
  chunks.push(frame, LINE_FEED);
}
const LINE_FEED = Buffer.from('\n');

/** How many frames a body has. */
export function countFrames(body: Buffer): number {
  const frame: Frame = { start: 0, end: 0 };
  let count = 0;
  for (let at = nextFrame(body, afterByteOrderMark(body, 0), frame); at >= 0; at = nextFrame(body, at, frame)) count += 1;
  return count;
}

function withoutKey(body: Buffer, { start, end }: Frame): { readonly key: string | null; readonly text: Buffer } {
  const whole = body.subarray(start, end);
  const dataAt = dataStart(whole);
  let at = dataAt;
  while (at >= 0 && whole[at] === OPEN) {
    const after = elementEnd(whole, at);
    if (after < 0) break;
    const key = after - at > MAX_KEY_LENGTH + 40 ? undefined : ELEMENT.exec(whole.toString('latin1', at, after))?.[1];
    if (key !== undefined) {
      const isOnly = at === dataAt && whole[after] !== OPEN;
      return { key, text: Buffer.concat([whole.subarray(0, at), ...(isOnly ? [NIL] : []), whole.subarray(after)]) };
    }
    at = after;
  }
  return { key: null, text: whole };
}

/** Where the structured data of a frame of RFC 5424 begins; -1 of another. */
function dataStart(frame: Buffer): number {
  const priority = priorityAt(frame, 0, frame.length);
  if (priority < 0) return -1;
  let at = priorityLength(priority);
  if (!isRfc5424(frame, at, frame.length)) return -1;
  for (let field = 0; field <= FIELDS_BEFORE; field++) {
    const space = frame.indexOf(SPACE, at);
    if (space < 0) return -1;
    at = space + 1;
  }
  return at;
}

/** The offset behind the element that begins at `at`; -1 where it does not end. */
function elementEnd(frame: Buffer, at: number): number {
  let isQuoted = false;
  for (let i = at + 1; i < frame.length; i++) {
    const byte = frame[i];
    if (isQuoted && byte === BACKSLASH) i += 1;
    else if (byte === QUOTE) isQuoted = !isQuoted;
    else if (!isQuoted && byte === CLOSE) return i + 1;
  }
  return -1;
}
