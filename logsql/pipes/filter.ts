import type { LogEntry } from '../../pipeline/core/entry.ts';
import type { FieldSet } from '../base/fields.ts';
import type { Filter, Pipe, PipeSpec, Stage } from '../base/types.ts';

/** `filter <filter>`, or the filter alone: drops rows that do not match. */
export class FilterPipe implements Pipe {
  readonly liveTail = true;
  readonly rows = 'fewer';
  readonly filter: Filter;
  constructor(filter: Filter) {
    this.filter = filter;
  }
  get filters(): readonly Filter[] {
    return [this.filter];
  }
  withFilters([filter]: readonly Filter[]): Pipe {
    return new FilterPipe(filter ?? this.filter);
  }
  toString(): string {
    return `filter ${this.filter.toString()}`;
  }
  needs(output: FieldSet): FieldSet {
    return output.plus(this.filter.fields);
  }
  stage(): Stage {
    return { push: (row: LogEntry) => (this.filter.matches(row) ? [row] : []), flush: () => [] };
  }
}

export const filterPipe: PipeSpec = {
  names: ['filter', 'where'],
  examples: [
    {
      query: '* | filter n:>1',
      input: [
        { _msg: 'a', n: 1 },
        { _msg: 'b', n: 2 },
      ],
      output: [{ _msg: 'b', n: 2 }],
    },
    // what `fields` left out is not there any more
    { query: '* | fields n | filter _msg:a', input: [{ _msg: 'a', n: 1 }], output: [] },
    { query: '* | fields n | filter _msg:*', input: [{ _msg: 'a', n: 1 }], output: [] },
  ],
  parse(parser) {
    parser.lexer.next();
    return new FilterPipe(parser.topFilter());
  },
};
