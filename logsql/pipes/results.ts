/** What pipes that write fields into rows have in common: `if (…)`, `keep_original_fields`, `skip_empty_results`. */
import { textOf, type FieldValue, type LogEntry } from '../../pipeline/core/entry.ts';
import { sql, type Sql } from '../../pipeline/core/sql.ts';
import { FieldSet } from '../base/fields.ts';
import type { QueryMemory } from '../base/memory.ts';
import type { Filter, Parser, Pipe, RowChange, RowInput, RunContext, Stage } from '../base/types.ts';
import { fitting, mapRows } from '../base/rows.ts';

/** When results are written, and where they give way to what is there. */
export type ResultOptions = { readonly condition: Filter | null; readonly keepsOriginal: boolean; readonly skipsEmpty: boolean };

export const NO_OPTIONS: ResultOptions = { condition: null, keepsOriginal: false, skipsEmpty: false };

/** `if (filter)`, when it stands here. */
export const parseIf = (parser: Parser): Filter | null => (parser.lexer.accept('if') ? parser.condition() : null);

/** `keep_original_fields` and `skip_empty_results` in any order. */
export function parseResultOptions(parser: Parser, condition: Filter | null): ResultOptions {
  let [keepsOriginal, skipsEmpty] = [false, false];
  for (;;) {
    if (parser.lexer.accept('keep_original_fields')) keepsOriginal = true;
    else if (parser.lexer.accept('skip_empty_results')) skipsEmpty = true;
    else return { condition, keepsOriginal, skipsEmpty };
  }
}

export const printIf = (condition: Filter | null): string => (condition === null ? '' : ` if (${condition.toString()})`);
export const printResultOptions = ({ keepsOriginal, skipsEmpty }: ResultOptions): string =>
  (keepsOriginal ? ' keep_original_fields' : '') + (skipsEmpty ? ' skip_empty_results' : '');

/** Writes results into a copy of the row; an empty one removes the field. */
function withResults(row: LogEntry, results: Iterable<readonly [string, FieldValue]>, options: ResultOptions): LogEntry {
  const changed: LogEntry = new Map(row);
  for (const [name, value] of results) {
    if (options.keepsOriginal && textOf(row.get(name)) !== '') continue;
    if (value !== '') changed.set(name, value);
    else if (!options.skipsEmpty) changed.delete(name);
  }
  return changed;
}

/** A pipe that works out fields of each row from other fields of it. */
export abstract class ResultPipe implements Pipe {
  readonly liveTail = true;
  readonly rows = 'same';
  readonly options: ResultOptions;
  constructor(options: ResultOptions) {
    this.options = options;
  }
  /** The fields it writes; null where the row decides. */
  abstract readonly results: readonly string[] | null;
  /** The fields it reads. */
  abstract readonly sources: readonly string[];
  /** Computes the results; `memory` is checked where a value takes long to make, or may become much longer than what it is made of. */
  abstract compute(row: LogEntry, memory: QueryMemory): Iterable<readonly [string, FieldValue]>;
  /** The same pipe with other options. */
  abstract withOptions(options: ResultOptions): Pipe;
  abstract toString(): string;

  get dropsTime(): boolean {
    return this.results === null || this.results.includes('_time');
  }
  get filters(): readonly Filter[] {
    return this.options.condition === null ? [] : [this.options.condition];
  }
  withFilters(filters: readonly Filter[]): Pipe {
    return this.withOptions({ ...this.options, condition: filters[0] ?? null });
  }
  needs(output: FieldSet): FieldSet {
    const { condition, keepsOriginal, skipsEmpty } = this.options;
    const mayStay = condition !== null || keepsOriginal || skipsEmpty;
    const kept = mayStay || this.results === null ? output : output.minus(this.results);
    return this.sources.includes('*') ? FieldSet.all : kept.plus([...this.sources, ...(condition?.fields ?? [])]);
  }
  /** The results in SQL, in the order of `compute`; null where SQL cannot express them. */
  expressions?(input: RowInput): readonly (readonly [string, Sql])[] | null;
  computes(input: RowInput): RowChange | null {
    const { condition, keepsOriginal, skipsEmpty } = this.options;
    const when = condition === null ? null : condition.sql(input.context);
    const results = this.expressions?.(input) ?? null;
    if (results === null || (condition !== null && when === null)) return null;
    const written = new Map<string, Sql>();
    for (const [name, value] of results) {
      const original = input.text(name);
      if (original === null) return null;
      const before = written.get(name) ?? original;
      const filled = skipsEmpty ? sql`if(${value} = '', ${before}, ${value})` : value;
      const result = keepsOriginal ? sql`if(${original} = '', ${filled}, ${before})` : filled;
      written.set(name, when === null ? result : sql`if(${when}, ${result}, ${original})`);
    }
    return { written };
  }
  /** What an error of it begins with. */
  protected get who(): string {
    return `The ${this.toString().split(' ', 1)[0] ?? ''} pipe`;
  }
  stage({ memory }: RunContext): Stage {
    const { condition } = this.options;
    const who = (): string => this.who;
    return mapRows((row) =>
      condition === null || condition.matches(row) ? fitting(withResults(row, this.compute(row, memory), this.options), who) : row,
    );
  }
}
