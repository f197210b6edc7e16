import { AndFilter, NotFilter, OrFilter } from '../../../logsql/filters/logic.ts';
import { RegexpFilter } from '../../../logsql/filters/regexp.ts';
import { StreamFilter } from '../../../logsql/filters/stream.ts';
import type { Filter } from '../../../logsql/base/types.ts';

/** The result of a filter for a record: the same for each row, or one for each. */
export type Predicate = boolean | ((row: number) => boolean);

/** Traces that show what matched: that of the slowest span, how long that took (nanoseconds), and that of the last one that failed; empty for none. */
export type ShownTraces = readonly [slowest: string, took: number, failed: string];

/** Work: a look at a row, and a character that a filter or a measure reads. A unit is about a nanosecond. */
const LOOK = 60;
const CHARACTER = 2;
/** A character that a regexp reads, for each instruction of its program, and the size of a selector's, which is not known. */
const STEP = 1;
const SELECTOR_PROGRAM = 1000;
/** Characters of a filter's text that read each character of a value once more: the words of a list, about. */
const WORDS = 16;

/**
 * The rows of one record as LogsQL's filters take them, decoded as far as filters read them: one object, record after record. `work`: what
 * that has cost, as a function of the rows and of what was read.
 */
export abstract class RecordRows extends Map<string, string> {
  work = 0;
  row = 0;
  readonly #readers = new Map<string, (row: number) => string>();
  readonly #absent = new Set<string>();

  abstract get count(): number;

  /** The minutes of the rows, since 1970. */
  abstract get minutes(): Int32Array;

  /** Reads a field of the rows; null where none of them has it. */
  protected abstract readerOf(field: string): ((row: number) => string) | null;

  /** Numbers that are equal where the values of a field are; null where that is not known. */
  protected abstract codesOf(field: string): ArrayLike<number> | null;

  /** Traces that show what matches, with the row; undefined of what has none. */
  show(known: ShownTraces | undefined): ShownTraces | undefined {
    return known;
  }

  /** Forgets the record before. */
  protected begin(): void {
    this.#readers.clear();
    this.#absent.clear();
    this.work = 0;
  }

  /** The value of a field in the row. */
  override get(field: string): string {
    const text = (this.#readers.get(field) ?? this.#open(field))(this.row);
    this.work += CHARACTER * text.length;
    return text;
  }

  /** True where no row of the record has the field. */
  lacks(field: string): boolean {
    if (!this.#readers.has(field)) this.#open(field);
    return this.#absent.has(field);
  }

  /** The result of a filter for the rows: parts about absent fields, or about words, are evaluated once for all rows. */
  predicate(filter: Filter): Predicate {
    if (filter instanceof NotFilter) {
      const part = this.predicate(filter.parts[0]);
      return typeof part === 'boolean' ? !part : (row): boolean => !part(row);
    }
    if (filter instanceof AndFilter || filter instanceof OrFilter) return this.#composed(filter.parts, filter instanceof AndFilter);
    return this.#leaf(filter);
  }

  /** All parts (`isAll`), or one at least. */
  #composed(parts: readonly Filter[], isAll: boolean): Predicate {
    const open: ((row: number) => boolean)[] = [];
    for (const part of parts) {
      const result = this.predicate(part);
      if (result === !isAll) return !isAll;
      if (typeof result !== 'boolean') open.push(result);
    }
    const [first] = open;
    if (first === undefined) return isAll;
    if (open.length === 1) return first;
    return isAll ? (row): boolean => open.every((part) => part(row)) : (row): boolean => open.some((part) => part(row));
  }

  #leaf(filter: Filter): Predicate {
    const weight = weightOf(filter);
    const matches = (row: number): boolean => {
      this.row = row;
      const before = this.work;
      const found = filter.matches(this);
      this.work = before + LOOK + weight * (this.work - before);
      return found;
    };
    if (filter.fields.every((field) => this.lacks(field))) return matches(0);
    const [field = '', ...others] = filter.fields;
    const codes = others.length > 0 ? null : this.codesOf(field);
    if (codes === null) return matches;
    const known: (boolean | undefined)[] = [];
    return (row) => {
      const code = codes[row] as number;
      this.work += 1;
      return (known[code] ??= matches(row));
    };
  }

  #open(field: string): (row: number) => string {
    const reader = this.readerOf(field);
    if (reader === null) this.#absent.add(field);
    const found = reader ?? ((): string => '');
    this.#readers.set(field, found);
    return found;
  }
}

/** Reads a row once for consecutive calls. */
export function once(read: (row: number) => string): (row: number) => string {
  let [last, text] = [-1, ''];
  return (row) => {
    if (row !== last) [last, text] = [row, read(row)];
    return text;
  };
}

const weights = new WeakMap<Filter, number>();

/** How often a filter reads each character, about. */
function weightOf(filter: Filter): number {
  let weight = weights.get(filter);
  if (weight === undefined) weights.set(filter, (weight = weigh(filter)));
  return weight;
}

function weigh(filter: Filter): number {
  if (filter instanceof RegexpFilter) return 1 + (STEP * filter.regexp.size) / CHARACTER;
  if (filter instanceof StreamFilter) return filter.hasRegexp ? SELECTOR_PROGRAM : 1;
  return 1 + Math.floor(filter.toString().length / WORDS);
}
