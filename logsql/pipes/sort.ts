import { Literal, renderEntry, textOf, type LogEntry } from '../../pipeline/core/entry.ts';
import { FieldSet } from '../base/fields.ts';
import { compareNatural, compareSorted, compareTimes, compareValues } from '../values/order.ts';
import { quote } from '../base/reserved.ts';
import { FirstItems } from '../base/first-items.ts';
import { MOST_PLACED, firstPlaced, hasKeyText } from '../sql/first-placed.ts';
import { MOST_SORTED, firstSorted } from '../sql/first-sorted.ts';
import type { Parser, Pipe, PipeSpec, RunContext, SqlInput, Stage } from '../base/types.ts';
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

/** The values of the keys. */
type Texts = { readonly texts: readonly string[] };
type Keyed = Texts & { readonly row: LogEntry; readonly size: number };

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
  /** Over all entries together, where few are wanted: by one field with a limit ClickHouse finds them, else they are found by their keys alone. */
  get gather(): Pipe['gather'] {
    const { keys, limit, partition } = this.options;
    const [key, ...more] = keys;
    if (key === undefined || partition.length > 0 || !keys.every(({ field }) => hasKeyText(field))) return undefined;
    // by time alone entries are sorted where they are read
    if (more.length === 0 && key.field === '_time') return undefined;
    if (more.length === 0 && limit < Infinity && this.#kept <= MOST_SORTED)
      return async (input, runner) => this.#inOrder(input, await firstSorted(input, { ...this.#wanted(input), ...this.#by(key) }, runner));
    if (this.#kept > MOST_PLACED) return undefined;
    return async (input, runner) => {
      const wanted = this.#wanted(input);
      // of the rows that a `fields` pipe leaves nothing of, none counts
      if (limit === Infinity && wanted.fields !== FieldSet.all) return null;
      const compare = comparison(this.options);
      const by = {
        ...{ keys: keys.map(({ field }) => field), isNewestFirst: this.isOrdered },
        compare: (a: readonly string[], b: readonly string[]) => compare({ texts: a }, { texts: b }),
      };
      return this.#inOrder(input, await firstPlaced(input, { ...wanted, ...by }, runner));
    };
  }
  /** How many of the first rows are needed. */
  get #kept(): number {
    const { offset, limit, most = Infinity } = this.options;
    return offset + Math.min(limit, most);
  }
  #wanted(input: SqlInput) {
    return { most: this.#kept, fields: this.needs(input.output) };
  }
  #by({ field, isDescending }: SortKey) {
    return { field, isDescending: isDescending !== this.options.isDescending };
  }
  #inOrder({ run }: SqlInput, entries: readonly LogEntry[] | null): readonly LogEntry[] | null {
    if (entries === null) return null;
    const stage = this.stage(run);
    for (const entry of entries) stage.push(entry);
    return [...stage.flush()];
  }
  stage({ memory }: RunContext): Stage {
    const { options } = this;
    const groups = new Map<string, FirstItems<Keyed, Texts>>();
    const budget = new Budget(memory, 'The sort pipe', this.advice);
    const most = this.#kept;
    const compare = comparison(options);
    const onDropped = (dropped: readonly Keyed[]): void => budget.give(dropped.length, sizeOfAll(dropped));
    return {
      push: (row) => {
        if (options.most !== undefined && !hasValues(row)) return [];
        const key = keyOf(options.partition.map((field) => textOf(row.get(field))));
        let group = groups.get(key);
        if (group === undefined) groups.set(key, (group = new FirstItems({ most, memory, compare, onDropped })));
        const texts = sortTexts(options, row);
        if (!group.mayBeFirst({ texts })) return [];
        const size = sizeOfRow(row) + (options.keys.length === 0 ? sizeOfText(texts[0] ?? '') : 0);
        budget.take(1, size);
        group.push({ row, texts, size });
        return [];
      },
      *flush() {
        for (const group of groups.values()) yield* cut(group.inOrder(), options);
      },
    };
  }
}

const sizeOfAll = (group: readonly Keyed[]): number => group.reduce((sum, { size }) => sum + size, 0);

function sortTexts({ keys }: SortOptions, row: LogEntry): readonly string[] {
  return keys.length === 0 ? [renderEntry(row)] : keys.map((key) => textOf(row.get(key.field)));
}

function comparison({ keys, isDescending, limit }: SortOptions): (a: Texts, b: Texts) => number {
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
