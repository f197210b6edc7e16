import type { PipeSpec } from '../base/types.ts';
import { count, fieldName, freeName } from '../base/arguments.ts';
import { UniqPipe } from './uniq.ts';

/** `field_values f [limit N]`: the values of a field with their hits; the same as `uniq by (f) with hits`. */
export const fieldValues: PipeSpec = {
  names: ['field_values'],
  examples: [
    {
      query: '* | field_values a',
      input: [{ a: 'x' }, { a: 'x' }, { a: 'y' }],
      output: [
        { a: 'x', hits: 2 },
        { a: 'y', hits: 1 },
      ],
    },
  ],
  parse({ lexer }) {
    lexer.next();
    const isBracketed = lexer.accept('(');
    const field = fieldName(lexer);
    if (isBracketed) lexer.expect(')');
    const limit = lexer.accept('limit') ? count(lexer, 'a number of values after "limit"') || Infinity : Infinity;
    return new UniqPipe([field], freeName('hits', [field]), limit);
  },
};
