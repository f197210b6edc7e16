import { BACKSLASH, QUOTE, SPACE } from '../../wire/bytes.ts';
import type { Draft } from '../../logs/draft.ts';
import { MAX_NAME_BYTES } from '../../logs/names.ts';

const EQUALS = 0x3d;
const OPEN = 0x5b;
const CLOSE = 0x5d;
const DOT = 0x2e;

/** `<sdid>.<name>` of the parameter being read. */
const fieldName = Buffer.allocUnsafeSlow(MAX_NAME_BYTES);

/**
 * Reads STRUCTURED-DATA (RFC 5424, 6.3): `[id name="value" …][…]`, each parameter a field `<id>.<name>`. Gives the offset after it,
 * or -1 where it is malformed; fields that came before the fault stay.
 */
export function readStructuredData(draft: Draft, at: number, end: number): number {
  let i = at;
  while (i < end && draft.body[i] === OPEN) {
    i = readElement(draft, i + 1, end);
    if (i < 0) return -1;
  }
  return i === end || draft.body[i] === SPACE ? i : -1;
}

/** Reads one element from behind its bracket to behind the other. */
function readElement(draft: Draft, at: number, end: number): number {
  const { body } = draft;
  const idEnd = copyName(body, at, end, 0);
  if (idEnd < 0) return -1;
  const prefix = idEnd - at;
  fieldName[prefix] = DOT;
  let i = idEnd;
  for (;;) {
    while (i < end && body[i] === SPACE) i += 1;
    if (i >= end) return -1;
    if (body[i] === CLOSE) return i + 1;
    const nameEnd = copyName(body, i, end, prefix + 1);
    if (nameEnd < 0 || body[nameEnd] !== EQUALS || body[nameEnd + 1] !== QUOTE) return -1;
    i = readValue(draft, prefix + 1 + nameEnd - i, nameEnd + 2, end);
    if (i < 0) return -1;
  }
}

/** Copies the name at `at` into the field's name from `to` on; gives the offset after it, or -1 where it is none or too long. */
function copyName(body: Buffer, at: number, end: number, to: number): number {
  let i = at;
  for (; i < end; i++) {
    const byte = body[i] as number;
    if (byte <= SPACE || byte === EQUALS || byte === QUOTE || byte === CLOSE) break;
    // one byte is left for the dot
    if (to + i - at >= MAX_NAME_BYTES - 1) return -1;
    fieldName[to + i - at] = byte;
  }
  return i > at ? i : -1;
}

/** Reads a value from behind its quote, as the field whose name has `nameLength` bytes; gives the offset behind the other quote. */
function readValue(draft: Draft, nameLength: number, at: number, end: number): number {
  const { body } = draft;
  let escaped = false;
  let i = at;
  while (i < end && body[i] !== QUOTE) {
    if (body[i] === BACKSLASH) {
      escaped = true;
      i += 1;
    }
    i += 1;
  }
  if (i >= end) return -1;
  const name = draft.names.ofBytes(fieldName, 0, nameLength);
  if (escaped) {
    const value = unescape(body, at, i);
    draft.putText(name, value, 0, value.length);
  } else draft.putText(name, body, at, i);
  return i + 1;
}

/** `\"`, `\\` and `\]` are escapes; before anything else a backslash is itself (RFC 5424, 6.3.3). */
function unescape(bytes: Buffer, start: number, end: number): Buffer {
  const text = Buffer.allocUnsafe(end - start);
  let length = 0;
  for (let i = start; i < end; i++) {
    const next = bytes[i + 1];
    if (bytes[i] === BACKSLASH && (next === QUOTE || next === BACKSLASH || next === CLOSE)) i += 1;
    text[length++] = bytes[i] as number;
  }
  return text.subarray(0, length);
}
