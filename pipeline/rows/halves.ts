/** An integer of 64 bits as its two halves of 32 bits. */
export type Halves = { low: number; high: number };

/** Splits a 64-bit integer, signed or not. */
export function halvesOf(value: bigint): Halves {
  const unsigned = BigInt.asUintN(64, value);
  return { low: Number(unsigned & 0xffffffffn), high: Number(unsigned >> 32n) };
}

/** The unsigned integer of two halves, signed or not. */
export const idOf = (high: number, low: number): bigint => (BigInt(high >>> 0) << 32n) | BigInt(low >>> 0);
