/** What can go wrong with a query: its syntax, or its memory. */

/** The string is not a valid LogsQL query. `offset` counts UTF-16 units from 0; `found` is the token there ('' at the end). */
export class LogsqlSyntaxError extends Error {
  readonly offset: number;
  readonly found: string;
  readonly expected: string;
  constructor(offset: number, found: string, expected: string) {
    super(
      `LogsQL syntax error at offset ${String(offset)}: ${expected}; got ${found === '' ? 'the end of the query' : JSON.stringify(found)}`,
    );
    this.name = 'LogsqlSyntaxError';
    this.offset = offset;
    this.found = found;
    this.expected = expected;
  }
}

/** An in-memory stage would hold more rows or bytes than it may. */
export class LogsqlLimitError extends Error {
  constructor(what: string) {
    super(what);
    this.name = 'LogsqlLimitError';
  }
}
