import { FieldSet } from '../base/fields.ts';
import type { Pipe, PipeSpec, Stage } from '../base/types.ts';

/** `drop_empty_fields`: empty fields are not kept here anyway; what is left is that rows without any field go. */
class DropEmptyFieldsPipe implements Pipe {
  readonly liveTail = true;
  readonly rows = 'fewer';
  toString(): string {
    return 'drop_empty_fields';
  }
  needs(): FieldSet {
    return FieldSet.all;
  }
  stage(): Stage {
    return { push: (row) => (row.size > 0 ? [row] : []), flush: () => [] };
  }
}

export const dropEmptyFields: PipeSpec = {
  names: ['drop_empty_fields'],
  examples: [{ query: '* | fields a | drop_empty_fields | stats count() n', input: [{ a: 1 }, { b: 1 }], output: [{ n: 1 }] }],
  parse(parser) {
    parser.lexer.next();
    return new DropEmptyFieldsPipe();
  },
};
