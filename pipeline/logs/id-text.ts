/** The decimal text of an unsigned number of 64 bits that is held as two signed halves: what is before its last six digits, below 2^53. */
function idQuotient(high: number, low: number): number {
  const upper = high >>> 0;
  const middle = (upper % MILLION) * 65_536 + (low >>> 16);
  const lower = (middle % MILLION) * 65_536 + (low & 0xffff);
  return Math.floor(upper / MILLION) * 4_294_967_296 + Math.floor(middle / MILLION) * 65_536 + Math.floor(lower / MILLION);
}

/** Its last six digits. */
function idRemainder(high: number, low: number): number {
  const middle = ((high >>> 0) % MILLION) * 65_536 + (low >>> 16);
  return ((middle % MILLION) * 65_536 + (low & 0xffff)) % MILLION;
}

/** The whole text. */
export function idText(high: number, low: number): string {
  let from = digits.length;
  let rest = idRemainder(high, low);
  const quotient = idQuotient(high, low);
  if (quotient === 0) return String(rest);
  for (let place = 0; place < 6; place++) rest = push((from -= 1), rest);
  for (rest = quotient; rest > 0;) rest = push((from -= 1), rest);
  return digits.toString('latin1', from);
}

/** Writes the last digit of a whole number; gives what is before it. */
function push(at: number, number: number): number {
  const tenth = Math.floor(number / 10);
  digits[at] = 0x30 + (number - tenth * 10);
  return tenth;
}

/** A string by way of bytes: numbers above 2^31 are slow to print. */
const digits = Buffer.alloc(20);

const MILLION = 1_000_000;
