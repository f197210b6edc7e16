import type { LogEntry } from '../../pipeline/core/entry.ts';
import { coversField, type FieldSet } from '../base/fields.ts';
import { quotePattern } from '../base/reserved.ts';
import type { Pipe, PipeSpec, RowChange, Stage } from '../base/types.ts';
import { names } from '../base/arguments.ts';

/** `fields a, b.*`: keeps these fields only, in the order in which they are named. */
export class FieldsPipe implements Pipe {
  readonly liveTail = true;
  readonly rows = 'same';
  readonly patterns: readonly string[];
  readonly #isPlain: boolean;
  constructor(patterns: readonly string[]) {
    this.patterns = patterns.includes('*') ? ['*'] : patterns;
    this.#isPlain = !this.patterns.some((pattern) => pattern.endsWith('*'));
  }
  get dropsTime(): boolean {
    return !coversField(this.patterns, '_time');
  }
  get singleField(): string | undefined {
    return this.#isPlain && this.patterns.length === 1 ? this.patterns[0] : undefined;
  }
  toString(): string {
    return `fields ${this.patterns.map(quotePattern).join(', ')}`;
  }
  needs(output: FieldSet): FieldSet {
    return output.within(this.patterns);
  }
  computes(): RowChange {
    return { written: new Map(), keeps: (field) => coversField(this.patterns, field) };
  }
  stage(): Stage {
    return { push: (row) => [this.#project(row)], flush: () => [] };
  }
  #project(row: LogEntry): LogEntry {
    if (this.patterns[0] === '*') return row;
    const kept: LogEntry = new Map();
    if (this.#isPlain) {
      for (const name of this.patterns) {
        const value = row.get(name);
        if (value !== undefined) kept.set(name, value);
      }
    } else for (const [name, value] of row) if (coversField(this.patterns, name)) kept.set(name, value);
    return kept;
  }
}

export const fields: PipeSpec = {
  names: ['fields', 'keep'],
  examples: [
    {
      query: '* | fields b, k8s.*',
      input: [{ _msg: 'a', b: 1, 'k8s.pod': 'p', 'k8s.ns': 'n' }],
      output: [{ b: 1, 'k8s.pod': 'p', 'k8s.ns': 'n' }],
    },
    { query: '* | fields nosuch', input: [{ _msg: 'a' }], output: [] },
  ],
  parse(parser) {
    parser.lexer.next();
    return new FieldsPipe(names(parser.lexer));
  },
};
