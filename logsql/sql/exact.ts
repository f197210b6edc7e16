/** Numbers compared without rounding, in SQL: as logsql/values/exact.ts. */
import { sql, text, type Sql } from '../../pipeline/core/sql.ts';
import { EXACT_FROM, MOST_EXACT, ONE } from '../values/exact.ts';
import { isTimeSql, timeOf } from './number.ts';

/** Nullable(Decimal256): a plain decimal, also with an exponent; NULL for what is none. Gives 0 for some strings that are no number. */
export const plainExact = (value: Sql): Sql => sql`toDecimal256OrNull(${value}, 20)`;

/** Nullable(Decimal256): the digits of a string that stands for the number (Nullable(Float64)); NULL where floats are all there is. */
export const exactSql = (value: Sql, number: Sql): Sql =>
  sql`multiIf(NOT ifNull(abs(${number}) < ${most}, 0), NULL,
    isFinite(ifNull(toFloat64OrNull(${value}), nan)), ${plainExact(value)},
    match(${value}, '^-?[0-9_]+(?:[.][0-9_]+)?$'), ${plainExact(sql`replaceAll(${value}, '_', '')`)},
    ${isTimeSql(value)}, toDecimal256(assumeNotNull(${timeOf(value)}), 20),
    toDecimal256(toInt256(assumeNotNull(${number})), 20))`;
const most = sql`1e38`;

/** True where the first number is less than the other, or (`isEqual`) not greater. */
export function lessSql(
  a: { readonly text: Sql; readonly number: Sql },
  b: { readonly text: Sql; readonly number: Sql },
  isEqual: boolean,
): Sql {
  const sign = isEqual ? sql`<=` : sql`<`;
  const isClose = sql`(${a.number} = ${b.number} AND abs(${a.number}) >= exp2(46))`;
  const floats = sql`${a.number} ${sign} ${b.number}`;
  return sql`if(${isClose}, ifNull(${exactSql(a.text, a.number)} ${sign} ${exactSql(b.text, b.number)}, ${floats}), ${floats})`;
}

/** A number as a bound value. */
export function boundSql(steps: bigint): Sql {
  const digits = String(steps < 0n ? -steps : steps).padStart(21, '0');
  return sql`toDecimal256(${text(`${steps < 0n ? '-' : ''}${digits.slice(0, -20)}.${digits.slice(-20)}`)}, 20)`;
}

/** True for a bound that its float may not tell from other numbers. */
export const needsExact = (steps: bigint | null, value: number): steps is bigint =>
  steps !== null && Math.abs(value) < MOST_EXACT && Math.abs(value) >= (steps % ONE === 0n ? 2 ** 53 : EXACT_FROM);
