import { NEWLINE, SPACE } from '../../wire/bytes.ts';
import { priorityAt, priorityLength } from './priority.ts';

/** A frame of a connection may have so many bytes; a longer one is passed over. RFC 5425 asks for 8192 at least. */
export const MAX_FRAME_BYTES = 65_536;
/** A count with more digits than this is not one. */
const MAX_COUNT_DIGITS = 8;

const RETURN = 0x0d;
const NUL = 0x00;
const OPEN = 0x3c;
/** `<191>` */
const LONGEST_PRIORITY = 5;
const NOTHING = Buffer.alloc(0);

/** What one look at the bytes found. `end`: where the frame, or what is passed over, ends; behind the bytes where that is still to come. */
type Found = { readonly kind: 'frame' | 'skip' | 'skip_line'; readonly end: number } | More;
/** The frame is still to come. `wants`: all octets until `end`, a line feed, or anything. */
type More = { readonly kind: 'more'; readonly end: number; readonly wants: 'octets' | 'line' | 'a look' };

/**
 * Finds the frames of a stream of syslog (RFC 6587): counted in octets, or ended by a line feed, each as it comes. A count is believed as in a
 * body (`frames.ts`): it leads to where another frame can begin. What it returns is a body of whole frames, in their order.
 */
export class StreamFramer {
  readonly #onTooLong: (start: Buffer) => void;
  /** Begins with a frame that has not come whole, of `#held` bytes. */
  #store: Buffer = NOTHING;
  #held = 0;
  /** What ends it: so many bytes, a line feed (Infinity), or whatever comes next (0). */
  #wanted = 0;
  /** Bytes to be passed over; -1: all until the next line feed. */
  #skip = 0;

  /** `onTooLong` is given the beginning of each frame that is passed over. */
  constructor(onTooLong: (start: Buffer) => void) {
    this.#onTooLong = onTooLong;
  }

  /** Bytes of a frame that has not come whole. */
  get held(): number {
    return this.#held;
  }

  /** The whole frames that end within these bytes; empty where none does. */
  push(chunk: Buffer): Buffer {
    if (this.#held === 0) return this.#take(chunk, false);
    if (this.#mayEndWith(chunk)) return this.#take(Buffer.concat([this.#rest, chunk]), false);
    this.#append(chunk);
    return NOTHING;
  }

  /** What is left at the end of the connection, or once its sender was waited for long enough. */
  end(): Buffer {
    return this.#take(this.#rest, true);
  }

  get #rest(): Buffer {
    return this.#store.subarray(0, this.#held);
  }

  /** False where the frame goes on behind these bytes: then those that came before them are not looked at again. */
  #mayEndWith(chunk: Buffer): boolean {
    const length = this.#held + chunk.length;
    if (this.#wanted === Infinity) return length > MAX_FRAME_BYTES || chunk.includes(NEWLINE);
    return length >= this.#wanted;
  }

  /** In place: a frame that comes byte by byte is not copied with each of them. */
  #append(chunk: Buffer): void {
    const length = this.#held + chunk.length;
    if (length > this.#store.length) {
      const larger = Buffer.allocUnsafe(Math.max(length, this.#held * 2));
      this.#rest.copy(larger);
      this.#store = larger;
    }
    chunk.copy(this.#store, this.#held);
    this.#held = length;
  }

  #take(bytes: Buffer, isFinal: boolean): Buffer {
    const parts: Buffer[] = [];
    let at = this.#passOver(bytes);
    let from = at;
    for (;;) {
      const found = find(bytes, at, isFinal);
      const { kind, end } = found;
      if (kind === 'more') {
        this.#wanted = found.wants === 'octets' ? end - at : found.wants === 'line' ? Infinity : 0;
        break;
      }
      if (kind !== 'frame') {
        parts.push(bytes.subarray(from, at));
        this.#onTooLong(bytes.subarray(at, at + MAX_FRAME_BYTES));
        this.#skip = kind === 'skip_line' ? -1 : Math.max(end - bytes.length, 0);
        from = kind === 'skip_line' ? this.#passOver(bytes.subarray(at)) + at : Math.min(end, bytes.length);
        at = from;
        continue;
      }
      at = end;
    }
    parts.push(bytes.subarray(from, at));
    // a copy, so that what is kept does not keep the whole buffer that it came in
    this.#store = at === bytes.length ? NOTHING : Buffer.from(bytes.subarray(at));
    this.#held = this.#store.length;
    const whole = parts.filter(({ length }) => length > 0);
    return whole.length === 1 ? (whole[0] as Buffer) : Buffer.concat(whole);
  }

  /** The offset behind what is still to be passed over. */
  #passOver(bytes: Buffer): number {
    if (this.#skip === 0) return 0;
    if (this.#skip > 0) {
      const passed = Math.min(this.#skip, bytes.length);
      this.#skip -= passed;
      return passed;
    }
    const lineFeed = bytes.indexOf(NEWLINE);
    if (lineFeed < 0) return bytes.length;
    this.#skip = 0;
    return lineFeed + 1;
  }
}

function find(bytes: Buffer, at: number, isFinal: boolean): Found {
  const { length } = bytes;
  if (at >= length) return { kind: 'more', end: at, wants: 'a look' };
  let digits = at;
  while (digits < length && digits - at < MAX_COUNT_DIGITS && isDigit(bytes[digits])) digits += 1;
  if (digits > at) {
    if (!isFinal && mayBeCount(bytes, digits)) return { kind: 'more', end: at, wants: 'a look' };
    const priority = bytes[digits] === SPACE ? priorityAt(bytes, digits + 1, length) : -1;
    if (priority >= 0) {
      const count = Number(bytes.toString('latin1', at, digits));
      const end = digits + 1 + count;
      if (count >= priorityLength(priority)) {
        if (count > MAX_FRAME_BYTES) return { kind: 'skip', end };
        if (end > length && !isFinal) return { kind: 'more', end, wants: 'octets' };
        if (end <= length && isEnd(bytes, end)) return { kind: 'frame', end };
      }
    }
  }
  const lineFeed = bytes.indexOf(NEWLINE, at);
  const end = lineFeed < 0 ? length : lineFeed + 1;
  if (end - at > MAX_FRAME_BYTES) return { kind: 'skip_line', end };
  return lineFeed < 0 && !isFinal ? { kind: 'more', end, wants: 'line' } : { kind: 'frame', end };
}

/** Whether more bytes can make a count of what ends at `at`. */
function mayBeCount(bytes: Buffer, at: number): boolean {
  if (at === bytes.length) return true;
  if (bytes[at] !== SPACE) return false;
  if (at + 1 === bytes.length) return true;
  return bytes[at + 1] === OPEN && bytes.length - at - 1 < LONGEST_PRIORITY && !bytes.includes(0x3e, at + 1);
}

/** Whether a counted frame can end at `end`. */
function isEnd(bytes: Buffer, end: number): boolean {
  const next = bytes[end];
  if (next === undefined || isDigit(next) || next === OPEN || next === NEWLINE || next === RETURN || next === NUL) return true;
  return bytes[end - 1] === NEWLINE;
}

function isDigit(byte: number | undefined): boolean {
  return byte !== undefined && byte >= 0x30 && byte <= 0x39;
}
