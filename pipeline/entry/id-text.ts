/** The decimal text of an unsigned number of 64 bits that is held as two signed halves: what is before its last six digits, below 2^53. */
export function idQuotient(high: number, low: number): number {
  const upper = high >>> 0;
  const middle = (upper % MILLION) * 65_536 + (low >>> 16);
  const lower = (middle % MILLION) * 65_536 + (low & 0xffff);
  return Math.floor(upper / MILLION) * 4_294_967_296 + Math.floor(middle / MILLION) * 65_536 + Math.floor(lower / MILLION);
}

/** Its last six digits. */
export function idRemainder(high: number, low: number): number {
  const middle = ((high >>> 0) % MILLION) * 65_536 + (low >>> 16);
  return ((middle % MILLION) * 65_536 + (low & 0xffff)) % MILLION;
}

/** The whole text. */
export function idText(high: number, low: number): string {
  const quotient = idQuotient(high, low);
  const remainder = String(idRemainder(high, low));
  return quotient === 0 ? remainder : String(quotient) + remainder.padStart(6, '0');
}

const MILLION = 1_000_000;
