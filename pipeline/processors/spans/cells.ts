import { GroupTable } from '../base/group-table.ts';

/** A cell's kind: the retention class in days of its spans, and what it counts (`OF_OPERATION` …). */
const SCOPE_UNIT = 65_536;
export const kindOf = (retentionDays: number, scope: number): number => retentionDays + scope * SCOPE_UNIT;
export const classOf = (kind: number): number => kind % SCOPE_UNIT;
export const scopeOf = (kind: number): number => Math.floor(kind / SCOPE_UNIT);

/** The rest of a cell's key: the kind of its spans, the bin of their durations, and whether they are errors. */
const [BIN_UNIT, KIND_UNIT] = [2, 2048];
export const detailOf = (kind: number, bin: number, isError: boolean): number => kind * KIND_UNIT + bin * BIN_UNIT + (isError ? 1 : 0);
export const spanKindOf = (detail: number): number => Math.floor(detail / KIND_UNIT);
export const binOf = (detail: number): number => (detail % KIND_UNIT) >> 1;
export const isErrorOf = (detail: number): boolean => (detail & 1) === 1;
/** More than any detail. */
export const MOST_DETAIL = 8 * KIND_UNIT - 1;

/** Words by number, in the order in which they came; a character for each byte. */
export class Words {
  readonly texts: string[] = [];
  readonly #numbers = new Map<string, number>();

  /** -1 for one that is not there. */
  find(text: string): number {
    return this.#numbers.get(text) ?? -1;
  }

  at(text: string): number {
    const known = this.#numbers.get(text);
    if (known !== undefined) return known;
    this.#numbers.set(text, this.texts.length);
    return this.texts.push(text) - 1;
  }

  clear(): void {
    this.texts.length = 0;
    this.#numbers.clear();
  }
}

/**
 * Spans by tenant, class, scope, service, operation (of an edge: caller), time, kind, bin and error: how many, how long they take together, and
 * when the last one begins. A cell has a number, from 0 on in the order in which they were first counted.
 */
export class Cells {
  readonly table = new GroupTable();
  /** When the last span of each begins, seconds since 1970. */
  readonly last: number[] = [];
  /** The services, and the operations or callers, of the cells' numbers. */
  readonly services = new Words();
  readonly others = new Words();

  clear(): void {
    this.table.clear();
    this.last.length = 0;
    this.services.clear();
    this.others.clear();
  }

  add(cell: number, spans: number, duration: number, last: number): void {
    const known = this.last[cell];
    if (known === undefined || last > known) this.last[cell] = last;
    this.table.add(cell, spans, duration);
  }
}
