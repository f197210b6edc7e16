/** Errors while one types, by the service's own parser. Loaded apart from the page, since it is larger than all the rest. */
import './stand-ins/buffer.ts';
import { LogsqlSyntaxError } from '../../../logsql/base/errors.ts';
import { parseQuery } from '../../../logsql/parser/parser.ts';

export type Problem = { readonly start: number; readonly end: number; readonly text: string };

/** What is wrong with a query, at which place; null: nothing. */
export function problemOf(query: string): Problem | null {
  if (query.trim() === '') return null;
  try {
    parseQuery(query, { now: BigInt(Date.now()) * 1_000_000n });
    return null;
  } catch (error) {
    if (!(error instanceof LogsqlSyntaxError)) return null;
    const { offset, found, expected } = error;
    const start = Math.min(offset, query.length);
    return {
      start,
      end: Math.min(query.length, start + Math.max(1, found.length)),
      text: `${expected.charAt(0).toUpperCase()}${expected.slice(1)}.`,
    };
  }
}
