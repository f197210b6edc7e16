import { fingerprintOf } from '../../pipeline/clusterer/shapes.ts';
import { Literal, textOf, type LogEntry } from '../../pipeline/core/entry.ts';
import { join, sql, uint32 } from '../../pipeline/core/sql.ts';
import { FieldSet } from '../base/fields.ts';
import { patternOf, templateOf } from '../values/message-pattern.ts';
import { isNumberPrefix } from '../values/numbers.ts';
import { compareBytes } from '../values/order.ts';
import { countEntries } from '../sql/aggregate.ts';
import type { Parser, Pipe, PipeSpec, RunContext, SqlInput, SqlPipe, Stage } from '../base/types.ts';
import { count } from '../base/arguments.ts';
import { doubtColumn, isInDoubt } from './group.ts';
import { Budget } from '../base/rows.ts';

/** The messages of one template: how many, and the smallest one by its bytes. */
type Group = { hits: number; example: string };

/** `patterns N`: rows by the templates of their messages, those with most rows first; all where no number is given. Rows without a message are left out. */
class PatternsPipe implements Pipe {
  readonly liveTail = false;
  readonly rows = 'reshaped';
  readonly limit: number;
  constructor(limit: number) {
    this.limit = limit;
  }
  toString(): string {
    return this.limit === Infinity ? 'patterns' : `patterns ${String(this.limit)}`;
  }
  needs(): FieldSet {
    return FieldSet.of(['_msg']);
  }
  stage(context: RunContext): Stage {
    const groups = new Map<string, Group>();
    const budget = new Budget(context.memory, 'The patterns pipe');
    return {
      push: (row) => {
        const message = textOf(row.get('_msg'));
        const pattern = patternOf(message);
        const group = groups.get(pattern);
        if (pattern === '') return [];
        if (group === undefined) {
          budget.take(1, message.length * 2 + 200);
          groups.set(pattern, { hits: 1, example: message });
        } else {
          group.hits += 1;
          if (compareBytes(message, group.example) < 0) {
            budget.take(0, Math.max(0, message.length - group.example.length) * 2);
            group.example = message;
          }
        }
        return [];
      },
      flush: () => {
        const sorted = context.memory.sort([...groups], ([a, { hits: more }], [b, { hits: less }]) => less - more || compareBytes(a, b));
        return sorted.slice(0, this.limit).map(([, { hits, example }]) => rowOf(example, String(hits)));
      },
    };
  }
  sql({ source, entries, context, doubt }: SqlInput): SqlPipe | null {
    // a pipe has made other messages than those that the column describes, or there is none
    if (context.computed?.('_msg') !== undefined || !context.table.hasPatterns) return null;
    // rows of before there were patterns have the number 0, as those without a message
    const isUnknown = sql`sum(countIf(pattern = 0 AND _msg != '')) OVER () > 0`;
    const columns = [sql`leftPad(lower(hex(pattern)), 16, '0')`, sql`min(_msg)`, sql`${countEntries(entries)} AS hits`, isUnknown];
    let left = this.limit;
    return {
      statement: sql`SELECT ${join([...columns, ...doubtColumn(doubt)], sql`, `)} FROM ${source} GROUP BY pattern ORDER BY hits DESC, pattern LIMIT ${uint32(Math.min(this.limit + 1, 0xffffffff))}`,
      streamColumns: [],
      decode: (row) => {
        const [pattern, example, hits, unknown] = row.map(String) as [string, string, string, string];
        if (isInDoubt(doubt, row) || Number(unknown) > 0) return null;
        if (example === '' || left <= 0) return [];
        left -= 1;
        // by other rules than those of this release
        return patternOf(example) === pattern ? rowOf(example, hits) : null;
      },
    };
  }
}

function rowOf(example: string, hits: string): LogEntry {
  const template = templateOf(example);
  const row: LogEntry = new Map([
    ['fingerprint', fingerprintOf(template)],
    ['normalized_message', template],
  ]);
  return row.set('hits', new Literal(hits)).set('example_raw_message', example);
}

function parsePatterns(parser: Parser): Pipe {
  const { lexer } = parser;
  lexer.next();
  if (!isNumberPrefix(lexer.token)) return new PatternsPipe(Infinity);
  const at = lexer.save();
  const limit = Math.trunc(count(lexer, 'a number of patterns'));
  if (limit < 1) {
    lexer.restore(at);
    lexer.fail('expected a number of patterns above 0');
  }
  return new PatternsPipe(limit);
}

const INPUT = [{ _msg: 'took 7 ms' }, { _msg: 'started' }, { _msg: 'took 5 ms' }];
const TOOK = {
  fingerprint: '881c67c818df6c6ee43d427ec86016b6fecc9c8d17bdb501c248bb5429381e6d',
  ...{ normalized_message: 'took <N>', hits: 2, example_raw_message: 'took 5 ms' },
};

export const patterns: PipeSpec = {
  names: ['patterns'],
  examples: [
    { query: '* | patterns 1', input: INPUT, output: [TOOK] },
    {
      query: '* | patterns | fields normalized_message, hits',
      input: INPUT,
      output: [
        { normalized_message: 'took <N>', hits: 2 },
        { normalized_message: 'started', hits: 1 },
      ],
    },
    { query: '* | format "took 1 s" as _msg | patterns | fields hits', input: INPUT, output: [{ hits: 3 }] },
  ],
  parse: parsePatterns,
};
