/** Of this process: who chooses ids cannot choose which of them share a slot. */
const SEED = Math.floor(Math.random() * 2 ** 32);

/** A hash of an id of 64 bits, as two halves, for tables of this process. */
export function mixId(high: number, low: number): number {
  let hash = Math.imul(low ^ SEED, 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 15) ^ high, 0xc2b2ae35);
  return hash ^ (hash >>> 16);
}
