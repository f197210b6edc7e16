/** A seed of this process, so that no client can choose keys that collide. */
const SEED = Math.floor(Math.random() * 0x7fffffff) | 1;

/** A hash of the bytes from `start` to `end`, the same within this process; four bytes a step. */
export function hashWords(bytes: DataView, start: number, end: number): number {
  let hash = SEED ^ (end - start);
  let at = start;
  for (; at + 4 <= end; at += 4) {
    hash = Math.imul(hash ^ Math.imul(bytes.getInt32(at, true), 0x9e3779b1), 0x85ebca6b);
    hash ^= hash >>> 15;
  }
  for (; at < end; at++) hash = Math.imul(hash ^ bytes.getUint8(at), 0x01000193);
  hash = Math.imul(hash ^ (hash >>> 16), 0xc2b2ae35);
  return hash ^ (hash >>> 13);
}

/** Whether `length` bytes of two views are the same; sixteen bytes a step. */
export function sameBytes(a: DataView, from: number, b: DataView, start: number, length: number): boolean {
  let at = 0;
  for (; at + 16 <= length; at += 16) {
    const first = differs(a, from + at, b, start + at) | differs(a, from + at + 4, b, start + at + 4);
    const second = differs(a, from + at + 8, b, start + at + 8) | differs(a, from + at + 12, b, start + at + 12);
    if ((first | second) !== 0) return false;
  }
  for (; at < length; at++) if (a.getUint8(from + at) !== b.getUint8(start + at)) return false;
  return true;
}

/** The bits in which four bytes differ. */
const differs = (a: DataView, from: number, b: DataView, start: number): number => a.getInt32(from, true) ^ b.getInt32(start, true);

/** A view of all bytes of a buffer. */
export const viewOf = ({ buffer, byteOffset, length }: Uint8Array): DataView => new DataView(buffer, byteOffset, length);
