/**
 * A MessagePack tokenizer (https://github.com/msgpack/msgpack/blob/master/spec.md) over bytes. It makes no objects: what a value is
 * stands in `head`, its bytes stay where they are. So every integer keeps its digits, no key is special (@msgpack/msgpack refuses
 * `__proto__`), and neither counts nor depth of hostile input cost more than its bytes.
 */

export type Kind = 'nil' | 'bool' | 'int' | 'float' | 'str' | 'bin' | 'array' | 'map' | 'ext';

/**
 * What `readHead` read last. `size`: bytes of a str, bin or ext, elements of an array, pairs of a map; `start`: where its payload or
 * its first element begins; `type`: of an ext. Module state: the tokenizer is synchronous.
 */
export const head: { kind: Kind; start: number; size: number; type: number } = { kind: 'nil', start: 0, size: 0, type: 0 };

const FIX_EXT_SIZES = [1, 2, 4, 8, 16];

function found(kind: Kind, start: number, size: number, end: number): boolean {
  head.kind = kind;
  head.start = start;
  head.size = size;
  return start <= end;
}

/** Reads what the value at `at` is, up to its payload. False where it is cut off, or no MessagePack. */
export function readHead(bytes: Buffer, at: number, end: number): boolean {
  if (at >= end) return false;
  const byte = bytes[at] as number;
  if (byte < 0x80 || byte >= 0xe0) return found('int', at + 1, 0, end);
  if (byte < 0x90) return found('map', at + 1, byte & 0x0f, end);
  if (byte < 0xa0) return found('array', at + 1, byte & 0x0f, end);
  if (byte < 0xc0) return found('str', at + 1, byte & 0x1f, end);
  if (byte === 0xc0) return found('nil', at + 1, 0, end);
  if (byte === 0xc1) return false;
  if (byte <= 0xc3) return found('bool', at + 1, 0, end);
  if (byte <= 0xc6) return sized('bin', bytes, at, 1 << (byte - 0xc4), end);
  if (byte <= 0xc9) return ext(bytes, at, 1 << (byte - 0xc7), end);
  if (byte <= 0xcb) return found('float', at + (byte === 0xca ? 5 : 9), 0, end);
  if (byte <= 0xd3) return found('int', at + 1 + (1 << (byte & 3)), 0, end);
  if (byte <= 0xd8) return fixExt(bytes, at, FIX_EXT_SIZES[byte - 0xd4] as number, end);
  if (byte <= 0xdb) return sized('str', bytes, at, 1 << (byte - 0xd9), end);
  return sized(byte <= 0xdd ? 'array' : 'map', bytes, at, (byte & 1) === 0 ? 2 : 4, end);
}

function sized(kind: Kind, bytes: Buffer, at: number, width: number, end: number): boolean {
  const start = at + 1 + width;
  return start <= end && found(kind, start, bytes.readUIntBE(at + 1, width), end);
}

function ext(bytes: Buffer, at: number, width: number, end: number): boolean {
  if (!sized('ext', bytes, at, width, end) || head.start >= end) return false;
  head.type = bytes.readInt8(head.start);
  head.start += 1;
  return true;
}

function fixExt(bytes: Buffer, at: number, size: number, end: number): boolean {
  if (!found('ext', at + 2, size, end)) return false;
  head.type = bytes.readInt8(at + 1);
  return true;
}

/** The offset after the value at `at`, whatever lies inside of it; -1 where it is cut off, or no MessagePack. */
export function skipPacked(bytes: Buffer, at: number, end: number): number {
  let i = at;
  for (let open = 1; open > 0; open--) {
    if (!readHead(bytes, i, end)) return -1;
    const { kind, start, size } = head;
    i = start;
    if (kind === 'array') open += size;
    else if (kind === 'map') open += size * 2;
    else i += size;
    // each open value has a byte at least, so that no count makes this loop run on
    if (i > end || open - 1 > end - i) return -1;
  }
  return i;
}

/** The number at `at` as a string, with every digit; `nan`, `inf` and `-inf` as JavaScript writes them. */
export function numberText(bytes: Buffer, at: number): string {
  const byte = bytes[at] as number;
  switch (byte) {
    case 0xca:
      return String(bytes.readFloatBE(at + 1));
    case 0xcb:
      return String(bytes.readDoubleBE(at + 1));
    case 0xcc:
    case 0xcd:
    case 0xce:
      return String(bytes.readUIntBE(at + 1, 1 << (byte - 0xcc)));
    case 0xcf:
      return String(bytes.readBigUInt64BE(at + 1));
    case 0xd0:
    case 0xd1:
    case 0xd2:
      return String(bytes.readIntBE(at + 1, 1 << (byte - 0xd0)));
    case 0xd3:
      return String(bytes.readBigInt64BE(at + 1));
    default:
      return String(byte < 0x80 ? byte : byte - 0x100);
  }
}
