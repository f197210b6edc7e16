/** Deepest nesting of a value. */
const MAX_DEPTH = 64;

/** A value nested deeper than MAX_DEPTH. */
export class TooDeep extends Error {}

type AnyValue = Readonly<Record<string, unknown>>;

const isObject = (value: unknown): value is AnyValue => typeof value === 'object' && value !== null && !Array.isArray(value);

const snakeNames = new Map<string, string>();

/** A name of the protocol in snake_case. */
function snakeOf(name: string): string {
  let snake = snakeNames.get(name);
  if (snake === undefined) snakeNames.set(name, (snake = name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)));
  return snake;
}

/** A member by its name in camelCase, or in snake_case as some producers write it. Names are those of the protocol, no user's. */
export const memberOf = (object: AnyValue, name: string): unknown => object[name] ?? object[snakeOf(name)];

/** A string; what is none is empty. */
export const textOf = (value: unknown): string => (typeof value === 'string' ? value : '');

/** An AnyValue of OTLP's JSON as text: strings as they are, lists and pairs as JSON, nothing as the empty string. Throws TooDeep. */
export function anyText(value: unknown): string {
  const plain = plainOf(value, 0);
  if (typeof plain === 'string') return plain;
  return plain === null ? '' : jsonOf(plain);
}

type Plain = null | string | boolean | number | bigint | readonly Plain[] | ReadonlyMap<string, Plain>;

function plainOf(value: unknown, depth: number): Plain {
  if (depth > MAX_DEPTH) throw new TooDeep();
  if (!isObject(value)) return null;
  const text = memberOf(value, 'stringValue');
  if (typeof text === 'string') return text;
  const boolean = memberOf(value, 'boolValue');
  if (boolean !== undefined && boolean !== null) return boolean === true || boolean === 'true';
  const int = memberOf(value, 'intValue');
  if (typeof int === 'number' || typeof int === 'bigint') return int;
  if (typeof int === 'string') return /^-?\d{1,20}$/.test(int) ? BigInt(int) : int;
  const double = memberOf(value, 'doubleValue');
  if (typeof double === 'number') return double;
  if (typeof double === 'string') return Number(double);
  const bytes = memberOf(value, 'bytesValue');
  if (typeof bytes === 'string') return bytes;
  return listOf(value, depth);
}

function listOf(value: AnyValue, depth: number): Plain {
  const array = memberOf(value, 'arrayValue');
  if (isObject(array)) return valuesOf(array).map((one) => plainOf(one, depth + 1));
  const list = memberOf(value, 'kvlistValue');
  if (!isObject(list)) return null;
  return new Map(valuesOf(list).map((pair) => (isObject(pair) ? [textOf(pair['key']), plainOf(pair['value'], depth + 1)] : ['', null])));
}

const valuesOf = ({ values }: AnyValue): readonly unknown[] => (Array.isArray(values) ? (values as unknown[]) : []);

function jsonOf(plain: Plain): string {
  if (typeof plain === 'bigint') return plain.toString();
  if (plain === null || typeof plain === 'string' || typeof plain === 'boolean') return JSON.stringify(plain);
  if (typeof plain === 'number') return Object.is(plain, -0) ? '-0' : String(plain);
  if (plain instanceof Map)
    return `{${[...(plain as ReadonlyMap<string, Plain>)].map(([key, one]) => `${JSON.stringify(key)}:${jsonOf(one)}`).join(',')}}`;
  return `[${(plain as readonly Plain[]).map(jsonOf).join(',')}]`;
}
