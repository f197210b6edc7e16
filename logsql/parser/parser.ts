/**
 * LogsQL's grammar, as VictoriaLogs 1.26 has it:
 *   query  = [ "options(" … ")" ] filter { "|" pipe }
 *   filter = and { "or" and } ;  and = single { [ "and" ] single }
 *   single = [ field ":" ] ( "!" single | "(" filter ")" | "*" | operator | function "(" … ")" | word | phrase | prefix "*" )
 */
import { AndFilter, AnyFilter, NotFilter, OrFilter } from '../filters/logic.ts';
import { filters } from '../filters/index.ts';
import { PhraseFilter, PrefixFilter } from '../filters/phrase.ts';
import { FilterPipe } from '../pipes/filter.ts';
import { LogsqlSyntaxError } from '../base/errors.ts';
import { pipeHint, refuseForeign } from './hints.ts';
import { Lexer } from '../base/lexer.ts';
import { pipes } from '../pipes/index.ts';
import { namePacked } from '../pipes/pack.ts';
import { mergeSorts } from '../pipes/sort.ts';
import { parseStatsPipe } from '../pipes/stats.ts';
import { Query, parseOptions } from '../base/query.ts';
import { MAX_PROGRAM_SIZE, RegexpError, compileRegexp, tooLarge, type Regexp, type RegexpKind } from '../values/regexp.ts';
import { STORAGE_PIPES, isPipeWord } from '../base/reserved.ts';
import type { Filter, Parser, Pipe, QueryNode, QueryOptions } from '../base/types.ts';

/** Longest query, in characters, and deepest nesting of parentheses, negations and subqueries. */
export const MAX_QUERY_LENGTH = 10_000;
const MAX_DEPTH = 100;
/** Most queries inside a query (`in(<query>)`, `union`, `join`): each is run on its own. */
export const MAX_QUERIES = 100;

/** What a query's meaning depends on: `now` is what relative times count from, in nanoseconds. `programSize`: what its regexps compile to at most, together. */
export type ParseOptions = { readonly now: bigint; readonly programSize?: number };

/** Reads a query, or throws LogsqlSyntaxError. */
export function parseQuery(text: string, options: ParseOptions): Query {
  if (text.length > MAX_QUERY_LENGTH && Array.from(text).length > MAX_QUERY_LENGTH)
    throw new LogsqlSyntaxError(MAX_QUERY_LENGTH, '…', `a query has at most ${String(MAX_QUERY_LENGTH)} characters`);
  const parser = new QueryParser(text.toWellFormed(), options);
  refuseForeign(parser.lexer);
  const query = parser.wholeQuery({});
  if (!parser.lexer.isEnd) parser.lexer.fail('expected "|" or the end of the query');
  return query;
}

/** Reads a filter without pipes, as live tail and the detectors take it. */
export function parseFilter(text: string, options: ParseOptions): Filter {
  const query = parseQuery(text, options);
  if (query.pipes.length > 0) throw new LogsqlSyntaxError(text.indexOf('|'), '|', 'expected a filter without pipes');
  return query.filter;
}

class QueryParser implements Parser {
  readonly lexer: Lexer;
  readonly now: bigint;
  #depth = 0;
  #queries = 0;
  /** Sizes of the regexps by their places: what is read twice counts once. */
  readonly #regexps = new Map<number, number>();
  readonly #programSize: number;
  #options: QueryOptions = {};
  /** True in a filter in front of all pipes: of entries, which have a message. */
  #ofEntries = false;

  constructor(text: string, { now, programSize = MAX_PROGRAM_SIZE }: ParseOptions) {
    this.lexer = new Lexer(text);
    this.now = now;
    this.#programSize = programSize;
  }

  wholeQuery(inherited: QueryOptions): Query {
    const outer = { options: this.#options, ofEntries: this.#ofEntries };
    this.#options = parseOptions(this.lexer, inherited);
    this.#ofEntries = true;
    const filter = this.topFilter();
    this.#ofEntries = false;
    const steps = this.lexer.accept('|') ? this.#pipes() : [];
    const query = new Query(this.#options, filter, steps);
    this.#options = outer.options;
    this.#ofEntries = outer.ofEntries;
    return query;
  }

  query(): QueryNode {
    this.#queries += 1;
    if (this.#queries > MAX_QUERIES) this.lexer.fail(`expected at most ${String(MAX_QUERIES)} queries inside a query`);
    return this.#nested(() => {
      this.lexer.expect('(');
      const query = this.wholeQuery(this.#options);
      this.lexer.expect(')');
      return query;
    });
  }

  /** A filter that begins a query or a `filter` pipe. */
  topFilter(): Filter {
    if (this.lexer.is('|', ')', '')) this.lexer.fail('expected a filter');
    if (this.lexer.current.kind === 'word' && isPipeWord(this.lexer.raw))
      this.lexer.fail(`expected a filter; put ${JSON.stringify(this.lexer.raw)} in quotes to search for the word`);
    return this.filter('');
  }

  filter(field: string): Filter {
    const parts: Filter[] = [];
    do parts.push(this.#all(field));
    while (this.#acceptOperator('or'));
    const [first] = parts;
    return parts.length === 1 && first !== undefined ? first : new OrFilter(parts);
  }

  #all(field: string): Filter {
    const parts: Filter[] = [];
    do {
      parts.push(this.single(field));
      this.#acceptOperator('and');
    } while (!this.lexer.is('or', '|', ')', ''));
    const [first] = parts;
    return parts.length === 1 && first !== undefined ? first : new AndFilter(parts);
  }

  /** Moves past `and` or `or`, after which something must follow. */
  #acceptOperator(operator: string): boolean {
    if (!this.lexer.accept(operator)) return false;
    if (this.lexer.isEnd) this.lexer.fail(`expected a filter after "${operator}"`);
    return true;
  }

  single(field: string): Filter {
    return this.#nested(() => this.#single(field));
  }

  #single(field: string): Filter {
    const { lexer } = this;
    if (lexer.is('"', "'", '`')) lexer.fail('expected a string whose quotes and escapes are complete');
    if (lexer.is(',', ')', ']', '|', '') || (lexer.is('[') && field === '')) lexer.fail('expected a filter');
    if (lexer.accept(':')) {
      if (lexer.isEnd) lexer.fail('expected a filter after ":"');
      return this.single(field);
    }
    if (lexer.accept('*')) {
      if (lexer.is(':')) lexer.fail('expected no ":" after "*": names of fields have no wildcards here');
      return field === '' || (field === '_msg' && this.#ofEntries) ? new AnyFilter() : new PrefixFilter(field, '');
    }
    if (lexer.is('(')) return this.#group(field);
    if (lexer.is('not', '!', '-')) return this.#negation(field);
    const spec = filters.find(lexer.keyword ?? '');
    if (spec?.kind === 'operator') return spec.parse(this, field);
    if (spec?.kind === 'function') {
      const at = lexer.save();
      lexer.next();
      const isCall = lexer.is(...(spec.opens ?? ['(']));
      lexer.restore(at);
      if (isCall) return spec.parse(this, field);
    }
    return this.phrase(lexer.phrase(field !== ''), field);
  }

  #group(field: string): Filter {
    const { lexer } = this;
    if (!lexer.spaced && !['', ':', '(', '!', '-', 'not'].includes(lexer.previous.toLowerCase()))
      lexer.fail('expected white space or an operator before "("');
    lexer.next();
    const filter = this.filter(field);
    lexer.expect(')');
    return filter;
  }

  #negation(field: string): Filter {
    const operator = this.lexer.next();
    if (this.lexer.isEnd) this.lexer.fail(`expected a filter after "${operator}"`);
    const filter = this.single(field);
    return filter instanceof NotFilter ? filter.parts[0] : new NotFilter(filter);
  }

  phrase(text: string, field: string): Filter {
    const { lexer } = this;
    if (field === '' && lexer.is(':')) return this.#field(text);
    if (!lexer.is('*') || lexer.spaced) return new PhraseFilter(field, text);
    lexer.next();
    if (lexer.is(':')) lexer.fail('expected no ":" after "*": names of fields have no wildcards here');
    return new PrefixFilter(field, text);
  }

  #field(name: string): Filter {
    const { lexer } = this;
    lexer.next();
    if (lexer.isEnd) lexer.fail(`expected a filter after the field ${JSON.stringify(name)}`);
    const spec = filters.find(name);
    return spec?.kind === 'field' ? spec.parse(this, name) : this.single(name);
  }

  condition(): Filter {
    const { lexer } = this;
    lexer.expect('(');
    if (lexer.accept(')')) return new AnyFilter();
    const filter = this.topFilter();
    lexer.expect(')');
    return filter;
  }

  regexp(source: string, at: number, kind: RegexpKind): Regexp {
    try {
      const regexp = compileRegexp(source, kind);
      this.#regexps.set(at, regexp.size);
      if ([...this.#regexps.values()].reduce((sum, size) => sum + size, 0) > this.#programSize) throw tooLarge(this.#programSize);
      return regexp;
    } catch (error) {
      if (!(error instanceof RegexpError)) throw error;
      this.lexer.restore(at);
      return this.lexer.fail(`expected a regexp that RE2 accepts (${error.message})`);
    }
  }

  #pipes(): Pipe[] {
    const list: Pipe[] = [];
    do {
      const at = this.lexer.save();
      if (this.lexer.is('=') && !this.lexer.spaced)
        this.lexer.fail('expected a pipe; the line filter |= "x" of LogQL is written "x", in front of the pipes');
      const pipe = this.#pipe();
      if (pipe.expand !== undefined && list.length > 0) {
        this.lexer.restore(at);
        this.lexer.fail(`expected another pipe: ${this.lexer.token} can only be the first one, right behind the filter`);
      }
      list.push(pipe);
      if (!this.lexer.is('|', ')', '')) this.lexer.fail('expected "|" or the end of the pipe');
    } while (this.lexer.accept('|'));
    return [...namePacked(mergeSorts(list))];
  }

  /** A pipe by its name; else `stats` without its keyword; else a filter without its keyword. */
  #pipe(): Pipe {
    const { lexer } = this;
    const spec = pipes.find(lexer.keyword ?? '');
    if (spec !== undefined) return spec.parse(this);
    if (lexer.is(...STORAGE_PIPES))
      lexer.fail(`expected another pipe: ${lexer.token} looks at the files of VictoriaLogs, which are not here`);
    if (lexer.is('by', '(') || (lexer.current.kind === 'word' && isPipeWord(lexer.raw))) return this.#bareStats();
    const { current } = lexer;
    try {
      return new FilterPipe(this.topFilter());
    } catch (error) {
      const hint = error instanceof LogsqlSyntaxError ? pipeHint(current) : null;
      if (hint === null || !(error instanceof LogsqlSyntaxError)) throw error;
      throw new LogsqlSyntaxError(error.offset, error.found, `${error.expected} (${hint})`);
    }
  }

  #bareStats(): Pipe {
    const { lexer } = this;
    const at = lexer.save();
    try {
      return parseStatsPipe(this);
    } catch (error) {
      lexer.restore(at);
      if (!(error instanceof LogsqlSyntaxError) || !lexer.is('(')) throw error;
      return new FilterPipe(this.topFilter());
    }
  }

  #nested<T>(read: () => T): T {
    this.#depth += 1;
    if (this.#depth > MAX_DEPTH) this.lexer.fail(`expected at most ${String(MAX_DEPTH)} levels of nesting`);
    try {
      return read();
    } finally {
      this.#depth -= 1;
    }
  }
}
