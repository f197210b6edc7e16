import { HyperLogLog } from './hyperloglog.ts';
import { MAX_PARTIAL_BYTES, type PartialOutput } from './partial.ts';
import type { Fold } from './processor.ts';

/** A Map, and a sketch, as JSON has them. */
const MAP = '$map';
const SKETCH = '$sketch';

const write = (value: unknown): string => JSON.stringify(plain(value));

/** What `write` wrote. Throws where it is anything else. */
const read = (bytes: Buffer): unknown => revived(JSON.parse(bytes.toString()));

/**
 * A value with objects in place of Maps and sketches; parts without any stay as they are. This and `revived` look at objects alone: a function
 * that JSON calls for each value takes five times as long where most are numbers.
 */
function plain(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value;
  if (value instanceof Map) return { [MAP]: plain([...(value as Map<unknown, unknown>)]) };
  if (value instanceof HyperLogLog) return { [SKETCH]: value.toBytes().toString('base64') };
  const parts = value as Record<string, unknown>;
  let copy: Record<string, unknown> | null = null;
  for (const [name, part] of membersOf(parts)) {
    const other = plain(part);
    if (other === part) continue;
    copy ??= (Array.isArray(value) ? value.slice() : withoutPrototype(parts)) as Record<string, unknown>;
    copy[name] = other;
  }
  return copy ?? value;
}

/** A value with Maps and sketches in place of the objects that `plain` has made of them. */
function revived(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value;
  const parts = value as Record<string, unknown>;
  for (const [name, part] of membersOf(parts)) {
    const other = revived(part);
    if (other !== part) Object.defineProperty(parts, name, { value: other, enumerable: true, writable: true, configurable: true });
  }
  if (MAP in parts) return new Map(parts[MAP] as [unknown, unknown][]);
  if (!(SKETCH in parts)) return value;
  const sketch = HyperLogLog.fromBytes(Buffer.from(String(parts[SKETCH]), 'base64'));
  if (sketch === null) throw new Error('This is not a sketch.');
  return sketch;
}

/** A copy in which no name is special. */
const withoutPrototype = (parts: object): object => Object.assign(Object.create(null) as object, parts);

/** The members that are objects, by name or index. */
function membersOf(value: Readonly<Record<string, unknown>>): [name: string, part: object][] {
  const found: [string, object][] = [];
  if (Array.isArray(value)) {
    for (let i = 0; i < value.length; i++) if (isObject(value[i])) found.push([String(i), value[i] as object]);
  } else for (const name of Object.keys(value)) if (isObject(value[name])) found.push([name, value[name]]);
  return found;
}

const isObject = (value: unknown): value is object => typeof value === 'object' && value !== null;

/**
 * The beginning of a processor's state, its snapshots, and how they are read: for a state of objects, arrays, Maps, sketches, strings,
 * finite numbers, booleans and null. A snapshot is none whose members are not those that `init` gives.
 */
export const jsonState = <State extends object>(init: () => State): Pick<Fold<State>, 'init' | 'snapshot' | 'restore'> => ({
  init,
  snapshot: (state) => Buffer.from(write(state)),
  restore(bytes) {
    try {
      const state = read(bytes);
      return isAlike(state, init()) ? (state as State) : null;
    } catch {
      return null;
    }
  },
});

const isAlike = (found: unknown, model: object): boolean =>
  typeof found === 'object' &&
  found !== null &&
  found.constructor === model.constructor &&
  Object.entries(model).every(([name, value]) => kindOf((found as Record<string, unknown>)[name]) === kindOf(value));

const kindOf = (value: unknown): unknown => (typeof value === 'object' && value !== null ? value.constructor : typeof value);

/** Rows as JSON in as many partials as it takes; `partialRows` reads them. */
export function jsonPartials(whose: Pick<PartialOutput, 'tenantId' | 'retentionDays'>, rows: Iterable<unknown>): PartialOutput[] {
  const { tenantId, retentionDays } = whose;
  const values: string[][] = [];
  let budget = 0;
  for (const row of rows) {
    const text = write(row);
    // the brackets and a comma; a UTF-16 unit takes three bytes at most
    budget -= 3 * text.length + 1;
    if (budget < 0) {
      values.push([]);
      budget = MAX_PARTIAL_BYTES - 3 - 3 * text.length;
    }
    values.at(-1)?.push(text);
  }
  return values.map((texts) => ({ kind: 'partial', tenantId, retentionDays, value: Buffer.from(`[${texts.join(',')}]`) }));
}

/** The rows of a partial that `jsonPartials` made. */
export const partialRows = ({ value }: Pick<PartialOutput, 'value'>): readonly unknown[] => read(value) as readonly unknown[];
