/**
 * SQL that can only be made of fixed text and bound values: sql`… ${value} …`. A value is a `Param` (bound on the server as
 * `{pN:Type}`), another `Sql`, or a joined list of those; a plain string cannot get in.
 */

/** The ClickHouse types in which values are bound. */
export type ParamType =
  | 'String'
  | 'UInt8'
  | 'UInt32'
  | 'UInt64'
  | 'Int64'
  | 'Float64'
  | 'DateTime64(9)'
  | 'Array(String)'
  | 'Array(UInt64)';

/** A value to be bound, never text of the query. */
export class Param {
  readonly type: ParamType;
  readonly value: string | number | bigint | readonly string[] | readonly number[] | readonly bigint[];
  constructor(type: ParamType, value: Param['value']) {
    this.type = type;
    this.value = value;
  }
}

/** A piece of SQL: fixed strings with bound values between them. */
export class Sql {
  readonly strings: readonly string[];
  readonly values: readonly Param[];
  constructor(strings: readonly string[], values: readonly Param[]) {
    this.strings = strings;
    this.values = values;
  }
}

/** The tag that makes Sql: interpolates only Param and Sql. */
export function sql(strings: TemplateStringsArray, ...parts: readonly (Param | Sql)[]): Sql {
  const texts: string[] = [strings[0] ?? ''];
  const values: Param[] = [];
  for (const [index, part] of parts.entries()) {
    const after = strings[index + 1] ?? '';
    if (part instanceof Param) {
      values.push(part);
      texts.push(after);
    } else {
      const [head = '', ...rest] = part.strings;
      texts.push((texts.pop() ?? '') + head, ...rest);
      values.push(...part.values);
      texts.push((texts.pop() ?? '') + after);
    }
  }
  return new Sql(texts, values);
}

/** Joins pieces with a fixed separator such as sql` AND `. */
export function join(parts: readonly Sql[], separator: Sql): Sql {
  const strings = [''];
  const values: Param[] = [];
  for (const piece of parts.flatMap((part, index) => (index === 0 ? [part] : [separator, part]))) {
    const [head = '', ...rest] = piece.strings;
    strings.push((strings.pop() ?? '') + head, ...rest);
    values.push(...piece.values);
  }
  return new Sql(strings, values);
}

/** Conditions that all hold; at least one. */
export const conjunction = (conditions: readonly Sql[]): Sql => join(conditions, sql` AND `);

/** The condition that every statement on rows of a tenant has. */
export const ofTenant = (tenantId: number): Sql => sql`tenant_id = ${uint32(tenantId)}`;

/** Numbers in decimal digits as a set, which may be above 2^53: what stands behind IN. */
export const numberSet = (numbers: readonly string[]): Sql => sql`(SELECT toUInt64(arrayJoin(${texts(numbers)})))`;

export const text = (value: string): Param => new Param('String', value);
export const uint8 = (value: number): Param => new Param('UInt8', value);
export const uint32 = (value: number): Param => new Param('UInt32', value);
/** An integer from 0 to 2^53. */
export const uint64 = (value: number): Param => new Param('UInt64', value);
export const int64 = (value: bigint | number): Param => new Param('Int64', value);
export const float64 = (value: number): Param => new Param('Float64', value);
/** Integers from 0, as numbers to 2^53. */
export const uint64s = (values: readonly number[] | readonly bigint[]): Param => new Param('Array(UInt64)', values);
export const texts = (values: readonly string[]): Param => new Param('Array(String)', values);

/** The statement with placeholders `{p0:Type}` and its parameters by name. */
export function renderSql(statement: Sql): { readonly text: string; readonly params: ReadonlyMap<string, Param> } {
  const params = new Map<string, Param>();
  let out = statement.strings[0] ?? '';
  for (const [index, value] of statement.values.entries()) {
    params.set(`p${String(index)}`, value);
    out += `{p${String(index)}:${value.type}}` + (statement.strings[index + 1] ?? '');
  }
  return { text: out, params };
}
