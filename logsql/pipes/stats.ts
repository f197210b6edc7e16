import { textOf, type FieldValue, type LogEntry } from '../../pipeline/core/entry.ts';
import { join, sql, type Sql } from '../../pipeline/core/sql.ts';
import { parseTimestamp } from '../values/numbers.ts';
import { momentText } from '../values/times.ts';
import { FieldSet } from '../base/fields.ts';
import type { QueryMemory } from '../base/memory.ts';
import { quote } from '../base/reserved.ts';
import { cutGroups, type GroupCut } from './cut-groups.ts';
import { Layers } from '../sql/layers.ts';
import { stats as functions } from '../stats/index.ts';
import { unknownFunction } from '../stats/unknown-function.ts';
import type {
  Accumulator,
  Filter,
  Parser,
  Pipe,
  PipeSpec,
  RunContext,
  SqlContext,
  SqlInput,
  SqlPipe,
  Stage,
  Stats,
  StatsContext,
  StatsSql,
  StatsSqlInput,
} from '../base/types.ts';
import { atEnd, fieldName } from '../base/arguments.ts';
import { bucketTimeSql, bucketValue, nextBucketTime, parseBucket, spanInside, type Bucket } from './bucket.ts';
import { doubtColumn, groupKey, isInDoubt, type GroupKey } from './group.ts';
import { GroupOrderPipe, compareGroups, groupOrder } from './group-order.ts';
import { Budget, fitting, keyOf, rowOf } from '../base/rows.ts';

/** A field to group by, in buckets or as it is. */
export type ByField = { readonly name: string; readonly bucket: Bucket | null };
/** A function, the condition of its `if (…)`, and the name of its result. */
export type StatsCall = { readonly stats: Stats; readonly condition: Filter | null; readonly name: string };

const WHO = 'The stats pipe';

type Group = { readonly values: readonly string[]; readonly accumulators: readonly Accumulator[] };

/** `stats by (a, _time:5m) count() n, sum(b) if (error)`: one row for each group; one row in all when nothing is grouped. */
export class StatsPipe implements Pipe {
  readonly liveTail = false;
  readonly rows = 'reshaped';
  readonly by: readonly ByField[];
  readonly calls: readonly StatsCall[];
  constructor(by: readonly ByField[], calls: readonly StatsCall[]) {
    this.by = by;
    this.calls = calls;
  }
  get filters(): readonly Filter[] {
    return this.calls.flatMap(({ condition }) => (condition === null ? [] : [condition]));
  }
  withFilters(filters: readonly Filter[]): Pipe {
    const rest = [...filters];
    return new StatsPipe(
      this.by,
      this.calls.map((call) => (call.condition === null ? call : { ...call, condition: rest.shift() ?? call.condition })),
    );
  }
  toString(): string {
    const by = this.by.map(({ name, bucket }) => quote(name) + (bucket === null ? '' : `:${bucket.written}`));
    const calls = this.calls.map((call) => `${printCall(call)} as ${quote(call.name)}`);
    return `stats${by.length === 0 ? '' : ` by (${by.join(', ')})`} ${calls.join(', ')}`;
  }
  needs(output: FieldSet): FieldSet {
    const used = this.calls.filter(({ name }) => output.has(name));
    return FieldSet.of([
      ...this.by.map(({ name }) => name),
      ...used.flatMap(({ stats, condition }) => [...stats.fields, ...(condition?.fields ?? [])]),
    ]);
  }

  stage(context: RunContext): Stage {
    const budget = new Budget(context.memory, WHO);
    const hold = (bytes: number): void => budget.take(0, bytes);
    const groups = new Map<string, Group>();
    const groupOf = (values: readonly string[]): Group => {
      const key = keyOf(values);
      let group = groups.get(key);
      if (group === undefined) {
        budget.take(1, key.length * 2 + 200 + this.calls.length * 100);
        const inner: StatsContext = { ...context, seconds: this.#seconds(values, context), hold };
        group = { values, accumulators: this.calls.map(({ stats }) => stats.accumulator(inner)) };
        groups.set(key, group);
      }
      return group;
    };
    if (this.by.length === 0) groupOf([]);
    return {
      push: (row) => {
        const { accumulators } = groupOf(this.by.map(({ name, bucket }) => valueOf(row, name, bucket)));
        for (const [index, call] of this.calls.entries())
          if (call.condition === null || call.condition.matches(row)) accumulators[index]?.add(row);
        return [];
      },
      flush: () => this.#rows(inOrder([...groups.values()], this.by, context.memory)),
    };
  }
  /** One by one, so that the time is looked at between them. */
  *#rows(groups: readonly Group[]): Generator<LogEntry> {
    for (const { values, accumulators } of groups)
      yield this.#row(
        values,
        accumulators.map((accumulator) => accumulator.value()),
      );
  }

  /** How much time the group of these values stands for. */
  #seconds(values: readonly string[], { start, end }: RunContext): number {
    const at = this.by.findIndex(({ name, bucket }) => name === '_time' && bucket !== null);
    const bucket = this.by[at]?.bucket ?? null;
    const first = parseTimestamp(values[at] ?? '');
    if (bucket === null || first === null) return secondsOf(end - start + 1n);
    return Number(nextBucketTime(first, bucket) - first) / 1e9;
  }

  #row(keys: readonly string[], results: readonly FieldValue[]): LogEntry {
    return fitting(
      rowOf([
        ...this.by.map(({ name }, index) => [name, keys[index] ?? ''] as const),
        ...this.calls.map(({ name }, index) => [name, results[index] ?? ''] as const),
      ]),
      () => WHO,
    );
  }

  get countedSpan(): number {
    const counts = this.calls.every(
      ({ stats, condition }) => stats.onlyCounts === true && ![...stats.fields, ...(condition?.fields ?? [])].includes('_time'),
    );
    if (!counts) return 0;
    return Math.min(
      ...this.by.filter(({ name }) => name === '_time').map(({ bucket }) => (bucket === null ? 0 : spanInside(bucket))),
      Infinity,
    );
  }
  sql({ source, entries, context, run, doubt = null, rest = [] }: SqlInput): SqlPipe | null {
    const keys = this.by.map(({ name, bucket }) => sqlKey(name, bucket, context));
    if (!keys.every((key) => key !== null)) return null;
    const inputs = this.calls.map((call) => conditionOf(call, { ...context, indexed: false }));
    if (!inputs.every((input) => input !== null)) return null;
    const statement = (forms: readonly Form[]): SqlPipe | null => {
      const common = { context: { ...context, indexed: false }, run, entries, layers: new Layers('v') };
      const parts = forms.map((form, index) => form({ ...common, condition: inputs[index]?.condition ?? null }));
      return parts.every((part) => part !== null)
        ? this.#statement(
            { source: common.layers.over(source, context.computed === undefined ? context.table : null), run, keys, doubt, rest, context },
            forms,
            parts,
            statement,
          )
        : null;
    };
    return statement(
      this.calls.map(
        ({ stats }) =>
          (input: StatsSqlInput) =>
            stats.sql?.(input) ?? null,
      ),
    );
  }
  /** The same with what the pipes that follow leave of the groups. */
  #cut({ source, keys, run, doubt, rest, context }: Stated, parts: readonly StatsSql[]): GroupCut | null {
    const groups = this.by.map(({ name }, index) => ({
      name,
      key: keys[index]?.expression ?? sql``,
      isStream: keys[index]?.isStream === true,
    }));
    const results = this.calls.map(({ name }, index) => ({ name, columns: parts[index]?.columns ?? [], number: parts[index]?.number }));
    return cutGroups({ source, groups, results, run, context, doubt: doubtColumn(doubt)[0] ?? null }, rest);
  }
  #statement(
    stated: Stated,
    forms: readonly Form[],
    parts: readonly StatsSql[],
    make: (forms: readonly Form[]) => SqlPipe | null,
  ): SqlPipe {
    const { source, run, keys, doubt } = stated;
    const groups = keys.map(({ expression }) => expression);
    const list = join([...groups, ...parts.flatMap(({ columns }) => columns), ...doubtColumn(doubt)], sql`, `);
    const cut = this.#cut(stated, parts);
    const isLast = parts.every(({ otherwise }) => otherwise === undefined);
    const otherwise = isLast ? null : make(parts.map((part, index) => part.otherwise ?? forms[index] ?? NO_FORM));
    return {
      statement:
        cut?.statement ??
        sql`SELECT ${list} FROM ${source}${groups.length === 0 ? sql`` : sql` GROUP BY ${join(groups, sql`, `)}${groupOrder(keys)}`}`,
      ...(cut === null ? {} : { left: cut.left }),
      ...(keys.some(({ isStream }) => isStream) ? { order: new GroupOrderPipe(this.by.map(({ name }) => name)) } : {}),
      streamColumns: keys.flatMap((key, index) => (key.isId === true ? [index] : [])),
      decode: (row, streams) => {
        if (isInDoubt(doubt, row)) return null;
        const values = keys.map((key, index) => key.decode(row[index], streams));
        const results = decodeParts(parts, row.slice(keys.length), this.#seconds(values, run));
        return results === null ? null : this.#row(values, results);
      },
      ...(otherwise === null ? {} : { otherwise }),
    };
  }
}

/** What a statement of groups is made of. */
type Stated = Pick<SqlInput, 'source' | 'run' | 'doubt' | 'context'> & {
  readonly rest: readonly Pipe[];
  readonly keys: readonly GroupKey[];
};

/** One way to express a function in SQL. */
type Form = (input: StatsSqlInput) => StatsSql | null;
const NO_FORM: Form = () => null;

function inOrder<Each extends Pick<Group, 'values'>>(groups: Each[], by: readonly ByField[], memory: QueryMemory): Each[] {
  const compare = compareGroups(by.map(({ name }) => name));
  return memory.sort(groups, (a, b) => compare(a.values, b.values));
}

const printCall = ({ stats, condition }: Omit<StatsCall, 'name'>): string =>
  stats.toString() + (condition === null ? '' : ` if (${condition.toString()})`);

function valueOf(row: LogEntry, name: string, bucket: Bucket | null): string {
  const text = textOf(row.get(name));
  return bucket === null ? text : bucketValue(text, bucket);
}

function sqlKey(name: string, bucket: Bucket | null, context: SqlContext): GroupKey | null {
  if (bucket === null) return groupKey(name, context);
  return name === '_time'
    ? { expression: bucketTimeSql(bucket), isStream: false, decode: (value) => momentText(BigInt(String(value))) }
    : null;
}

/** The condition of a call in SQL, null where it has none; null where SQL cannot express it. */
function conditionOf({ condition }: StatsCall, context: SqlContext): { readonly condition: Sql | null } | null {
  if (condition === null) return { condition: null };
  const inSql = condition.sql(context);
  return inSql === null ? null : { condition: inSql };
}

/** To the microsecond: ten minutes up to now have a nanosecond more than 600 s. */
const secondsOf = (ns: bigint): number => (ns < 1000n ? Number(ns) / 1e9 : Number((ns + 500n) / 1000n) / 1e6);

function decodeParts(parts: readonly StatsSql[], values: readonly unknown[], seconds: number): readonly FieldValue[] | null {
  const results: FieldValue[] = [];
  let at = 0;
  for (const { columns, decode } of parts) {
    const result = decode(values.slice(at, at + columns.length), seconds);
    if (result === null) return null;
    results.push(result);
    at += columns.length;
  }
  return results;
}

function parseBy(parser: Parser): readonly ByField[] {
  const { lexer } = parser;
  const hasBy = lexer.accept('by');
  if (!hasBy && !lexer.is('(')) return [];
  lexer.expect('(');
  const list: ByField[] = [];
  while (!lexer.accept(')')) {
    const name = lexer.phrase(false);
    const bucket = lexer.accept(':') ? parseBucket(lexer) : null;
    list.push({ name: name === '' ? '_msg' : name, bucket });
    if (!lexer.is(')') && !lexer.accept(',')) lexer.fail('expected "," or ")"');
  }
  return list;
}

function parseCall(parser: Parser): StatsCall {
  const { lexer } = parser;
  const spec = functions.find(lexer.keyword ?? '');
  if (spec === undefined)
    return lexer.fail(
      unknownFunction(
        lexer.keyword ?? '',
        functions.members.flatMap(({ names }) => names),
      ),
    );
  const at = lexer.save();
  const name = lexer.next();
  if (!lexer.is('(')) lexer.fail(`expected "(" after ${name}, as in stats by (service) ${name}()`);
  lexer.restore(at);
  const stats = spec.parse(parser);
  const condition = lexer.accept('if') ? parser.condition() : null;
  if (lexer.is(',') || atEnd(lexer)) return { stats, condition, name: printCall({ stats, condition }) };
  lexer.accept('as');
  return { stats, condition, name: fieldName(lexer) };
}

/** Reads `by (…) f(), g()`, from after the word `stats`. */
export function parseStatsPipe(parser: Parser): Pipe {
  const { lexer } = parser;
  const by = parseBy(parser);
  const calls: StatsCall[] = [];
  do {
    const at = lexer.save();
    const call = parseCall(parser);
    if ([...by, ...calls].some(({ name }) => name === call.name)) {
      lexer.restore(at);
      lexer.fail(`expected names that differ: ${JSON.stringify(call.name)} is there already`);
    }
    calls.push(call);
  } while (lexer.accept(','));
  if (!atEnd(lexer)) lexer.fail('expected "," or the end of the stats pipe');
  return new StatsPipe(by, calls);
}

const INPUT = [
  { app: 'a', n: 1, _msg: 'x' },
  { app: 'b', n: 5, _msg: 'error' },
  { app: 'a', n: 2, _msg: 'error' },
];

export const stats: PipeSpec = {
  names: ['stats'],
  examples: [
    {
      query: '* | stats by (app) count() n, sum(n) s',
      input: INPUT,
      output: [
        { app: 'a', n: 2, s: 3 },
        { app: 'b', n: 1, s: 5 },
      ],
    },
    { query: '* | stats count() if (error)', input: INPUT, output: [{ 'count(*) if (error)': 2 }] },
    {
      query: '* | by (n:5) count() c',
      input: INPUT,
      output: [
        { n: '0', c: 2 },
        { n: '5', c: 1 },
      ],
    },
  ],
  parse(parser) {
    parser.lexer.next();
    return parseStatsPipe(parser);
  },
};
