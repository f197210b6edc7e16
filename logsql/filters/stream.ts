/** `{app="web",env!="dev" or host=~"h[12]"}`: entries of the streams whose labels match. Regexps match whole values here. */
import { textOf, type LogEntry } from '../../pipeline/core/entry.ts';
import { parseStream } from '../../pipeline/core/labels.ts';
import { ofTenant, sql, texts, type Sql } from '../../pipeline/core/sql.ts';
import type { Regexp } from '../values/regexp.ts';
import { quote } from '../base/reserved.ts';
import { onDays } from '../sql/days.ts';
import { TRUE, and, matchSql, not, or } from '../sql/text.ts';
import type { Filter, FilterSpec, Parser, SqlContext } from '../base/types.ts';
import { AnyFilter } from './logic.ts';

type Operator = '=' | '!=' | '=~' | '!~' | 'in' | 'not_in';
type LabelMatcher = {
  readonly label: string;
  readonly operator: Operator;
  readonly values: readonly string[];
  readonly regexp: Regexp | null;
};
/** Any of these groups, each of which means all of its matchers. */
type Groups = readonly (readonly LabelMatcher[])[];

const isNegative = (operator: Operator): boolean => operator === '!=' || operator === '!~' || operator === 'not_in';
/** As many parsed label sets as a selector keeps. */
const MAX_KEPT = 10_000;

export class StreamFilter implements Filter {
  readonly fields: readonly string[] = ['_stream'];
  readonly #groups: Groups;
  readonly #known = new Map<string, boolean>();
  constructor(groups: Groups) {
    this.#groups = groups;
  }
  /** Whether it has regexps, which cost by what they are matched with. */
  get hasRegexp(): boolean {
    return this.#groups.some((group) => group.some(({ regexp }) => regexp !== null));
  }
  toString(): string {
    return `{${this.#groups.map((group) => group.map(printMatcher).join(',')).join(' or ')}}`;
  }
  matches(entry: LogEntry): boolean {
    return this.matchesStream(textOf(entry.get('_stream')));
  }
  /** True for the string of a matching label set; false for any other string. */
  matchesStream(stream: string): boolean {
    let known = this.#known.get(stream);
    if (known === undefined) {
      if (this.#known.size >= MAX_KEPT) this.#known.clear();
      known = this.#matchesText(stream);
      this.#known.set(stream, known);
    }
    return known;
  }
  #matchesText(stream: string): boolean {
    let labels: ReadonlyMap<string, string>;
    try {
      labels = parseStream(stream);
    } catch {
      return false;
    }
    return this.matchesLabels(labels);
  }
  /** True for a matching label set. */
  matchesLabels(labels: ReadonlyMap<string, string>): boolean {
    return this.#groups.some((group) => group.every((matcher) => matchesLabel(matcher, labels.get(matcher.label) ?? '')));
  }
  sql(context: SqlContext): Sql {
    const { labels } = context.table.stream;
    const condition = or(this.#groups.map((group) => and(group.map((matcher) => matcherSql(matcher, labels)))));
    if (!context.table.stream.isId) return condition;
    return sql`stream_id IN (SELECT stream_id FROM streams WHERE ${ofTenant(context.tenantId)} AND ${onDays(context)} AND ${condition})`;
  }
}

function printMatcher({ label, operator, values }: LabelMatcher): string {
  const list = values.map((value) => JSON.stringify(value));
  return operator === 'in' || operator === 'not_in'
    ? `${quote(label)} ${operator} (${list.join(',')})`
    : quote(label) + operator + (list[0] ?? '""');
}

function matchesLabel({ operator, values, regexp }: LabelMatcher, value: string): boolean {
  const isFound = regexp === null ? values.includes(value) : regexp.test(value);
  return isFound !== isNegative(operator);
}

function matcherSql({ label, operator, values, regexp }: LabelMatcher, labels: (label: string) => Sql): Sql {
  const value = labels(label);
  const found = regexp === null ? sql`has(${texts(values)}, ${value})` : matchSql(value, `^(?:${regexp.source})$`);
  if (regexp?.source === '.*') return isNegative(operator) ? not(TRUE) : TRUE;
  return isNegative(operator) ? not(found) : found;
}

function parseMatcher(parser: Parser): LabelMatcher {
  const { lexer } = parser;
  if (lexer.is('', '=', '!=', '=~', '!~', '{', '}', ',', '(', ')', '"', "'", '`')) lexer.fail('expected a label or "}"');
  const label = lexer.compoundLabel();
  const operator = lexer.keyword ?? '';
  if (!isOperator(operator)) return lexer.fail('expected "=", "!=", "=~", "!~", "in" or "not_in" after a label');
  lexer.next();
  if (operator === 'in' || operator === 'not_in') return { label, operator, values: parseList(parser), regexp: null };
  if (lexer.current.kind === 'end' || lexer.is('}', ',', '{', '"', "'", '`')) lexer.fail('expected a value in quotes');
  const at = lexer.save();
  const value = lexer.next();
  if (operator === '=' || operator === '!=') return { label, operator, values: [value], regexp: null };
  return { label, operator, values: [value], regexp: parser.regexp(value, at, 'label') };
}

const isOperator = (text: string): text is Operator => ['=', '!=', '=~', '!~', 'in', 'not_in'].includes(text);

function parseList(parser: Parser): readonly string[] {
  const { lexer } = parser;
  lexer.expect('(');
  const values: string[] = [];
  while (!lexer.accept(')')) {
    if (lexer.isEnd || lexer.is(',', '(')) lexer.fail('expected a value or ")"');
    values.push(lexer.argument());
    if (!lexer.is(')')) lexer.expect(',');
  }
  return values;
}

function parseGroup(parser: Parser): readonly LabelMatcher[] {
  const group: LabelMatcher[] = [];
  while (!parser.lexer.is('}', 'or')) {
    group.push(parseMatcher(parser));
    if (!parser.lexer.is('}', 'or') && !parser.lexer.accept(',')) parser.lexer.fail('expected ",", "or" or "}" in a stream selector');
  }
  return group;
}

function parseSelector(parser: Parser, field: string): Filter {
  const { lexer } = parser;
  if (field !== '' && field !== '_stream') lexer.fail('expected no field in front of a stream selector, or _stream');
  lexer.expect('{');
  const groups: (readonly LabelMatcher[])[] = [];
  do {
    if (lexer.is('or')) lexer.fail('expected a label');
    const group = parseGroup(parser);
    if (group.length === 0 && groups.length > 0) lexer.fail('expected a label after "or"');
    groups.push(group);
  } while (lexer.accept('or'));
  lexer.expect('}');
  return groups.some((group) => group.length === 0) ? new AnyFilter() : new StreamFilter(groups);
}

/** The selector for the streams that have at least these labels. */
export function parseStreamText(text: string): Filter {
  const matchers = [...parseStream(text)].map(([label, value]): LabelMatcher => ({ label, operator: '=', values: [value], regexp: null }));
  return matchers.length === 0 ? new AnyFilter() : new StreamFilter([matchers]);
}

export const stream: FilterSpec = {
  names: ['{'],
  kind: 'operator',
  examples: [
    {
      query: '{app="web",host=~"h[12]"}',
      input: [
        { _msg: 'a', _stream: '{app="web",host="h1"}' },
        { _msg: 'b', _stream: '{app="web",host="h12"}' },
      ],
      output: [{ _msg: 'a', _stream: '{app="web",host="h1"}' }],
    },
  ],
  parse: parseSelector,
};

/** `_stream:{…}`: the same. */
export const streamField: FilterSpec = {
  names: ['_stream'],
  kind: 'field',
  examples: [
    {
      query: '_stream:{app!="web"}',
      input: [
        { _msg: 'a', _stream: '{app="web"}' },
        { _msg: 'b', _stream: '{}' },
      ],
      output: [{ _msg: 'b', _stream: '{}' }],
    },
  ],
  parse: parseSelector,
};
