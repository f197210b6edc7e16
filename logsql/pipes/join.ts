/** Pipes over the rows of another query: `join` and `union`. */
import { textOf, type LogEntry } from '../../pipeline/core/entry.ts';
import { FieldSet } from '../base/fields.ts';
import type { QueryMemory } from '../base/memory.ts';
import { quote } from '../base/reserved.ts';
import type { Pipe, PipeSpec, QueryNode, RunContext, Stage } from '../base/types.ts';
import { namesInParens } from '../base/arguments.ts';
import { Budget, fitting, keyOf, sizeOfRow, spreadRows } from '../base/rows.ts';

type Join = { readonly by: readonly string[]; readonly query: QueryNode; readonly isInner: boolean; readonly prefix: string };

const unresolved = (): never => {
  throw new Error('BUG: a query inside a pipe was not run.');
};

/** `join by (k) (<query>) [inner] [prefix "p"]`: adds the fields of the rows that are equal in k; rows without a match stay unless inner. */
class JoinPipe implements Pipe {
  readonly liveTail = false;
  readonly rows = 'more';
  readonly #join: Join;
  readonly #others: readonly LogEntry[] | null;
  constructor(join: Join, others: readonly LogEntry[] | null) {
    this.#join = join;
    this.#others = others;
  }
  get queries(): readonly QueryNode[] {
    return [this.#join.query];
  }
  withRows([rows = []]: readonly (readonly LogEntry[])[]): Pipe {
    return new JoinPipe(this.#join, rows);
  }
  toString(): string {
    const { by, query, isInner, prefix } = this.#join;
    return `join by (${by.map(quote).join(', ')}) (${query.toString()})${isInner ? ' inner' : ''}${prefix === '' ? '' : ` prefix ${quote(prefix)}`}`;
  }
  needs(output: FieldSet): FieldSet {
    return output.plus(this.#join.by);
  }
  stage({ memory }: RunContext): Stage {
    const matches = this.#matches(memory);
    const { by, isInner } = this.#join;
    return spreadRows((row) => {
      const found = matches.get(keyOf(by.map((field) => textOf(row.get(field)))));
      if (found === undefined) return isInner ? [] : [row];
      return joined(row, found);
    });
  }
  /** What the rows of the other query add, by the key. */
  #matches(memory: QueryMemory): ReadonlyMap<string, readonly LogEntry[]> {
    const { by, prefix } = this.#join;
    const budget = new Budget(memory, WHO);
    const matches = new Map<string, LogEntry[]>();
    for (const row of this.#others ?? unresolved()) {
      memory.step();
      const key = keyOf(by.map((field) => textOf(row.get(field))));
      const extra: LogEntry = new Map([...row].flatMap(([name, value]) => (by.includes(name) ? [] : [[prefix + name, value] as const])));
      budget.take(1, sizeOfRow(extra) + key.length);
      const list = matches.get(key);
      if (list === undefined) matches.set(key, [extra]);
      else list.push(extra);
    }
    return matches;
  }
}

const WHO = 'The join pipe';

/** A row for each of the others, one by one. */
function* joined(row: LogEntry, others: readonly LogEntry[]): Generator<LogEntry> {
  for (const other of others) yield fitting(new Map([...row, ...other]), () => WHO);
}

export const join: PipeSpec = {
  names: ['join'],
  examples: [
    {
      query: '* | join by (a) (* | stats by (a) count() n) inner',
      input: [
        { a: 'x', b: 1 },
        { a: 'x', b: 2 },
      ],
      output: [
        { a: 'x', b: 1, n: 2 },
        { a: 'x', b: 2, n: 2 },
      ],
    },
  ],
  parse(parser) {
    const { lexer } = parser;
    lexer.next();
    if (!lexer.accept('by')) lexer.accept('on');
    const by = namesInParens(lexer);
    if (by.length === 0 || by.includes('*')) lexer.fail('expected the fields to join by');
    const query = parser.query();
    const isInner = lexer.accept('inner');
    const prefix = lexer.accept('prefix') ? lexer.compound('the prefix of the fields') : '';
    return new JoinPipe({ by, query, isInner, prefix }, null);
  },
};

/** `union (<query>)`: the rows, and then those of the other query. */
class UnionPipe implements Pipe {
  readonly liveTail = false;
  readonly rows = 'reshaped';
  readonly #query: QueryNode;
  readonly #more: readonly LogEntry[] | null;
  constructor(query: QueryNode, more: readonly LogEntry[] | null) {
    this.#query = query;
    this.#more = more;
  }
  get queries(): readonly QueryNode[] {
    return [this.#query];
  }
  withRows([rows = []]: readonly (readonly LogEntry[])[]): Pipe {
    return new UnionPipe(this.#query, rows);
  }
  toString(): string {
    return `union (${this.#query.toString()})`;
  }
  needs(output: FieldSet): FieldSet {
    return output;
  }
  stage(): Stage {
    const more = this.#more ?? unresolved();
    return { push: (row) => [row], flush: () => more };
  }
}

export const union: PipeSpec = {
  names: ['union'],
  examples: [
    { query: 'a | stats count() n | union (* | stats count() n)', input: [{ _msg: 'a' }, { _msg: 'b' }], output: [{ n: 1 }, { n: 2 }] },
  ],
  parse(parser) {
    parser.lexer.next();
    return new UnionPipe(parser.query(), null);
  },
};
