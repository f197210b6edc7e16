import { Literal, textOf, type LogEntry } from '../../pipeline/core/entry.ts';
import { FieldSet } from '../fields.ts';
import { isNumberPrefix } from '../numbers.ts';
import { compareBytes } from '../order.ts';
import type { Parser, Pipe, PipeSpec, RunContext, Stage } from '../types.ts';
import { count } from './arguments.ts';
import { Budget, rowOf } from './rows.ts';

export type FacetOptions = {
  readonly limit: number;
  /** A field with more values than this, or with one longer than `maxLength` bytes, is left out as a whole. */
  readonly maxValues: number;
  readonly maxLength: number;
  /** Fields that have one value in all rows are kept. */
  readonly keepsConstant: boolean;
};

const DEFAULTS: FacetOptions = { limit: 10, maxValues: 1000, maxLength: 128, keepsConstant: false };

type Field = { readonly hits: Map<string, number>; isLeftOut: boolean };

/** `facets [N] …`: the most frequent values of each field, as rows of `field_name`, `field_value` and `hits`. */
export class FacetsPipe implements Pipe {
  readonly liveTail = false;
  readonly rows = 'reshaped';
  readonly options: FacetOptions;
  constructor(options: FacetOptions) {
    this.options = options;
  }
  toString(): string {
    const { limit, maxValues, maxLength, keepsConstant } = this.options;
    return `facets ${String(limit)} max_values_per_field ${String(maxValues)} max_value_len ${String(maxLength)}${keepsConstant ? ' keep_const_fields' : ''}`;
  }
  needs(): FieldSet {
    return FieldSet.all;
  }
  stage(context: RunContext): Stage {
    const fields = new Map<string, Field>();
    const budget = new Budget(context.limits, 'The facets pipe');
    let rows = 0;
    return {
      push: (row) => {
        rows += 1;
        for (const [name, value] of row) this.#count(fields, name, textOf(value), budget);
        return [];
      },
      flush: () => [...fields].sort(([a], [b]) => compareBytes(a, b)).flatMap(([name, field]) => this.#rows(name, field, rows)),
    };
  }
  #count(fields: Map<string, Field>, name: string, value: string, budget: Budget): void {
    let field = fields.get(name);
    if (field === undefined) fields.set(name, (field = { hits: new Map(), isLeftOut: false }));
    if (field.isLeftOut || value === '') return;
    const known = field.hits.get(value);
    if (known === undefined && (field.hits.size >= this.options.maxValues || Buffer.byteLength(value) > this.options.maxLength)) {
      field.isLeftOut = true;
      field.hits.clear();
      return;
    }
    if (known === undefined) budget.take(1, value.length * 2 + 80);
    field.hits.set(value, (known ?? 0) + 1);
  }
  #rows(name: string, { hits, isLeftOut }: Field, rows: number): LogEntry[] {
    const isConstant = hits.size === 1 && [...hits.values()][0] === rows;
    if (isLeftOut || (isConstant && !this.options.keepsConstant)) return [];
    const sorted = [...hits].sort(([a, x], [b, y]) => y - x || compareBytes(a, b)).slice(0, this.options.limit);
    return sorted.map(([value, size]) =>
      rowOf([
        ['field_name', name],
        ['field_value', value],
        ['hits', new Literal(String(size))],
      ]),
    );
  }
}

function parseFacets(parser: Parser): Pipe {
  const { lexer } = parser;
  lexer.next();
  let options = DEFAULTS;
  if (isNumberPrefix(lexer.token)) options = { ...options, limit: positive(parser, 'a number of values above 0') };
  for (;;) {
    if (lexer.accept('max_values_per_field')) options = { ...options, maxValues: positive(parser, 'a number of values above 0') };
    else if (lexer.accept('max_value_len')) options = { ...options, maxLength: positive(parser, 'a number of bytes above 0') };
    else if (lexer.accept('keep_const_fields')) options = { ...options, keepsConstant: true };
    else return new FacetsPipe(options);
  }
}

function positive(parser: Parser, what: string): number {
  const at = parser.lexer.save();
  const value = count(parser.lexer, what);
  if (value >= 1) return value;
  parser.lexer.restore(at);
  return parser.lexer.fail(`expected ${what}`);
}

export const facets: PipeSpec = {
  names: ['facets'],
  examples: [
    {
      query: '* | facets 1',
      input: [
        { a: 'x', c: 'k' },
        { a: 'y', c: 'k' },
        { a: 'x', c: 'k' },
      ],
      output: [{ field_name: 'a', field_value: 'x', hits: 2 }],
    },
  ],
  parse: parseFacets,
};
