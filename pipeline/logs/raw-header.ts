import { headerOf, type Header } from '../clusterer/headers/index.ts';
import { STRING, type Draft } from './draft.ts';

/** Bytes of a message in which its header may stand. */
const HEAD = 512;
/** Bytes that are looked at to see whether a message that begins with a letter has a header. */
const LOOKED_AT = 64;
const [SPACE, COMMA, ZERO, NINE, COLON, LESS, EQUALS, BRACKET, BACKSLASH, BRACE] = [0x20, 0x2c, 0x30, 0x39, 0x3a, 0x3c, 0x3d, 0x5b, 0x5c, 0x7b]; // prettier-ignore
const LOG = ['{"log":"', String.raw`{\"log\":\"`].map((text) => Buffer.from(text));

/** The header of a field's text, where that is a raw line which has one: what stands before its content, as programs write it (docs/patterns.md). */
export function rawHeader(draft: Draft, index: number): Header | null {
  if (draft.kinds[index] !== STRING) return null;
  const source = draft.inArena[index] === 1 ? draft.arena : draft.body;
  const [from, to] = [(draft.starts[index] as number) + 1, (draft.ends[index] as number) - 1];
  if (!mayBegin(source, from, to)) return null;
  const isEscaped = source.subarray(from, Math.min(to, from + HEAD)).includes(BACKSLASH);
  const isWhole = source[from] === BRACE;
  const bytes = isEscaped || isWhole ? Buffer.from(isWhole ? draft.text(index) : draft.text(index).slice(0, HEAD)) : source;
  const header = bytes === source ? headerOf(source, from, to) : headerOf(bytes, 0, bytes.length);
  return header.layout === '' ? null : header;
}

const isDigit = (byte: number | undefined): boolean => byte !== undefined && byte >= ZERO && byte <= NINE;

/** Whether a line that begins so may have a header: cheap, and true for each layout's example (`pipeline/clusterer/headers/layouts.ts`). */
export function mayBegin(bytes: Uint8Array, from: number, to: number): boolean {
  const first = bytes[from] as number;
  if (from >= to) return false;
  if (isDigit(first) || first === BRACKET || first === LESS || first === COLON) return true;
  if (first === BRACE) return LOG.some((mark) => mark.equals(bytes.subarray(from, Math.min(to, from + mark.length))));
  const [second, fourth] = [bytes[from + 1], bytes[from + 3]];
  // klog, Rails, and `May  6`
  if (isDigit(second) || second === COMMA) return true;
  if (fourth === SPACE && (isDigit(bytes[from + 4]) || isDigit(bytes[from + 5]))) return true;
  const end = Math.min(to, from + LOOKED_AT);
  for (let at = from; at < end; at++) {
    const byte = bytes[at];
    // `WARNING:shop:`, `time=`, and the time of an access log
    if ((byte === COLON || byte === EQUALS) && at - from <= 8) return true;
    if (byte === BRACKET && isDigit(bytes[at + 1])) return true;
  }
  return false;
}
