/**
 * The number that a string stands for, in SQL: the same as `parseNumber` and `numericValue` of logsql/values/numbers.ts. Plain decimals
 * take the first branch; the others are computed only for values that are not one.
 */
import { Sql, sql } from '../../pipeline/core/sql.ts';

const DURATION = sql`'^-?(?:[0-9_]+(?:[.][0-9_]+)?(?:µs|ms|ns|[ywdhms]))+$'`;
const DURATION_PARTS = sql`'([0-9._]+)(µs|ms|ns|[ywdhms])'`;
const BYTES = sql`'^-?(?:[0-9_]+(?:[.][0-9_]+)?(?:[KMGT]i?B?|B))+(?:[0-9_]+(?:[.][0-9_]+)?)?$'`;
const BYTE_PARTS = sql`'([0-9._]+)([KMGT]iB|[KMGT]i|[KMGT]B|[KMGT]|B|$)'`;

const finite = (value: Sql): Sql => sql`isFinite(ifNull(toFloat64OrNull(${value}), nan))`;

/** The sum of numbers with units in a string that is such a sum: each of at most 20 characters, and a whole one where it has no unit. */
function sumOfUnits(value: Sql, parts: Sql, units: Sql, sizes: Sql): Sql {
  const groups = sql`extractAllGroupsHorizontal(${value}, ${parts})`;
  const number = sql`ifNull(toFloat64OrNull(replaceAll(n, '_', '')), 0)`;
  const one = sql`(n, u) -> trunc(${number} * transform(u, ${units}, ${sizes}, toFloat64(1)))`;
  const isFit = sql`arrayAll((n, u) -> length(n) <= 20 AND (u != '' OR trunc(${number}) = ${number}), ${groups}[1], ${groups}[2])`;
  return sql`if(${isFit}, if(startsWith(${value}, '-'), -1, 1) * arraySum(arrayMap(${one}, ${groups}[1], ${groups}[2])), NULL)`;
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

const BASED = sql`'^[+-]?0(?:[xX](?:_?[0-9a-fA-F])+|[bB](?:_?[01])+|[oO](?:_?[0-7])+)$'`;

/** `0x1f`, `0b101`, `0o17`, each with a sign or none; NULL from 2^63 on. Without leading zeros 63 digits of any base fit into 256 bits. */
function basedOf(value: Sql): Sql {
  const lower = sql`lower(replaceRegexpOne(${value}, '^[+-]', ''))`;
  const base = sql`transform(substring(${lower}, 2, 1), ['x', 'b', 'o'], [16, 2, 8], 10)`;
  const digits = sql`replaceRegexpOne(replaceAll(substring(${lower}, 3), '_', ''), '^0+', '')`;
  const add = sql`(total, digit) -> toUInt256(total * ${base} + (position('0123456789abcdef', digit) - 1))`;
  const size = sql`if(length(${digits}) > 63, exp2(63), arrayFold(${add}, splitByString('', ${digits}), toUInt256(0)))`;
  return sql`(0 + if(startsWith(${value}, '-'), -1, 1) * arrayMap(n -> if(n < exp2(63), toFloat64(toUInt64(n)), NULL), [${size}])[1])`;
}

const ipv4Of = (value: Sql): Sql =>
  sql`if(arrayAll(o -> toUInt16OrZero(o) < 256, splitByChar('.', ${value})), arrayFold((total, octet) -> total * 256 + toUInt16OrZero(octet), splitByChar('.', ${value}), toFloat64(0)), NULL)`;

const IPV4 = sql`'^[0-9]{1,3}(?:[.][0-9]{1,3}){3}$'`;
/** Nullable(Float64): an IPv4 address as a number. */
export const ipv4Sql = (value: Sql): Sql => sql`if(match(${value}, ${IPV4}), ${ipv4Of(value)}, NULL)`;

const TIME = sql`'^([0-9]{4})-([0-9]{2})-([0-9]{2})[T ]([0-9]{2}):([0-9]{2}):([0-9]{2})(?:[.]?([0-9]{1,9}))?(?:Z|([+-])([0-9]{1,2}):([0-9]{1,2}))?$'`;

export const isTimeSql = (value: Sql): Sql => sql`match(${value}, ${TIME})`;

/**
 * Nullable(Int128), the nanoseconds of a string for which `isTimeSql` is true. Days and hours beyond a month's or a day's end run on (`02-30`
 * is March the 2nd). Date32 begins in 1900: earlier years are taken 400 years later.
 */
export function timeOf(value: Sql): Sql {
  const isEarly = sql`(n[1] < 1900)`;
  const month = sql`addMonths(makeDate32(n[1] + 400 * ${isEarly}, 1, 1), n[2] - 1)`;
  const days = sql`(toInt64(addDays(${month}, n[3] - 1)) - 146097 * ${isEarly})`;
  const zone = sql`if(t[8] = '-', -60, 60) * (60 * n[9] + n[10])`;
  const seconds = sql`toInt128(86400 * ${days} + 3600 * n[4] + 60 * n[5] + n[6] - ${zone})`;
  const ns = sql`(1000000000 * ${seconds} + toInt64OrZero(rightPad(t[7], 9, '0')))`;
  const one = sql`(t, n) -> if(n[1] BETWEEN 1677 AND 2262 AND n[9] <= 24 AND n[10] <= 60, ${ns}, NULL)`;
  const groups = sql`extractGroups(${value}, ${TIME})`;
  return sql`arrayMap(${one}, [${groups}], [arrayMap(g -> toInt64OrZero(g), ${groups})])[1]`;
}

function rareNumbers(value: Sql): Sql {
  return sql`match(${value}, ${DURATION}), ${durationOf(value)},
    match(${value}, ${BYTES}), ${bytesOf(value)},
    length(${value}) <= 20 AND match(${value}, '^-?[0-9_]+(?:[.][0-9_]+)?$'), 0 + ifNull(toFloat64OrNull(replaceAll(${value}, '_', '')), 0),
    match(${value}, '^(?i)[+-]?inf$'), if(startsWith(${value}, '-'), -inf, inf),
    match(${value}, ${BASED}), ${basedOf(value)}`;
}

/** The string of a column of whole numbers, which need not be read out of it. */
const WHOLE = /^toString\((toUInt64\(\w+\))\)$/;
function wholeOf({ strings, values }: Sql): Sql | null {
  const column = values.length === 0 ? WHOLE.exec(strings.join(''))?.[1] : undefined;
  return column === undefined ? null : sql`toNullable(toFloat64(${new Sql([column], [])}))`;
}

/** Nullable(Float64): a number, a size or a duration. */
export const numberSql = (value: Sql): Sql => wholeOf(value) ?? numberOr(value, (text) => sql`${rareNumbers(text)}, NULL`);

/** A plain decimal, or else what the branches make of the string. There it is named once: each repetition takes time to analyse. */
const numberOr = (value: Sql, branches: (text: Sql) => Sql): Sql =>
  sql`multiIf(${finite(value)}, toFloat64OrNull(${value}), ${value} = '', NULL, arrayMap(x -> multiIf(${branches(sql`x`)}), [${value}])[1])`;

/** Nullable(Float64): a number, size, duration, RFC 3339 time in nanoseconds or IPv4 address. */
export const numericSql = (value: Sql): Sql =>
  numberOr(
    value,
    (text) => sql`${rareNumbers(text)},
    ${isTimeSql(text)}, toFloat64(${timeOf(text)}),
    match(${text}, ${IPV4}), ${ipv4Of(text)}, NULL`,
  );

/** A Float64 as `formatFloat` writes it, out of the string that ClickHouse has for it: it has exponents where JavaScript has them. */
export function floatText(value: Sql, text: Sql): Sql {
  const one = sql`(d, p) -> if(p <= 0, concat('0.', repeat('0', greatest(-p, 0)), d), rightPad(d, greatest(p, 0), '0'))`;
  const digits = sql`replaceRegexpAll(${text}, '^-|[.]|e.*$', '')`;
  const point = sql`toInt32OrZero(splitByChar('e', ${text})[2]) + 1`;
  const spelt = sql`concat(if(${value} < 0, '-', ''), arrayMap(${one}, [${digits}], [${point}])[1])`;
  return sql`multiIf(isNaN(${value}), 'NaN', ${value} = inf, '+Inf', ${value} = -inf, '-Inf', ${value} = 0, '0', position(${text}, 'e') = 0, ${text}, ${spelt})`;
}
