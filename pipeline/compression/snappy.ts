import { crc32c } from './crc32c.ts';
import { corrupt, type TooLarge } from './corrupt.ts';

/**
 * Snappy, block and framed format, distinguished by the stream identifier. https://github.com/google/snappy (format_description.txt,
 * framing_format.txt). Our own reader, because snappyjs 0.7 loops for ever on a literal of negative length and takes a stream that
 * ends early for a whole one.
 */
export function inflateSnappy(bytes: Buffer, cap: number, tooLarge: TooLarge): Buffer {
  return isFramed(bytes) ? inflateFrames(bytes, cap, tooLarge) : inflateBlock(bytes, cap, tooLarge);
}

/** Whether it is the framed format. */
export const isFramed = (bytes: Buffer): boolean => bytes.subarray(0, STREAM_IDENTIFIER.length).equals(STREAM_IDENTIFIER);

const STREAM_IDENTIFIER = Buffer.from([0xff, 0x06, 0x00, 0x00, 0x73, 0x4e, 0x61, 0x50, 0x70, 0x59]);
const MAX_FRAME_BYTES = 65_536;

function fail(reason: string): never {
  throw corrupt('snappy', reason);
}

/** The length before a block, a varint of at most 32 bits, and the offset after it. */
export function readLength(bytes: Buffer): { readonly length: number; readonly after: number } {
  let length = 0;
  for (let at = 0; at < 5; at++) {
    const byte = bytes[at] ?? fail('it ends inside its length');
    length += (byte & 0x7f) * 2 ** (7 * at);
    if (byte < 0x80) return length < 2 ** 32 ? { length, after: at + 1 } : fail('its length has more than 32 bits');
  }
  return fail('its length has more than 32 bits');
}

/** Bytes beyond the end that a copy may touch, since copies go in steps of four. */
const SLACK = 3;

/** A block alone: its length as a varint, then literals and copies. */
export function inflateBlock(bytes: Buffer, cap: number, tooLarge: TooLarge): Buffer {
  const { length, after } = readLength(bytes);
  // the claim is checked before anything is allocated for it
  if (length > cap) throw tooLarge(length, false);
  const out = Buffer.allocUnsafe(length + SLACK);
  const [source, target] = [viewOf(bytes), viewOf(out)];
  let from = after;
  let to = 0;
  while (from < bytes.length) {
    const tag = bytes[from++] as number;
    const kind = tag & 3;
    if (kind === 0) {
      const extra = Math.max(0, (tag >>> 2) - 59);
      const size = (extra === 0 ? tag >>> 2 : readLittle(bytes, from, extra)) + 1;
      from += extra;
      if (from + size > bytes.length || to + size > length) fail('a literal leaves its bounds');
      if (size > 64 || from + size + SLACK > bytes.length) bytes.copy(out, to, from, from + size);
      else for (let i = 0; i < size; i += 4) target.setUint32(to + i, source.getUint32(from + i));
      from += size;
      to += size;
      continue;
    }
    const size = kind === 1 ? ((tag >>> 2) & 7) + 4 : (tag >>> 2) + 1;
    const offset = kind === 1 ? ((tag >>> 5) << 8) + readLittle(bytes, from, 1) : readLittle(bytes, from, kind === 2 ? 2 : 4);
    from += kind === 3 ? 4 : kind;
    if (offset === 0 || offset > to || to + size > length) fail('a copy leaves its bounds');
    // a copy may reach into what it writes itself: four bytes at once only where they are all there
    if (offset >= 4) for (let i = 0; i < size; i += 4) target.setUint32(to + i, target.getUint32(to + i - offset));
    else for (let i = to; i < to + size; i++) out[i] = out[i - offset] as number;
    to += size;
  }
  if (to !== length) fail('it ends before its length is reached');
  return out.subarray(0, length);
}

const viewOf = ({ buffer, byteOffset, length }: Buffer): DataView => new DataView(buffer, byteOffset, length);

/** A number of one to four bytes, the lowest first. */
function readLittle(bytes: Buffer, at: number, count: number): number {
  if (at + count > bytes.length) fail('it ends inside a tag');
  if (count === 1) return bytes[at] as number;
  if (count === 2) return (bytes[at] as number) + (bytes[at + 1] as number) * 256;
  return bytes.readUIntLE(at, count);
}

/** Chunks: type, 3 bytes of length, and for data a masked CRC-32C of the uncompressed bytes first. */
function inflateFrames(bytes: Buffer, cap: number, tooLarge: TooLarge): Buffer {
  const parts: Buffer[] = [];
  let total = 0;
  let at = 0;
  while (at < bytes.length) {
    if (at + 4 > bytes.length) fail('it ends inside the header of a chunk');
    const type = bytes[at] as number;
    const end = at + 4 + bytes.readUIntLE(at + 1, 3);
    if (end > bytes.length) fail('it ends inside a chunk');
    if (type === 0x00 || type === 0x01) {
      const part = frame(type, bytes.subarray(at + 4, end));
      total += part.length;
      if (total > cap) throw tooLarge(cap, true);
      parts.push(part);
    } else if (type === 0xff) {
      if (!bytes.subarray(at, end).equals(STREAM_IDENTIFIER)) fail('a stream identifier is wrong');
    } else if (type < 0x80) fail(`chunks of type ${String(type)} are reserved`);
    at = end;
  }
  return parts.length === 1 ? (parts[0] as Buffer) : Buffer.concat(parts, total);
}

function frame(type: number, chunk: Buffer): Buffer {
  if (chunk.length < 4) fail('a chunk has no checksum');
  const content = chunk.subarray(4);
  const tooLong = (): never => fail(`a chunk has more than ${String(MAX_FRAME_BYTES)} bytes`);
  if (type === 0x01 && content.length > MAX_FRAME_BYTES) tooLong();
  const out = type === 0x01 ? content : inflateBlock(content, MAX_FRAME_BYTES, tooLong);
  const crc = crc32c(out);
  const masked = (((crc >>> 15) | (crc << 17)) + 0xa282ead8) >>> 0;
  if (masked !== chunk.readUInt32LE(0)) fail('a checksum does not match');
  return out;
}
