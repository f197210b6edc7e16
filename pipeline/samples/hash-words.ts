/** A seed of this process, so that no client can choose keys that collide. */
const SEED = Math.floor(Math.random() * 0x7fffffff) | 1;

/** A hash of `bytes[start..end)`, the same within this process; four bytes a step. */
export function hashWords(bytes: Uint8Array, start: number, end: number): number {
  let hash = SEED ^ (end - start);
  let at = start;
  for (; at + 4 <= end; at += 4) {
    const word =
      (bytes[at] as number) | ((bytes[at + 1] as number) << 8) | ((bytes[at + 2] as number) << 16) | ((bytes[at + 3] as number) << 24);
    hash = Math.imul(hash ^ Math.imul(word, 0x9e3779b1), 0x85ebca6b);
    hash ^= hash >>> 15;
  }
  for (; at < end; at++) hash = Math.imul(hash ^ (bytes[at] as number), 0x01000193);
  hash = Math.imul(hash ^ (hash >>> 16), 0xc2b2ae35);
  return hash ^ (hash >>> 13);
}
