import { HyperLogLog } from './hyperloglog.ts';
import { MAX_PARTIAL_BYTES, type PartialOutput } from './partial.ts';
import type { Fold } from './processor.ts';

/** A Map, and a sketch, as JSON has them. */
const MAP = '$map';
const SKETCH = '$sketch';

const write = (value: unknown): string =>
  JSON.stringify(value, (_name, part: unknown) => {
    if (part instanceof Map) return { [MAP]: [...(part as Map<unknown, unknown>)] };
    return part instanceof HyperLogLog ? { [SKETCH]: part.toBytes().toString('base64') } : part;
  });

/** What `write` wrote. Throws where it is anything else. */
const read = (bytes: Buffer): unknown =>
  JSON.parse(bytes.toString(), (_name, part: unknown) => {
    if (typeof part !== 'object' || part === null) return part;
    if (MAP in part) return new Map(part[MAP] as [unknown, unknown][]);
    if (!(SKETCH in part)) return part;
    const sketch = HyperLogLog.fromBytes(Buffer.from(String(part[SKETCH]), 'base64'));
    if (sketch === null) throw new Error('This is not a sketch.');
    return sketch;
  });

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
