import { textOf, type LogEntry } from '../../pipeline/core/entry.ts';
import { quote } from '../base/reserved.ts';
import type { Pipe, PipeSpec } from '../base/types.ts';
import { atEnd, fieldName } from '../base/arguments.ts';
import { NO_OPTIONS, ResultPipe } from './results.ts';

/** ANSI control sequences: ESC [ … and a final letter. */
const COLOR = new RegExp(`${String.fromCharCode(27)}\\[[0-9;:]*[A-Za-z]`, 'g');

/** `decolorize [f]`: drops terminal colours. */
class DecolorizePipe extends ResultPipe {
  readonly results: readonly string[];
  readonly sources: readonly string[];
  constructor(field: string) {
    super(NO_OPTIONS);
    this.results = [field];
    this.sources = [field];
  }
  withOptions(): Pipe {
    return this;
  }
  toString(): string {
    return `decolorize${this.results[0] === '_msg' ? '' : ` ${this.results.map(quote).join('')}`}`;
  }
  compute(row: LogEntry): readonly (readonly [string, string])[] {
    const [field = ''] = this.results;
    return [[field, textOf(row.get(field)).replace(COLOR, '')]];
  }
}

export const decolorize: PipeSpec = {
  names: ['decolorize'],
  examples: [{ query: '* | decolorize', input: [{ _msg: '\u001b[31mred\u001b[0m' }], output: [{ _msg: 'red' }] }],
  parse({ lexer }) {
    lexer.next();
    return new DecolorizePipe(atEnd(lexer) ? '_msg' : fieldName(lexer));
  },
};
