/**
 * Fields of JSON objects in SQL, as `flattenJson` of logsql/base/json.ts gives them: by regexps, which need no submatches and so are quick.
 * ClickHouse's own functions for JSON rewrite numbers, and know the first of equal names only.
 */
import { join, sql, text as bound, type Sql } from '../../pipeline/core/sql.ts';
import { quoteRegexp } from '../values/regexp.ts';
import type { RowInput } from '../base/types.ts';

const S = '[ \\t\\n\\r]*';
const STRING = '"(?:[^"\\\\\\x00-\\x1f]|\\\\(?:["\\\\/bfnrt]|u[0-9a-fA-F]{4}))*"';
const SCALAR = '-?(?:0|[1-9][0-9]*)(?:[.][0-9]+)?(?:[eE][+-]?[0-9]+)?|true|false|null';

const list = (part: string): string => `${S}(?:${part}${S}(?:,${S}${part}${S})*)?`;
const objectOf = (value: string): string => `\\{${list(`${STRING}${S}:${S}${value}`)}\\}`;
const valueOf = (depth: number): string =>
  depth === 0 ? `(?:${STRING}|${SCALAR})` : `(?:${STRING}|${SCALAR}|${objectOf(valueOf(depth - 1))}|\\[${list(valueOf(depth - 1))}\\])`;

/** Objects and arrays inside the object. The regexp is four times as long for each. */
const DEPTH = 3;
const OBJECT = bound(`^${objectOf(valueOf(DEPTH))}${S}$`);

/** What stands between brackets that are known to match: any of it up to a name, or to the end. */
const inside = (depth: number): string => (depth === 0 ? `(?:[^][{}"]|${TEXT})*` : `(?:[^][{}"]|${TEXT}|[[{]${inside(depth - 1)}[]}])*`);
const TEXT = '"(?:[^"\\\\]|\\\\.)*"';
const INSIDE = inside(DEPTH);

/** A name with escapes may be any name. */
const ESCAPED_NAME = bound(`"[^"\\\\]*\\\\.(?:[^"\\\\]|\\\\.)*"${S}:`);
const VALUE = bound(`^(?:${TEXT}|\\[${INSIDE}\\]|\\{|[^][{}", \\t\\n\\r]+)`);
const SPACE_OUTSIDE = bound(`(${TEXT})|[ \\t\\n\\r]+`);
/** Escapes that stand for a part of a character, or for the zero byte. */
const RARE_ESCAPE = bound('\\\\u(?:[dD][89a-fA-F]|0000)');
/** Escapes that are written otherwise, and objects, which may have equal names. */
const NOT_AS_WRITTEN = bound('\\{|\\\\[/u]');

/** Names with more dots may come of too many objects inside one another. */
const MOST_PARTS = 3;

/** The objects' names that come to a field with dots: `a.b` is `{"a":{"b":…}}` or `{"a.b":…}`. */
function pathsOf(name: string): readonly (readonly string[])[] {
  const [first = '', ...rest] = name.split('.');
  return rest.reduce<readonly (readonly string[])[]>(
    (paths, part) =>
      paths.flatMap((path) => [
        [...path, part],
        [...path.slice(0, -1), `${path.at(-1) ?? ''}.${part}`],
      ]),
    [[first]],
  );
}

const nameIn = (name: string): string => `"${quoteRegexp(name)}"${S}:`;
const downTo = (path: readonly string[]): string => `^${path.map((name) => `\\{${INSIDE}${nameIn(name)}`).join(S)}`;

/** True for a name that is written without escapes. */
const isPlain = (name: string): boolean => JSON.stringify(name) === `"${name}"` && name.isWellFormed();

/**
 * The field of objects in JSON strings, '' where one has none; null where SQL has no form for such a name. `value` is a name or a column.
 * What takes time stands in no branch and behind no AND: ClickHouse would work it out again at each place.
 */
export function jsonField(value: Sql, field: string, input: RowInput): Sql | null {
  if (!isPlain(field) || field.split('.').length > MOST_PARTS) return null;
  input.doubt(sql`startsWith(${value}, '{') * (1 - match(${value}, ${OBJECT}) + match(${value}, ${ESCAPED_NAME})) > 0`);
  const paths = pathsOf(field);
  // the last of equal names counts; where it holds others, none may be equal
  for (const path of paths)
    for (let size = 1; size < path.length; size += 1)
      input.doubt(sql`match(${value}, ${bound(`${downTo(path.slice(0, size))}${INSIDE}${nameIn(path[size - 1] ?? '')}`)})`);
  const [first = sql`''`, ...others] = paths.map((path) => valueAt(value, path, input));
  if (others.length === 0) return textOf(first, input);
  const found = [first, ...others];
  input.doubt(
    sql`${join(
      found.map((raw) => sql`(${raw} != '')`),
      sql` + `,
    )} > 1`,
  );
  return textOf(input.name(sql`concat(${join(found, sql`, `)})`), input);
}

/** A value as it is written, '' where there is none: strings in quotes, of an object the bracket. */
function valueAt(value: Sql, path: readonly string[], input: RowInput): Sql {
  const before = input.name(sql`length(extract(${value}, ${bound(downTo(path) + S)}))`);
  return input.name(sql`extract(substring(${value}, ${before} + 1, length(${value}) * (${before} > 0)), ${VALUE})`);
}

/** What is written, as a field's string. */
function textOf(raw: Sql, input: RowInput): Sql {
  input.doubt(
    sql`startsWith(${raw}, '"') * match(${raw}, ${RARE_ESCAPE}) + startsWith(${raw}, '[') * match(${raw}, ${NOT_AS_WRITTEN}) > 0`,
  );
  const unquoted = sql`if(position(${raw}, '\\\\') = 0, substring(${raw}, 2, length(${raw}) - 2), JSONExtractString(${raw}))`;
  const array = sql`replaceRegexpAll(${raw}, ${SPACE_OUTSIDE}, '\\\\1')`;
  return sql`multiIf(startsWith(${raw}, '"'), ${unquoted}, startsWith(${raw}, '['), ${array}, ${raw} IN ('null', '{'), '', ${raw})`;
}
