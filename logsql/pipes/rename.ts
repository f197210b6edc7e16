import type { LogEntry } from '../../pipeline/core/entry.ts';
import { sql, type Sql } from '../../pipeline/core/sql.ts';
import { coversField, type FieldSet } from '../base/fields.ts';
import { quotePattern } from '../base/reserved.ts';
import type { Parser, Pipe, PipeSpec, RowChange, RowInput, Stage } from '../base/types.ts';
import { fieldName } from '../base/arguments.ts';
import { fitting, mapRows } from '../base/rows.ts';

export type Pair = { readonly from: string; readonly to: string };

const isPattern = (name: string): boolean => name.endsWith('*');

/** `copy a as b, c* as d*` and `rename …`: pair after pair, left to right. A field that is missing takes the other's place as missing. */
export class RenamePipe implements Pipe {
  readonly liveTail = true;
  readonly rows = 'same';
  readonly name: 'copy' | 'rename';
  readonly pairs: readonly Pair[];
  constructor(name: 'copy' | 'rename', pairs: readonly Pair[]) {
    this.name = name;
    this.pairs = pairs;
  }
  get dropsTime(): boolean {
    return this.pairs.some(({ from, to }) => coversField([to], '_time') || (this.name === 'rename' && coversField([from], '_time')));
  }
  toString(): string {
    return `${this.name} ${this.pairs.map(({ from, to }) => `${quotePattern(from)} as ${quotePattern(to)}`).join(', ')}`;
  }
  needs(output: FieldSet): FieldSet {
    return [...this.pairs].reverse().reduce((needed, { from, to }) => (isPattern(to) ? needed : needed.minus([to])).plus([from]), output);
  }
  /** Pair after pair over the fields as the pairs before have left them; which fields a pattern moves depends on the rows. */
  computes(input: RowInput): RowChange | null {
    const written = new Map<string, Sql>();
    for (const { from, to } of this.pairs) {
      const value = written.get(from) ?? (isPattern(from) || isPattern(to) ? null : input.text(from));
      if (value === null) return null;
      if (this.name === 'rename') written.set(from, sql`''`);
      written.set(to, value);
    }
    return { written };
  }
  stage(): Stage {
    const who = (): string => `The ${this.name} pipe`;
    return mapRows((row) =>
      fitting(
        this.pairs.reduce((changed, pair) => this.#move(changed, pair), row),
        who,
      ),
    );
  }
  #move(row: LogEntry, { from, to }: Pair): LogEntry {
    const found = [...row].filter(([name]) => coversField([from], name));
    const moved: LogEntry = new Map(row);
    if (this.name === 'rename') for (const [name] of found) moved.delete(name);
    if (found.length === 0 && !isPattern(from)) moved.delete(to);
    for (const [name, value] of found)
      moved.set(isPattern(from) && isPattern(to) ? to.slice(0, -1) + name.slice(from.length - 1) : to, value);
    return moved;
  }
}

function parsePairs(parser: Parser): readonly Pair[] {
  const { lexer } = parser;
  lexer.next();
  const pairs: Pair[] = [];
  do {
    const from = fieldName(lexer);
    lexer.accept('as');
    pairs.push({ from, to: fieldName(lexer) });
  } while (lexer.accept(','));
  return pairs;
}

const INPUT = [{ _msg: 'x', 'user.id': 7, 'user.name': 'ann' }];

export const copy: PipeSpec = {
  names: ['copy', 'cp'],
  examples: [{ query: '* | copy _msg as m', input: INPUT, output: [{ _msg: 'x', 'user.id': 7, 'user.name': 'ann', m: 'x' }] }],
  parse: (parser) => new RenamePipe('copy', parsePairs(parser)),
};

export const rename: PipeSpec = {
  names: ['rename', 'mv'],
  examples: [
    { query: '* | rename user.* as u.*', input: INPUT, output: [{ _msg: 'x', 'u.id': 7, 'u.name': 'ann' }] },
    { query: '* | rename user.id as n, user.name as n | stats max(n) m, count(user.id) c', input: INPUT, output: [{ m: 'ann', c: 0 }] },
  ],
  parse: (parser) => new RenamePipe('rename', parsePairs(parser)),
};
