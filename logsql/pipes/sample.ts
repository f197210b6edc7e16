import type { FieldSet } from '../base/fields.ts';
import type { Pipe, PipeSpec, Stage } from '../base/types.ts';
import { count } from '../base/arguments.ts';

/** `sample N`: each row with a chance of 1 in N. */
class SamplePipe implements Pipe {
  readonly liveTail = true;
  readonly rows = 'fewer';
  readonly #of: number;
  constructor(of: number) {
    this.#of = of;
  }
  toString(): string {
    return `sample ${String(this.#of)}`;
  }
  needs(output: FieldSet): FieldSet {
    return output;
  }
  stage(): Stage {
    return { push: (row) => (Math.random() * this.#of < 1 ? [row] : []), flush: () => [] };
  }
}

export const sample: PipeSpec = {
  names: ['sample'],
  examples: [{ query: '* | sample 1', input: [{ a: 1 }], output: [{ a: 1 }] }],
  parse({ lexer }) {
    lexer.next();
    const at = lexer.save();
    const of = count(lexer, 'a number of rows of which one is kept');
    if (of >= 1) return new SamplePipe(of);
    lexer.restore(at);
    return lexer.fail('expected a number above 0');
  },
};
