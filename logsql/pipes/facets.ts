import { Literal, textOf, type LogEntry } from '../../pipeline/core/entry.ts';
import { FieldSet } from '../base/fields.ts';
import type { QueryMemory } from '../base/memory.ts';
import { isNumberPrefix } from '../values/numbers.ts';
import { compareBytes } from '../values/order.ts';
import { MAX_FACET_VALUES, findFacets, type Facet, type FacetBounds, type Facets } from '../sql/facets.ts';
import type { StatementRunner, Parser, Pipe, PipeSpec, RunContext, SqlInput, Stage } from '../base/types.ts';
import { count } from '../base/arguments.ts';
import { Budget, rowOf, sizeOfText } from '../base/rows.ts';

export type FacetOptions = FacetBounds & {
  /** Fields that have one value in all rows are kept. */
  readonly keepsConstant: boolean;
};

const DEFAULTS: FacetOptions = {
  limit: 10,
  maxValues: 1000,
  maxLength: 128,
  keepsConstant: false,
  always: [],
  never: [],
  maxFields: Infinity,
};
/** More fields than this are not queried at once. */
const MAX_FIELDS = 5000;

/** What is held for a value in addition to its string, bytes. */
const PER_VALUE = 80;

type Field = { readonly hits: Map<string, number>; isLeftOut: boolean };

/**
 * `facets [N] …`: the most frequent values of each field, as rows of `field_name`, `field_value` and `hits`. With a bound on the
 * fields, those with the most hits come first, and where some are left out by it a last row has their number as `truncated_fields`.
 */
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
    const budget = new Budget(context.memory, 'The facets pipe');
    let rows = 0;
    return {
      push: (row) => {
        rows += 1;
        for (const [name, value] of row) if (!this.options.never.includes(name)) this.#count(fields, name, textOf(value), budget);
        return [];
      },
      flush: () => this.#rows({ facets: [...fields].flatMap(([name, field]) => toFacet(name, field)), left: 0, rows }, context.memory),
    };
  }
  async gather(input: SqlInput, runner: StatementRunner): Promise<readonly LogEntry[] | null> {
    const { limit, maxValues, maxFields } = this.options;
    if (limit > MAX_FACET_VALUES || maxValues > MAX_FACET_VALUES) return null;
    const found = await findFacets(input, { ...this.options, maxFields: Math.min(maxFields, MAX_FIELDS) }, runner);
    return found === null || (found.left > 0 && maxFields > MAX_FIELDS) ? null : this.#rows(found, input.run.memory);
  }
  #count(fields: Map<string, Field>, name: string, value: string, budget: Budget): void {
    let field = fields.get(name);
    if (field === undefined) {
      budget.take(1, name.length * 2 + 200);
      fields.set(name, (field = { hits: new Map(), isLeftOut: false }));
    }
    if (field.isLeftOut || value === '') return;
    const { maxValues, maxLength, always } = this.options;
    const known = field.hits.get(value);
    if (known === undefined && !always.includes(name) && (field.hits.size >= maxValues || Buffer.byteLength(value) > maxLength)) {
      field.isLeftOut = true;
      for (const kept of field.hits.keys()) budget.give(1, sizeOfText(kept) + PER_VALUE);
      field.hits.clear();
      return;
    }
    if (known === undefined) budget.take(1, sizeOfText(value) + PER_VALUE);
    field.hits.set(value, (known ?? 0) + 1);
  }
  #rows({ facets, left, rows }: Facets, memory: QueryMemory): LogEntry[] {
    const { limit, keepsConstant, always, maxFields } = this.options;
    const isBounded = maxFields !== Infinity;
    const kept = facets.filter(({ distinct, hits }) => keepsConstant || distinct !== 1 || hits !== rows);
    const isAlways = (name: string): number => (always.includes(name) ? 1 : 0);
    memory.sort(kept, (a, b) => (isBounded ? b.hits - a.hits || isAlways(b.name) - isAlways(a.name) : 0) || compareBytes(a.name, b.name));
    const shown = kept.slice(0, maxFields);
    const cut = kept.length - shown.length + left;
    const values = shown.flatMap(({ name, values }) => {
      memory.step();
      return mostFrequent(values, limit, memory).map(([value, size]) => facetRow(name, value, size));
    });
    return isBounded && cut > 0 ? [...values, rowOf([['truncated_fields', new Literal(String(cut))]])] : values;
  }
}

function toFacet(name: string, { hits, isLeftOut }: Field): Facet[] {
  if (isLeftOut || hits.size === 0) return [];
  return [{ name, hits: [...hits.values()].reduce((sum, size) => sum + size, 0), distinct: hits.size, values: [...hits] }];
}

const mostFrequent = (values: readonly (readonly [string, number])[], limit: number, memory: QueryMemory): (readonly [string, number])[] =>
  memory.sort([...values], ([a, x], [b, y]) => y - x || compareBytes(a, b)).slice(0, limit);

const facetRow = (name: string, value: string, size: number): LogEntry =>
  rowOf([
    ['field_name', name],
    ['field_value', value],
    ['hits', new Literal(String(size))],
  ]);

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
