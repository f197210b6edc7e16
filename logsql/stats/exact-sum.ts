/**
 * Sums of floats rounded once, at the end: the order in which they are added does not show, so that memory and ClickHouse, whatever
 * threads it uses, give the same.
 */
import { sql, type Sql } from '../../pipeline/core/sql.ts';

/** Adds floats without losing anything (Shewchuk's expansions): parts that do not overlap, the smallest first. */
export class ExactSum {
  readonly #parts: number[] = [];
  /** What is infinite or not a number, added up; 0 where nothing is. */
  #special = 0;

  add(value: number): void {
    if (!Number.isFinite(value)) {
      this.#special += value;
      return;
    }
    let kept = 0;
    let high = value;
    for (const part of this.#parts) {
      const [large, small] = Math.abs(high) < Math.abs(part) ? [part, high] : [high, part];
      high = large + small;
      const low = small - (high - large);
      if (low !== 0) this.#parts[kept++] = low;
    }
    if (!Number.isFinite(high)) this.#special += high;
    this.#parts.length = kept;
    this.#parts.push(high);
  }

  /** Numbers whose exact sum is this one, a few dozen at most: added to another, they add up to both. */
  get parts(): readonly number[] {
    return this.#special === 0 ? this.#parts : [this.#special];
  }

  /** The float nearest to the sum; of two as near the even one. */
  get value(): number {
    if (this.#special !== 0) return this.#special;
    let at = this.#parts.length - 1;
    let sum = this.#parts[at] ?? 0;
    let rest = 0;
    while (at > 0 && rest === 0) {
      at -= 1;
      const part = this.#parts[at] ?? 0;
      const before = sum;
      sum = before + part;
      rest = part - (sum - before);
    }
    // half of a step exactly: what is still smaller decides
    if (at > 0 && rest < 0 === (this.#parts[at - 1] ?? 0) < 0) {
      const next = sum + rest * 2;
      if (rest * 2 === next - sum) return next;
    }
    return sum;
  }
}

/** 2^100 of these are one. */
const SCALE = 100n;

/** A float (not NULL) as an Int256 of steps of 2^-100; right for those of `fitsSteps`. */
export const stepsSql = (value: Sql): Sql =>
  sql`if(${value} = 0, toInt256(0), if(${value} < 0, -1, 1) * bitShiftLeft(toInt256(bitOr(bitAnd(reinterpretAsUInt64(${value}), 4503599627370495), 4503599627370496)), greatest(bitAnd(bitShiftRight(reinterpretAsUInt64(${value}), 52), 2047) - 975, 0)))`;

/** True for a float that is a whole number of steps and so small that 2^40 of them can be added: 0, and 2^-48 to 2^114. */
export const fitsSteps = (value: Sql): Sql => sql`(${value} = 0 OR abs(${value}) BETWEEN exp2(-48) AND exp2(114))`;

/** The float nearest to a number of steps. */
export function fromSteps(steps: bigint): number {
  // beyond 2^1000 a float is no further from its neighbours than here: the largest sum has 255 bits
  return Number(steps) / 2 ** Number(SCALE);
}
