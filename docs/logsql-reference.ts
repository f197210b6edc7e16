/** The generated part of docs/logsql.md: every member of LogsQL with an example of its own and where it runs. */
import { QueryMemory } from '../logsql/base/memory.ts';
import { filters } from '../logsql/filters/index.ts';
import { parseQuery } from '../logsql/parser/parser.ts';
import { pipes } from '../logsql/pipes/index.ts';
import { FilterPipe } from '../logsql/pipes/filter.ts';
import { StatsPipe } from '../logsql/pipes/stats.ts';
import { stats } from '../logsql/stats/index.ts';
import { LOGS } from '../logsql/sql/logs-table.ts';
import type { Example, Pipe, RowInput } from '../logsql/base/types.ts';

type Member = { readonly names: readonly string[]; readonly examples: readonly Example[] };
type Row = readonly string[];

const NOW = 1_795_000_000_000_000_000n;
const CONTEXT = { table: LOGS, tenantId: 1, firstDay: '1970-01-01', lastDay: '2149-06-06', indexed: true };
const ROWS: RowInput = {
  context: CONTEXT,
  run: { memory: new QueryMemory({ maxRows: 1, maxBytes: 1 }), start: 0n, end: NOW },
  text: (field) => LOGS.text(field),
  name: (expression) => expression,
  doubt: () => undefined,
};
const IN_CLICKHOUSE = 'ClickHouse';
const IN_MEMORY = 'memory';
const BY_TIME = 'ClickHouse by `_time`, else memory';
const BEFORE_GROUPS = 'ClickHouse before groups, else memory';
const NAMED_BEFORE_GROUPS = 'ClickHouse with `fields (…)` before groups, else memory';
const NUMBERS = 'ClickHouse for numbers, else memory';
const CHOSEN = 'ClickHouse for numbers or few different values, else memory';
const WITH_LIMIT = 'ClickHouse with `limit`, else memory';
/** Members that the planner takes into the statement of the entries themselves, or that depend on what they are given. */
const SPECIAL: Readonly<Record<string, string>> = {
  fields: IN_CLICKHOUSE,
  filter: IN_CLICKHOUSE,
  limit: IN_CLICKHOUSE,
  offset: IN_CLICKHOUSE,
  sort: 'ClickHouse by `_time`, or by one field with `limit`; of 1,000 rows at most ClickHouse gives their fields to memory first; else memory',
  first: BY_TIME,
  last: BY_TIME,
  min: CHOSEN,
  max: CHOSEN,
  median: CHOSEN,
  quantile: CHOSEN,
  row_min: NUMBERS,
  row_max: NUMBERS,
  unpack_json: NAMED_BEFORE_GROUPS,
  values: WITH_LIMIT,
  json_values: WITH_LIMIT,
};
const special = ({ names }: Member): string | undefined => (Object.hasOwn(SPECIAL, names[0] ?? '') ? SPECIAL[names[0] ?? ''] : undefined);

const code = (text: string): string => (text.includes('`') ? `\`\` ${text} \`\`` : `\`${text}\``);
const head = ({ names, examples }: Member): readonly [string, string] => [names.map(code).join(', '), code(examples[0]?.query ?? '')];

/** Whether the statement of the entries can have this filter. */
function isInClickHouse(member: Member): boolean {
  return parseQuery(member.examples[0]?.query ?? '*', { now: NOW }).filter.sql(CONTEXT) !== null;
}

/** The pipe of this name in the member's first example. */
function pipeOf({ names, examples }: Member): Pipe | undefined {
  const { pipes: list } = parseQuery(examples[0]?.query ?? '*', { now: NOW });
  return (
    list.find((pipe) => names.some((name) => pipe.toString().startsWith(name))) ??
    list.find((pipe) => pipe instanceof FilterPipe) ??
    list[0]
  );
}

function pipeRow(member: Member): Row {
  const pipe = pipeOf(member);
  const isAsked = pipe?.sql !== undefined || pipe?.gather !== undefined;
  const isComputed = member.examples.some((example) => (pipeOf({ ...member, examples: [example] })?.computes?.(ROWS) ?? null) !== null);
  const place = isAsked ? IN_CLICKHOUSE : isComputed ? BEFORE_GROUPS : IN_MEMORY;
  return [...head(member), special(member) ?? place];
}

/** The names of the members for which something holds, as a list. */
function namesWhere(members: readonly Member[], holds: (member: Member) => boolean): string {
  return members
    .filter(holds)
    .flatMap(({ names }) => names.map(code))
    .join(', ');
}

/** An example without what they all begin with. Throws where one begins otherwise. */
function afterStats(query: string): string {
  const start = '* | stats ';
  if (!query.startsWith(start)) throw new Error(`BUG: the example of a function of stats must begin with "${start}": ${query}`);
  return query.slice(start.length);
}

function statsRow(member: Member): Row {
  const query = member.examples[0]?.query ?? `* | stats ${member.names[0] ?? ''}()`;
  const pipe = parseQuery(query, { now: NOW }).pipes.find((candidate) => candidate instanceof StatsPipe);
  const [names] = head(member);
  return [names, code(afterStats(query)), special(member) ?? (pipe?.calls[0]?.stats.sql === undefined ? IN_MEMORY : IN_CLICKHOUSE)];
}

/** One table for each kind of member. `table` renders a head and its rows. */
export function logsqlReference(table: (head: readonly string[], rows: readonly (readonly string[])[]) => string): string {
  const part = (title: string, heads: readonly string[], rows: readonly Row[]): string => `### ${title}\n\n${table(heads, rows)}`;
  return [
    part('Filters', ['Name', 'Example'], filters.members.map(head)),
    `All run in ClickHouse; in memory: ${namesWhere(filters.members, (member) => !isInClickHouse(member))}. Live tail takes all.`,
    part('Pipes', ['Name', 'Example', 'Runs in'], pipes.members.map(pipeRow)),
    `Live tail takes those that pass rows on one by one, which are all but ${namesWhere(pipes.members, (member) => pipeOf(member)?.liveTail !== true)}.`,
    part('Functions of stats', ['Name', 'Example, after `* | stats`', 'Runs in'], stats.members.map(statsRow)),
  ].join('\n\n');
}
