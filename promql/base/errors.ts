/** What can go wrong with an expression: its syntax and types, its evaluation, its time, or what it would hold. */

/** From the first character to behind the last one, in UTF-16 units from 0. */
export type Range = { readonly from: number; readonly to: number };

/** Line and column from 1, columns in UTF-16 units. */
export function positionText(query: string, offset: number): string {
  const before = query.slice(0, offset);
  const line = before.split('\n').length;
  return `${String(line)}:${String(offset - before.lastIndexOf('\n'))}`;
}

/** The string is not a valid expression. The message begins with line and column, as Prometheus has it. */
export class PromqlSyntaxError extends Error {
  readonly range: Range;
  /** Without the position. */
  readonly reason: string;

  constructor(query: string, range: Range, reason: string) {
    super(`${positionText(query, range.from)}: parse error: ${reason}`);
    this.name = 'PromqlSyntaxError';
    this.range = range;
    this.reason = reason;
  }
}

/** The request is bad in another way than its syntax: `bad_data`. */
export class PromqlRequestError extends Error {
  override readonly name = 'PromqlRequestError';
}

/** The expression cannot be evaluated on these samples: `execution`. */
export class PromqlExecutionError extends Error {
  override readonly name = 'PromqlExecutionError';
}

/** The expression would hold more samples than a query may: `execution`. */
export class PromqlLimitError extends PromqlExecutionError {
  constructor() {
    super('query processing would load too many samples into memory in query execution');
  }
}

export const SAME_LABELS = 'vector cannot contain metrics with the same labelset';
