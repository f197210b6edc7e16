/** An integer of 64 bits as its two halves of 32 bits. */
export type Halves = { low: number; high: number };

/** A time as two numbers, so that no bigint is made for each entry: whole seconds since 1970 (floor) and nanoseconds in them. */
export type SplitTime = { seconds: number; nanos: number };

/** Splits a 64-bit integer, signed or not. */
export function halvesOf(value: bigint): Halves {
  const unsigned = BigInt.asUintN(64, value);
  return { low: Number(unsigned & 0xffffffffn), high: Number(unsigned >> 32n) };
}

/** The unsigned integer of two halves, signed or not. */
export const idOf = (high: number, low: number): bigint => (BigInt(high >>> 0) << 32n) | BigInt(low >>> 0);

const WORD = 4_294_967_296;

/** Nanoseconds since the epoch of whole seconds (0 or more) and nanoseconds in them, in halves, without a bigint. */
export function nanosecondsOf(seconds: number, nanos: number, into: Halves): void {
  if (seconds < 0) {
    Object.assign(into, halvesOf(BigInt(seconds) * 1_000_000_000n + BigInt(nanos)));
    return;
  }
  // seconds = a * 65536 + b, so each product is below 2^53
  const low = (seconds % 65_536) * 1e9 + nanos;
  const high = Math.floor(seconds / 65_536) * 1e9;
  const sum = (high % 65_536) * 65_536 + (low % WORD);
  into.low = sum >>> 0;
  into.high = Math.floor(high / 65_536) + Math.floor(low / WORD) + Math.floor(sum / WORD);
}
