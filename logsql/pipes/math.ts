import type { FieldValue, LogEntry } from '../../pipeline/core/entry.ts';
import { sql, type Sql } from '../../pipeline/core/sql.ts';
import { quote } from '../base/reserved.ts';
import { floatText, numericSql } from '../sql/number.ts';
import { numberValue } from '../stats/sum.ts';
import type { FieldSet } from '../base/fields.ts';
import type { Parser, Pipe, PipeSpec, RowChange, RowInput, RunContext, Stage } from '../base/types.ts';
import { atEnd, fieldName } from '../base/arguments.ts';
import { parseExpression, type Expression } from './expression.ts';
import { mapRows } from '../base/rows.ts';

type Assignment = { readonly expression: Expression; readonly name: string };

/** `math a / b as r, …`: numbers out of fields; later expressions see the results of earlier ones. */
export class MathPipe implements Pipe {
  readonly liveTail = true;
  readonly rows = 'same';
  readonly #assignments: readonly Assignment[];
  constructor(assignments: readonly Assignment[]) {
    this.#assignments = assignments;
  }
  /** The fields it writes. */
  get names(): readonly string[] {
    return this.#assignments.map(({ name }) => name);
  }
  get dropsTime(): boolean {
    return this.names.includes('_time');
  }
  toString(): string {
    return `math ${this.#assignments.map(({ expression, name }) => `${expression.toString()} as ${quote(name)}`).join(', ')}`;
  }
  needs(output: FieldSet): FieldSet {
    return [...this.#assignments].reverse().reduce((needed, { expression, name }) => needed.minus([name]).plus(expression.fields), output);
  }
  computes(input: RowInput): RowChange | null {
    const written = new Map<string, Sql>();
    // a result is read back as its string, where a zero has no sign
    const results = new Map<string, Sql>();
    const number = (field: string): Sql | null => {
      const text = input.text(field);
      return results.get(field) ?? (text === null ? null : input.name(sql`ifNull(${numericSql(text)}, nan)`));
    };
    for (const { expression, name } of this.#assignments) {
      const made = expression.sql({
        number,
        name: (value) => input.name(value),
        doubt: (rows) => {
          input.doubt(rows);
        },
        now: Number(input.run.end),
      });
      if (made === null) return null;
      const value = input.name(made);
      results.set(name, input.name(sql`${value} + 0`));
      written.set(name, floatText(value, input.name(sql`toString(${value})`)));
    }
    return { written };
  }
  stage({ end }: RunContext): Stage {
    return mapRows((row) => {
      const changed: LogEntry = new Map<string, FieldValue>(row);
      for (const { expression, name } of this.#assignments) changed.set(name, numberValue(expression.value(changed, Number(end))));
      return changed;
    });
  }
}

function parseMath(parser: Parser): Pipe {
  const { lexer } = parser;
  lexer.next();
  const assignments: Assignment[] = [];
  do {
    const expression = parseExpression(lexer);
    if (lexer.is(',') || atEnd(lexer)) assignments.push({ expression, name: expression.toString() });
    else {
      lexer.accept('as');
      assignments.push({ expression, name: fieldName(lexer) });
    }
  } while (lexer.accept(','));
  return new MathPipe(assignments);
}

const INPUT = [{ a: 6, b: '1KB', took: '1.5s' }];

export const math: PipeSpec = {
  names: ['math', 'eval'],
  examples: [
    {
      query: '* | math (a + 4) / 5 as r, b - 1 as s, took / 1ms as ms | fields r, s, ms',
      input: INPUT,
      output: [{ r: 2, s: 999, ms: 1500 }],
    },
    {
      query: '* | math 2 ^ 3 ^ 2 as p, nosuch default 7 as d, round(2.567, 0.1) as q | fields p, d, q',
      input: INPUT,
      output: [{ p: 64, d: 7, q: 2.6 }],
    },
  ],
  parse: parseMath,
};
