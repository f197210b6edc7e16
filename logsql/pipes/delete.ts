import { coversField, type FieldSet } from '../base/fields.ts';
import { quotePattern } from '../base/reserved.ts';
import type { Pipe, PipeSpec, RowChange, Stage } from '../base/types.ts';
import { names } from '../base/arguments.ts';
import { mapRows } from '../base/rows.ts';

/** `delete a, pre*`: drops these fields. */
class DeletePipe implements Pipe {
  readonly liveTail = true;
  readonly rows = 'same';
  readonly #patterns: readonly string[];
  constructor(patterns: readonly string[]) {
    this.#patterns = patterns;
  }
  get dropsTime(): boolean {
    return coversField(this.#patterns, '_time');
  }
  toString(): string {
    return `delete ${this.#patterns.map(quotePattern).join(', ')}`;
  }
  needs(output: FieldSet): FieldSet {
    return output.minus(this.#patterns);
  }
  computes(): RowChange {
    return { written: new Map(), keeps: (field) => !coversField(this.#patterns, field) };
  }
  stage(): Stage {
    return mapRows((row) => new Map([...row].filter(([name]) => !coversField(this.#patterns, name))));
  }
}

export const deletePipe: PipeSpec = {
  names: ['delete', 'del', 'rm', 'drop'],
  examples: [{ query: '* | delete a, k8s.*', input: [{ _msg: 'x', a: 1, 'k8s.pod': 'p' }], output: [{ _msg: 'x' }] }],
  parse(parser) {
    parser.lexer.next();
    return new DeletePipe(names(parser.lexer));
  },
};
