/**
 * What pipes after groups leave of them, in SQL: filters over their keys and numbers, and the first ones of a sort or as they come. Numbers
 * that `math` works out and new names count as well, but are not sent: memory makes them again of the rows that are left.
 */
import { Sql, join, sql, uint32 } from '../../pipeline/core/sql.ts';
import { FilterPipe } from './filter.ts';
import { LimitPipe, OffsetPipe } from './limit.ts';
import { MathPipe } from './math.ts';
import { RenamePipe } from './rename.ts';
import { SortPipe, type SortOptions } from './sort.ts';
import type { Pipe, RunContext, SqlContext } from '../base/types.ts';
import { OWN_COLUMNS, Rows } from './computed-fields.ts';
import { StatementBudget } from '../sql/statement-budget.ts';

/** Groups of rows: what they are grouped by, and the columns of each result. */
export type Groups = {
  readonly source: Sql;
  readonly groups: readonly { readonly name: string; readonly key: Sql; readonly isStream: boolean }[];
  readonly results: readonly {
    readonly name: string;
    readonly columns: readonly Sql[];
    /** That of the columns which is the result, a whole number. */
    readonly number?: Sql | undefined;
  }[];
  readonly run: RunContext;
  readonly context: Pick<SqlContext, 'table'>;
  /** The column that counts rows in doubt, the same in all groups (doubtColumn); where it does, no group is left out: one must be seen. */
  readonly doubt: Sql | null;
};

/** The statement for the groups that are left, with the same columns, and what is left to do with their rows. */
export type GroupCut = { readonly statement: Sql; readonly left: readonly Pipe[] };

/** A field by which ClickHouse sorts as memory does, with a limit (`isFloat`) or always. */
type Sortable = { readonly by: Sql; readonly isFloat: boolean };
/**
 * The first rows in this order, without some at the beginning; where it is not the whole order, also those that are equal to the last of
 * them. The first `done` pipes are complete then.
 */
type First = {
  readonly order: readonly Sql[];
  readonly isWhole: boolean;
  readonly offset: number;
  readonly limit: number;
  readonly done: number;
};

const COMMA = sql`, `;
const DOUBTS = sql`d`;
/** No pipe cuts off more in SQL. */
const MOST_FIRST = 100_000;

/** Null where the pipes leave out no group that SQL can find. */
export function cutGroups({ source, groups, results, run, context, doubt }: Groups, pipes: readonly Pipe[]): GroupCut | null {
  if (groups.length === 0) return null;
  const expressions = groups.map(({ key }) => key);
  const columns = results.flatMap((result) => result.columns);
  const [keys, names] = [expressions.map((_key, index) => nameOf('g', index)), columns.map((_column, index) => nameOf('r', index))];
  const isOrdered = groups.every(({ isStream }) => !isStream);
  const rows = new GroupRows(fieldsOf({ groups, results }, keys, names), run, context);
  const { left, first } = rows.through(pipes, isOrdered);
  if (rows.isInDoubt || (first === null && left.length === pipes.length)) return null;
  // it might be all that is skipped
  if (doubt !== null && (first?.offset ?? 0) > 0) return null;
  if (doubt !== null) rows.keepWhere(sql`${DOUBTS} > 0`);
  const doubts = doubt === null ? [] : [DOUBTS];
  const made = [...expressions, ...columns, ...(doubt === null ? [] : [doubt])].map(
    (expression, index) => sql`${expression} AS ${[...keys, ...names, DOUBTS][index] ?? sql``}`,
  );
  const inner = sql`(SELECT ${join(made, COMMA)} FROM ${source} GROUP BY ${join(expressions, COMMA)})`;
  const all = join([...keys, ...names, ...doubts], COMMA);
  const kept = sql`SELECT ${all} FROM ${rows.over(inner)}`;
  const statement = isOrdered ? inOrder(kept, all, keys, first) : kept;
  return new StatementBudget().take(statement) ? { statement, left } : null;
}

const nameOf = (prefix: 'g' | 'r', index: number): Sql => new Sql([prefix + String(index)], []);

/** The rows in the order of groups, or where that of a sort is whole in that. */
function inOrder(kept: Sql, all: Sql, keys: readonly Sql[], first: First | null): Sql {
  const groups = join(keys, COMMA);
  if (first === null) return sql`${kept} ORDER BY ${groups}`;
  const { order, isWhole, offset, limit } = first;
  const skip = offset === 0 ? sql`` : sql` OFFSET ${uint32(offset)}`;
  if (isWhole) return sql`${kept} ORDER BY ${join([...order, ...keys], COMMA)} LIMIT ${uint32(limit)}${skip}`;
  return sql`SELECT ${all} FROM (${kept} ORDER BY ${join(order, COMMA)} LIMIT ${uint32(limit)} WITH TIES) ORDER BY ${groups}`;
}

/** A field of groups: its string, null where SQL has none, and how it is sorted. */
type GroupField = { readonly text: Sql | null; readonly sorted: Sortable | null };

function fieldsOf(
  { groups, results }: Pick<Groups, 'groups' | 'results'>,
  keys: readonly Sql[],
  names: readonly Sql[],
): Map<string, GroupField> {
  const fields = new Map<string, GroupField>();
  for (const [index, { name, isStream }] of groups.entries()) {
    const key = keys[index] ?? sql``;
    if (name === '_time') fields.set(name, { text: null, sorted: { by: key, isFloat: false } });
    else fields.set(name, { text: isStream ? null : key, sorted: null });
  }
  let at = 0;
  for (const { name, columns, number } of results) {
    const column = number === undefined ? null : (names[at + columns.indexOf(number)] ?? null);
    fields.set(name, column === null ? UNSAID : { text: sql`toString(${column})`, sorted: { by: column, isFloat: false } });
    at += columns.length;
  }
  return fields;
}
const UNSAID: GroupField = { text: null, sorted: null };
const EMPTY = sql`''`;

/** Groups and the pipes that have changed them so far. */
class GroupRows {
  readonly #rows: Rows;
  readonly #sorted: Map<string, Sortable>;
  constructor(fields: ReadonlyMap<string, GroupField>, run: RunContext, { table }: Groups['context']) {
    const computed = (name: string): Sql | null => {
      const field = fields.get(name);
      return field === undefined ? EMPTY : field.text;
    };
    this.#rows = new Rows({ table, tenantId: 0, firstDay: '', lastDay: '', indexed: false, computed }, run, OWN_COLUMNS);
    this.#sorted = new Map([...fields].flatMap(([name, { sorted }]) => (sorted === null ? [] : [[name, sorted] as const])));
  }
  get isInDoubt(): boolean {
    return this.#rows.doubts !== null;
  }
  /** These are kept whatever the filters say. */
  keepWhere(rows: Sql): void {
    this.#rows.doubt(rows);
  }
  over(inner: Sql): Sql {
    return this.#rows.over(inner, null);
  }

  /** Takes in what SQL can express. Filters, sorts and limits are complete then; what changes rows is done once more with the rows left. */
  through(pipes: readonly Pipe[], isOrdered: boolean): { readonly left: readonly Pipe[]; readonly first: First | null } {
    const left: Pipe[] = [];
    let areAllInSql = isOrdered;
    for (const [index, pipe] of pipes.entries()) {
      if (pipe instanceof FilterPipe) {
        if (this.#rows.through(pipe)) continue;
        // what it leaves out is not known: the first ones are not either
        areAllInSql = false;
      } else if (pipe.rows !== 'same' || !this.#change(pipe)) {
        const first = areAllInSql ? this.#firstOf(pipes.slice(index), left.length === 0) : null;
        return { left: [...left, ...pipes.slice(index + (first?.done ?? 0))], first };
      }
      left.push(pipe);
    }
    return { left, first: null };
  }

  /** A pipe that changes rows one by one; false where SQL cannot express it. */
  #change(pipe: Pipe): boolean {
    const text = (name: string): unknown => this.#rows.context.computed?.(name);
    const before = new Map([...this.#sorted.keys()].map((name) => [name, text(name)]));
    if (!this.#rows.through(pipe)) return false;
    if (pipe instanceof RenamePipe) {
      for (const { from, to } of pipe.pairs) {
        const moved = this.#sorted.get(from);
        if (pipe.name === 'rename') this.#sorted.delete(from);
        this.#sorted.delete(to);
        if (moved !== undefined) this.#sorted.set(to, moved);
      }
      return true;
    }
    for (const [name, known] of before) if (text(name) !== known) this.#sorted.delete(name);
    for (const name of pipe instanceof MathPipe ? pipe.names : []) {
      const value = this.#rows.text(name);
      if (value !== null) this.#sorted.set(name, { by: this.#rows.name(sql`toFloat64OrNull(${value})`), isFloat: true });
    }
    return true;
  }

  /** What a limit or a sort keeps; null where SQL has not the order. `isPlain`: no row is without values. */
  #firstOf([pipe, next]: readonly Pipe[], isPlain: boolean): First | null {
    if (pipe instanceof OffsetPipe && next instanceof LimitPipe)
      return firstRows({ ...AS_THEY_COME, offset: pipe.offset, limit: next.limit, done: 2 });
    if (pipe instanceof LimitPipe) return firstRows({ ...AS_THEY_COME, limit: pipe.limit });
    return pipe instanceof SortPipe ? this.#firstSorted(pipe.options, isPlain) : null;
  }
  #firstSorted({ keys, isDescending, offset, limit, most = Infinity, rank, partition }: SortOptions, isPlain: boolean): First | null {
    if (keys.length === 0 || partition.length > 0) return null;
    const order: Sql[] = [];
    let inSql = 0;
    for (const key of keys) {
      const sorted = this.#sorted.get(key.field);
      // without a limit floats of more than 20 characters are sorted as strings
      if (sorted === undefined || (sorted.isFloat && limit === Infinity)) break;
      const isDown = key.isDescending !== isDescending;
      // what is not a number comes last
      for (const by of sorted.isFloat ? [sql`isNaN(${sorted.by})`, sorted.by] : [sorted.by]) order.push(isDown ? sql`${by} DESC` : by);
      inSql += 1;
    }
    if (inSql === 0) return null;
    const isWhole = inSql === keys.length;
    const size = Math.min(limit, isPlain ? most : Infinity);
    // ranks count from the first one on
    return isWhole && rank === null
      ? firstRows({ order, isWhole, offset, limit: size, done: 1 })
      : firstRows({ order, isWhole, offset: 0, limit: offset + size, done: 0 });
  }
}

const AS_THEY_COME: First = { order: [], isWhole: true, offset: 0, limit: 0, done: 1 };
const firstRows = (first: First): First | null => (first.offset + first.limit > MOST_FIRST ? null : first);
