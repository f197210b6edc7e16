import type { Lexer } from './lexer.ts';
import { parseUint } from '../values/numbers.ts';
import type { Filter, Pipe, QueryNode, QueryOptions } from './types.ts';

/** A parsed query. Printed, it reads back as the same. */
export class Query implements QueryNode {
  readonly options: QueryOptions;
  readonly filter: Filter;
  readonly pipes: readonly Pipe[];
  constructor(options: QueryOptions, filter: Filter, pipes: readonly Pipe[]) {
    this.options = options;
    this.filter = filter;
    this.pipes = pipes;
  }
  toString(): string {
    return [printOptions(this.options) + this.filter.toString(), ...this.pipes.map((pipe) => pipe.toString())].join(' | ');
  }
  /** True when every pipe passes rows on one by one. */
  get liveTail(): boolean {
    return this.pipes.every((pipe) => pipe.liveTail);
  }
}

function printOptions({ concurrency, ignoreGlobalTimeFilter }: QueryOptions): string {
  const list = [
    ...(concurrency === undefined ? [] : [`concurrency=${String(concurrency)}`]),
    ...(ignoreGlobalTimeFilter === undefined ? [] : [`ignore_global_time_filter=${String(ignoreGlobalTimeFilter)}`]),
  ];
  return list.length === 0 ? '' : `options(${list.join(', ')}) `;
}

const BOOLEANS: Readonly<Record<string, boolean>> = {
  '1': true,
  t: true,
  T: true,
  true: true,
  TRUE: true,
  True: true,
  '0': false,
  f: false,
  F: false,
  false: false,
  FALSE: false,
  False: false,
};
const MAX_CONCURRENCY = 1024;

/** `options(concurrency=2, ignore_global_time_filter=true)` in front of a query; a subquery inherits those around it. */
export function parseOptions(lexer: Lexer, inherited: QueryOptions): QueryOptions {
  if (!lexer.accept('options')) return inherited;
  if (!lexer.is('(')) lexer.fail('expected "(" after options; put "options" in quotes to search for the word');
  lexer.next();
  let options = inherited;
  while (!lexer.accept(')')) {
    options = { ...options, ...parseOption(lexer) };
    if (!lexer.is(')')) lexer.expect(',');
  }
  return options;
}

function parseOption(lexer: Lexer): QueryOptions {
  const at = lexer.save();
  const name = lexer.keyOrValue('the name of an option');
  lexer.expect('=');
  const value = lexer.keyOrValue('the value of an option');
  const number = parseUint(value);
  if (name === 'concurrency' && number !== null) return { concurrency: Math.min(Number(number), MAX_CONCURRENCY) };
  if (name === 'ignore_global_time_filter' && Object.hasOwn(BOOLEANS, value)) return { ignoreGlobalTimeFilter: BOOLEANS[value] ?? false };
  lexer.restore(at);
  return lexer.fail('expected concurrency=<number> or ignore_global_time_filter=<boolean>');
}
