import type { FieldSet } from '../base/fields.ts';
import type { Lexer } from '../base/lexer.ts';
import type { Pipe, PipeSpec, Stage } from '../base/types.ts';
import { atEnd, count } from '../base/arguments.ts';

const DEFAULT_LIMIT = 10;

/** A count as it is printed; an infinite one as `inf`. */
const print = (value: number): string => (value === Infinity ? 'inf' : String(value));

/** `limit N`: the first N rows, which are the newest entries where nothing has sorted them. */
export class LimitPipe implements Pipe {
  readonly liveTail = false;
  readonly rows = 'reshaped';
  readonly isOrdered = true;
  readonly limit: number;
  constructor(limit: number) {
    this.limit = limit;
  }
  toString(): string {
    return `limit ${print(this.limit)}`;
  }
  needs(output: FieldSet): FieldSet {
    return output;
  }
  stage(): Stage {
    let left = this.limit;
    return {
      get done() {
        return left <= 0;
      },
      push: (row) => {
        left -= 1;
        return left >= 0 ? [row] : [];
      },
      flush: () => [],
    };
  }
}

/** `offset N`: all but the first N rows. */
export class OffsetPipe implements Pipe {
  readonly liveTail = false;
  readonly rows = 'reshaped';
  readonly isOrdered = true;
  readonly offset: number;
  constructor(offset: number) {
    this.offset = offset;
  }
  toString(): string {
    return `offset ${print(this.offset)}`;
  }
  needs(output: FieldSet): FieldSet {
    return output;
  }
  stage(): Stage {
    let left = this.offset;
    return {
      push: (row) => {
        left -= 1;
        return left < 0 ? [row] : [];
      },
      flush: () => [],
    };
  }
}

const INPUT = [{ _msg: 'a' }, { _msg: 'b' }, { _msg: 'c' }];

function defaulted(lexer: Lexer): number {
  lexer.next();
  return atEnd(lexer) ? DEFAULT_LIMIT : count(lexer, 'a number of rows');
}

export const limit: PipeSpec = {
  names: ['limit', 'head'],
  examples: [{ query: '* | limit 2', input: INPUT, output: [{ _msg: 'a' }, { _msg: 'b' }] }],
  parse: (parser) => new LimitPipe(defaulted(parser.lexer)),
};

export const offset: PipeSpec = {
  names: ['offset', 'skip'],
  examples: [{ query: '* | offset 2', input: INPUT, output: [{ _msg: 'c' }] }],
  parse(parser) {
    parser.lexer.next();
    return new OffsetPipe(count(parser.lexer, 'a number of rows'));
  },
};
