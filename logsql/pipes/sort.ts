import { Literal, renderEntry, textOf, type LogEntry } from '../../pipeline/core/entry.ts';
import { FieldSet } from '../base/fields.ts';
import { compareNatural, compareSorted, compareTimes, compareValues } from '../values/order.ts';
import { quote } from '../base/reserved.ts';
import { MOST_SORTED, firstSorted } from '../sql/first-sorted.ts';
import type { Parser, Pipe, PipeSpec, RunContext, Stage } from '../base/types.ts';
import { count, fieldName, namesInParens, rankName } from '../base/arguments.ts';
import { LimitPipe, OffsetPipe } from './limit.ts';
import { Budget, hasValues, keyOf, sizeOfRow, sizeOfText } from '../base/rows.ts';

export type SortKey = { readonly field: string; readonly isDescending: boolean };

export type SortOptions = {
  readonly keys: readonly SortKey[];
  readonly isDescending: boolean;
  readonly offset: number;
  /** Infinity where there is none. */
  readonly limit: number;
  readonly rank: string | null;
  /** Offset and limit hold for each group of rows that are equal in these fields. */
  readonly partition: readonly string[];
  /** Without a limit: the answer has no more of its rows, and none without any value. The order stays that of a sort without a limit. */
  readonly most?: number;
};

/** The pipes of a query whose answer has at most `most` rows: where a sort comes last, it need not hold all of them. */
export function withMost(pipes: readonly Pipe[], most: number): readonly Pipe[] {
  const last = pipes.at(-1);
  if (!(last instanceof SortPipe) || last.options.limit < Infinity || last.options.rank !== null || last.options.offset > 0) return pipes;
  return [...pipes.slice(0, -1), new SortPipe({ ...last.options, most })];
}

/** What stands in the table of streams, or is sorted as times are. */
const isColumnWithoutText = (field: string): boolean => ['_stream', '_stream_id', '_time'].includes(field);

type Keyed = { readonly row: LogEntry; readonly texts: readonly string[]; readonly size: number };

/** `sort by (a, b desc) …`: numbers by size, strings in natural order, missing first; with a limit also sizes, durations, times by size. */
export class SortPipe implements Pipe {
  readonly liveTail = false;
  readonly rows = 'reshaped';
  readonly options: SortOptions;
  constructor(options: SortOptions) {
    this.options = options;
  }
  /** Newest first is the order that rows have anyway: of those with equal times the later arrival comes first. */
  get isOrdered(): boolean {
    const [key] = this.options.keys;
    return key?.field === '_time' && key.isDescending !== this.options.isDescending;
  }
  toString(): string {
    const { keys, isDescending, offset, limit, rank, partition } = this.options;
    const by = keys.map(({ field, isDescending: down }) => quote(field) + (down ? ' desc' : ''));
    return [
      'sort',
      by.length > 0 ? ` by (${by.join(', ')})` : '',
      isDescending ? ' desc' : '',
      partition.length > 0 ? ` partition by (${partition.map(quote).join(', ')})` : '',
      offset > 0 ? ` offset ${String(offset)}` : '',
      limit !== Infinity ? ` limit ${String(limit)}` : '',
      rank === null ? '' : ` rank as ${quote(rank)}`,
    ].join('');
  }
  get advice(): string | undefined {
    return this.options.limit === Infinity
      ? 'add a limit to the sort pipe ("sort by (f) limit 1000"), so that it need not hold all rows'
      : undefined;
  }
  needs(output: FieldSet): FieldSet {
    const { keys, partition, rank } = this.options;
    if (keys.length === 0) return FieldSet.all;
    return output.minus(rank === null ? [] : [rank]).plus([...keys.map((key) => key.field), ...partition]);
  }
  /** In ClickHouse with a limit, by one field, over all entries together. */
  get gather(): Pipe['gather'] {
    const { keys, isDescending, offset, limit, partition } = this.options;
    const [key, ...more] = keys;
    const most = offset + limit;
    if (key === undefined || more.length > 0 || partition.length > 0 || most > MOST_SORTED || isColumnWithoutText(key.field))
      return undefined;
    return async (input, runner) => {
      const wanted = { field: key.field, isDescending: key.isDescending !== isDescending, most, fields: this.needs(input.output) };
      const entries = await firstSorted(input, wanted, runner);
      const stage = this.stage(input.run);
      for (const entry of entries ?? []) stage.push(entry);
      return entries === null ? null : [...stage.flush()];
    };
  }
  stage(context: RunContext): Stage {
    const { options } = this;
    const groups = new Map<string, Keyed[]>();
    const budget = new Budget(context.memory, 'The sort pipe', this.advice);
    const { offset, limit, most = Infinity } = options;
    const kept = offset + Math.min(limit, most);
    const compare = comparison(options);
    const inOrder = (group: Keyed[]): Keyed[] => context.memory.sort(group, compare);
    return {
      push: (row) => {
        const key = keyOf(options.partition.map((field) => textOf(row.get(field))));
        let group = groups.get(key);
        if (group === undefined) groups.set(key, (group = []));
        const texts = sortTexts(options, row);
        const keyed = { row, texts, size: sizeOfRow(row) + (options.keys.length === 0 ? sizeOfText(texts[0] ?? '') : 0) };
        budget.take(1, keyed.size);
        group.push(keyed);
        if (group.length >= kept * 2 + 1024) {
          const first = inOrder(limit === Infinity ? group.filter(({ row }) => hasValues(row)) : group).slice(0, kept);
          budget.give(group.length, sizeOfAll(group));
          budget.take(first.length, sizeOfAll(first));
          groups.set(key, first);
        }
        return [];
      },
      *flush() {
        for (const group of groups.values()) yield* cut(inOrder(group), options);
      },
    };
  }
}

const sizeOfAll = (group: readonly Keyed[]): number => group.reduce((sum, { size }) => sum + size, 0);

function sortTexts({ keys }: SortOptions, row: LogEntry): readonly string[] {
  return keys.length === 0 ? [renderEntry(row)] : keys.map((key) => textOf(row.get(key.field)));
}

function comparison({ keys, isDescending, limit }: SortOptions): (a: Keyed, b: Keyed) => number {
  if (keys.length === 0) return (a, b) => (isDescending ? -1 : 1) * compareNatural(a.texts[0] ?? '', b.texts[0] ?? '');
  const compareTexts = limit === Infinity ? compareSorted : compareValues;
  const steps = keys.map((key, index) => ({
    index,
    sign: key.isDescending !== isDescending ? -1 : 1,
    compare: key.field === '_time' ? compareTimes : compareTexts,
  }));
  return (a, b) => {
    for (const { index, sign, compare } of steps) {
      const order = compare(a.texts[index] ?? '', b.texts[index] ?? '');
      if (order !== 0) return sign * order;
    }
    return 0;
  };
}

function cut(group: readonly Keyed[], { offset, limit, rank }: SortOptions): LogEntry[] {
  const rows = group.slice(offset, limit === Infinity ? undefined : offset + limit).map(({ row }) => row);
  if (rank === null) return rows;
  return rows.map((row, index) => new Map(row).set(rank, new Literal(String(offset + index + 1))));
}

/** `(a, b desc)`. */
export function parseSortKeys(parser: Parser): SortKey[] {
  const { lexer } = parser;
  lexer.expect('(');
  const keys: SortKey[] = [];
  while (!lexer.accept(')')) {
    const field = fieldName(lexer);
    const isDescending = lexer.accept('desc');
    if (!isDescending) lexer.accept('asc');
    keys.push({ field, isDescending });
    if (!lexer.is(')') && !lexer.accept(',')) lexer.fail('expected "," or ")"');
  }
  return keys;
}

function parseSort(parser: Parser): Pipe {
  const { lexer } = parser;
  lexer.next();
  const hasBy = lexer.accept('by');
  const keys = hasBy || lexer.is('(') ? parseSortKeys(parser) : [];
  const isDescending = lexer.accept('desc');
  if (!isDescending) lexer.accept('asc');
  let [offset, limit, rank, partition]: [number, number, string | null, readonly string[]] = [0, Infinity, null, []];
  for (;;) {
    if (lexer.is('offset') && offset === 0) {
      lexer.next();
      offset = count(lexer, 'a number of rows after "offset"');
    } else if (lexer.is('limit') && limit === Infinity) {
      lexer.next();
      limit = count(lexer, 'a number of rows after "limit"') || Infinity;
    } else if (lexer.is('rank')) rank = rankName(lexer);
    else if (lexer.is('partition') && partition.length === 0) {
      lexer.next();
      lexer.accept('by');
      partition = namesInParens(lexer);
    } else break;
  }
  if (partition.length > 0 && limit === Infinity) lexer.fail('expected a limit for "partition by"');
  return new SortPipe({ keys, isDescending, offset, limit, rank, partition });
}

/** `sort … | offset N | limit N` as one pipe, which is also what gives such a sort its order. */
export function mergeSorts(pipes: readonly Pipe[]): Pipe[] {
  const merged: Pipe[] = [];
  for (const pipe of pipes) {
    const last = merged.at(-1);
    const next = last instanceof SortPipe ? mergeInto(last.options, pipe) : null;
    if (next === null) merged.push(pipe);
    else merged.splice(-1, 1, new SortPipe(next));
  }
  return merged;
}

function mergeInto(options: SortOptions, pipe: Pipe): SortOptions | null {
  if (options.partition.length > 0) return null;
  if (pipe instanceof LimitPipe && pipe.limit > 0) return { ...options, limit: Math.min(options.limit, pipe.limit) };
  return pipe instanceof OffsetPipe && options.offset === 0 && options.limit === Infinity ? { ...options, offset: pipe.offset } : null;
}

const INPUT = [{ v: '1.10.0', n: 2 }, { v: '1.9.0', n: 3 }, { n: 1 }];

export const sort: PipeSpec = {
  names: ['sort', 'order'],
  examples: [
    { query: '* | sort by (v)', input: INPUT, output: [{ n: 1 }, { v: '1.9.0', n: 3 }, { v: '1.10.0', n: 2 }] },
    { query: '* | sort by (n desc) limit 1 rank as r', input: INPUT, output: [{ v: '1.9.0', n: 3, r: 1 }] },
    // what is not a number comes after all numbers
    {
      query: '* | stats by (n) count() c | math n * c / 2 as r | sort by (r desc) limit 2',
      input: [{ n: 1 }, { n: 3 }, { n: 'x' }],
      output: [
        { n: 'x', c: 1, r: 'NaN' },
        { n: '3', c: 1, r: 1.5 },
      ],
    },
    {
      query: '* | stats by (v) count() c | filter c:<3 | sort by (c, v desc) limit 1',
      input: [{ v: '1.10.0' }, { v: '1.9.0' }, { v: 'x' }, { v: 'x' }],
      output: [{ v: '1.10.0', c: 1 }],
    },
  ],
  parse: parseSort,
};
