import { textOf, type LogEntry } from '../../pipeline/core/entry.ts';
import type { FieldSet } from '../base/fields.ts';
import { splitJsonArray } from '../base/json.ts';
import { quote } from '../base/reserved.ts';
import type { Filter, Pipe, PipeSpec, Stage } from '../base/types.ts';
import { byNames } from '../base/arguments.ts';
import { parseIf, printIf } from './results.ts';
import { spreadRows } from '../base/rows.ts';

/** `unroll [if (…)] by (a, b)`: a row for each part of the JSON arrays in these fields, side by side; a field without an array is empty. */
class UnrollPipe implements Pipe {
  readonly liveTail = true;
  readonly rows = 'more';
  readonly #fields: readonly string[];
  readonly #condition: Filter | null;
  constructor(fields: readonly string[], condition: Filter | null) {
    this.#fields = fields;
    this.#condition = condition;
  }
  get filters(): readonly Filter[] {
    return this.#condition === null ? [] : [this.#condition];
  }
  withFilters(filters: readonly Filter[]): Pipe {
    return new UnrollPipe(this.#fields, filters[0] ?? null);
  }
  toString(): string {
    return `unroll${printIf(this.#condition)} by (${this.#fields.map(quote).join(', ')})`;
  }
  needs(output: FieldSet): FieldSet {
    return output.plus([...this.#fields, ...(this.#condition?.fields ?? [])]);
  }
  stage(): Stage {
    return spreadRows((row) => (this.#condition === null || this.#condition.matches(row) ? this.#unroll(row) : [row]));
  }
  *#unroll(row: LogEntry): Generator<LogEntry> {
    const lists = this.#fields.map((field) => splitJsonArray(textOf(row.get(field))) ?? []);
    const length = Math.max(1, ...lists.map((list) => list.length));
    for (let index = 0; index < length; index += 1) {
      const part: LogEntry = new Map(row);
      for (const [at, field] of this.#fields.entries()) {
        const value = lists[at]?.[index] ?? '';
        if (value === '') part.delete(field);
        else part.set(field, value);
      }
      yield part;
    }
  }
}

export const unroll: PipeSpec = {
  names: ['unroll'],
  examples: [
    {
      query: '* | unroll by (t)',
      input: [
        { _msg: 'x', t: '["a",1]' },
        { _msg: 'y', t: 'b' },
        { _msg: 'z', t: '\n [2]' },
      ],
      output: [{ _msg: 'x', t: 'a' }, { _msg: 'x', t: '1' }, { _msg: 'y' }, { _msg: 'z', t: '2' }],
    },
  ],
  parse(parser) {
    parser.lexer.next();
    const condition = parseIf(parser);
    const fields = byNames(parser.lexer, []);
    return fields.length === 0 ? parser.lexer.fail('expected the fields to unroll') : new UnrollPipe(fields, condition);
  },
};
