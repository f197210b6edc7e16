/**
 * What a text is worth as a number, in SQL: the same as `parseNumber` and `numericValue` of logsql/numbers.ts. Plain decimals take
 * the first branch; the others are worked out only for values that are none.
 */
import { sql, type Sql } from '../../pipeline/core/sql.ts';

const DURATION = sql`'^-?(?:[0-9][0-9_]*(?:[.][0-9_]+)?(?:µs|ms|ns|[ywdhms]))+$'`;
const DURATION_PARTS = sql`'([0-9._]+)(µs|ms|ns|[ywdhms])'`;
const BYTES = sql`'^-?(?:[0-9][0-9_]*(?:[.][0-9_]+)?(?:[KMGT]i?B?|B))+(?:[0-9][0-9_]*)?$'`;
const BYTE_PARTS = sql`'([0-9._]+)([KMGT]iB|[KMGT]i|[KMGT]B|[KMGT]|B|$)'`;

const finite = (value: Sql): Sql => sql`isFinite(ifNull(toFloat64OrNull(${value}), nan))`;

/** The sum of numbers with units in a text that is known to be such a sum. */
function sumOfUnits(value: Sql, parts: Sql, units: Sql, sizes: Sql): Sql {
  const groups = sql`extractAllGroupsHorizontal(${value}, ${parts})`;
  const one = sql`(n, u) -> trunc(ifNull(toFloat64OrNull(replaceAll(n, '_', '')), 0) * transform(u, ${units}, ${sizes}, toFloat64(1)))`;
  return sql`(if(startsWith(${value}, '-'), -1, 1) * arraySum(arrayMap(${one}, ${groups}[1], ${groups}[2])))`;
}

const durationOf = (value: Sql): Sql =>
  sumOfUnits(
    value,
    DURATION_PARTS,
    sql`['ns', 'µs', 'ms', 's', 'm', 'h', 'd', 'w', 'y']`,
    sql`[1., 1e3, 1e6, 1e9, 6e10, 3.6e12, 8.64e13, 6.048e14, 3.1536e16]`,
  );

const bytesOf = (value: Sql): Sql =>
  sumOfUnits(
    value,
    BYTE_PARTS,
    sql`['KiB', 'MiB', 'GiB', 'TiB', 'Ki', 'Mi', 'Gi', 'Ti', 'KB', 'MB', 'GB', 'TB', 'K', 'M', 'G', 'T']`,
    sql`[1024., 1048576., 1073741824., 1099511627776., 1024., 1048576., 1073741824., 1099511627776., 1e3, 1e6, 1e9, 1e12, 1e3, 1e6, 1e9, 1e12]`,
  );

/** `0x1f`, `0b101`, `0o17`, each with a sign or none. */
function basedOf(value: Sql): Sql {
  const lower = sql`lower(replaceRegexpOne(${value}, '^[+-]', ''))`;
  const base = sql`transform(substring(${lower}, 2, 1), ['x', 'b', 'o'], [16., 2., 8.], toFloat64(10))`;
  const digits = sql`splitByString('', replaceAll(substring(${lower}, 3), '_', ''))`;
  const size = sql`arrayFold((total, digit) -> total * ${base} + (position('0123456789abcdef', digit) - 1), ${digits}, toFloat64(0))`;
  return sql`(if(startsWith(${value}, '-'), -1, 1) * ${size})`;
}

const ipv4Of = (value: Sql): Sql =>
  sql`if(arrayAll(o -> toUInt16OrZero(o) < 256, splitByChar('.', ${value})), arrayFold((total, octet) -> total * 256 + toUInt16OrZero(octet), splitByChar('.', ${value}), toFloat64(0)), NULL)`;

const IPV4 = sql`'^[0-9]{1,3}(?:[.][0-9]{1,3}){3}$'`;
/** Nullable(Float64): an IPv4 address as a number. */
export const ipv4Sql = (value: Sql): Sql => sql`if(match(${value}, ${IPV4}), ${ipv4Of(value)}, NULL)`;

const TIME = sql`'^[0-9]{4}-[0-9]{2}-[0-9]{2}[T ][0-9]{2}:[0-9]{2}:[0-9]{2}(?:[.]?[0-9]{1,9})?(?:Z|[+-][0-9]{1,2}:[0-9]{1,2})?$'`;
const timeOf = (value: Sql): Sql => sql`toFloat64(toUnixTimestamp64Nano(parseDateTime64BestEffortOrNull(${value}, 9, 'UTC')))`;

function rareNumbers(value: Sql): Sql {
  return sql`match(${value}, ${DURATION}), ${durationOf(value)},
    match(${value}, ${BYTES}), ${bytesOf(value)},
    match(${value}, '^-?[0-9][0-9_]*(?:[.][0-9_]+)?$'), toFloat64OrNull(replaceAll(${value}, '_', '')),
    match(${value}, '^(?i)[+-]?inf$'), if(startsWith(${value}, '-'), -inf, inf),
    match(${value}, '^[+-]?0(?:[xX][0-9a-fA-F_]+|[bB][01_]+|[oO][0-7_]+)$'), ${basedOf(value)}`;
}

/** Nullable(Float64): a number, a size or a duration. */
export const numberSql = (value: Sql): Sql =>
  sql`multiIf(${finite(value)}, toFloat64OrNull(${value}), ${value} = '', NULL, ${rareNumbers(value)}, NULL)`;

/** Nullable(Float64): a number, size, duration, RFC 3339 time in nanoseconds or IPv4 address. */
export const numericSql = (
  value: Sql,
): Sql => sql`multiIf(${finite(value)}, toFloat64OrNull(${value}), ${value} = '', NULL, ${rareNumbers(value)},
    match(${value}, ${TIME}), ${timeOf(value)},
    match(${value}, ${IPV4}), ${ipv4Of(value)}, NULL)`;
