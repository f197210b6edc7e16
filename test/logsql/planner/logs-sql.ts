/** The statements of many queries over entries, as one hash each: what a change of the planner for another table must leave as it was. */
import { LOGS } from '../../../logsql/sql/logs-table.ts';
import { createHash } from 'node:crypto';
import { filters } from '../../../logsql/filters/index.ts';
import { pipes } from '../../../logsql/pipes/index.ts';
import { stats } from '../../../logsql/stats/index.ts';
import type { Plan } from '../../../logsql/planner/plan.ts';
import type { VolumeCover } from '../../../logsql/planner/volume.ts';
import type { StatementRunner } from '../../../logsql/base/types.ts';
import { renderSql, type Sql } from '../../../pipeline/core/sql.ts';
import { planWhole } from '../../../logsql/planner/prepare.ts';
import { MAX_TIME, MIN_TIME } from '../../../pipeline/core/time.ts';
import { NOW, entryOf, memoryFor, parse, syntaxError } from '../support.ts';

const DAY = 86_400_000_000_000n;
/** Queries of whole fields, of promoted ones, of counts, of what takes several statements. */
const OWN = [
  '*',
  'error',
  '"connection refused" level:error',
  'service:=web trace_id:=0123456789abcdef0123456789abcdef',
  'span_id:in(a, b) app:=x status:>=500',
  'app:in(a, b) or host:=h1 or namespace:*',
  '{app="web"} _stream_id:in()',
  '_msg:="" a:=1 b:~"x.y" c:i(Z) d:>3 e:len_range(1, 3)',
  '_time:5m error',
  '_time:day_range[08:00, 18:00) *',
  '* | fields _time, app, level, k, trace_id',
  '* | fields a, b, c, d, e, f, g, h, i',
  '* | sort by (_time) limit 5',
  '* | sort by (n desc) limit 10',
  '* | sort by (app) offset 3 limit 10',
  '* | stats by (_time:1h, level) count() n',
  '* | stats by (_stream) count() n',
  '* | stats by (app, status) count() n, sum(took) s, min(took) a, max(took) b, avg(took) c, quantile(0.9, took) q',
  '* | stats count_uniq(_stream) n, count_uniq(app) m, min(_time) first',
  '* | stats by (k) row_min(took, k) r, values(k) v, uniq_values(app) u',
  '* | uniq by (app, _stream)',
  '* | top 5 by (k)',
  '* | field_names',
  '* | field_values app',
  '* | facets',
  '* | facets 5 max_values_per_field 100',
  '* | patterns 5',
  'boom | stream_context before 2 after 3',
  '* | format "<app> <k>" as z | stats by (z) count() n',
  '* | extract "a=<a>" | filter a:x | stats by (a) count() n',
  '* | math took * 2 as t | stats sum(t) s',
  'k:in(* | fields k) error',
  'app:in(level:error | fields app)',
  '* | filter app:x | stats by (host) rate() r',
  'options(ignore_global_time_filter=true) a:b | limit 3',
];
const EXAMPLES = [...filters.members, ...pipes.members, ...stats.members].flatMap(({ examples }) => examples.map(({ query }) => query));

const COVER: VolumeCover = {
  partitions: [{ run: 0, base: 0, until: { 86400: 5, 3600: 7, 60: 9 } }],
  ...{ since: 1_795_000_000_000, runs: 0, behind: { 86400: 1, 3600: 2, 60: 3 } },
};
const HOUR = {
  table: LOGS,
  tenantId: 7,
  start: NOW - DAY / 24n,
  end: NOW,
  widest: { start: MIN_TIME, end: MAX_TIME },
  memory: memoryFor(),
};
/** The ways in which each is asked. */
const WAYS = {
  hour: {},
  days: { start: NOW - 10n * DAY },
  counted: { start: NOW - 10n * DAY, cover: COVER },
  before: { before: { time: String(NOW - 5n), arrived: '1', part: '2', offset: '3', index: '4' } },
  upwards: { oldestFirst: true, streamIds: true },
} as const;

const textOfStatement = (statement: Sql): string => {
  const { text, params } = renderSql(statement);
  return `${text}\n${JSON.stringify([...params].map(([name, { type, value }]) => [name, type, String(value)]))}`;
};

/** All statements of a plan, and of those in its place; of several steps those that follow from some answers. */
async function statementsOf(plan: Plan): Promise<string[]> {
  const after = { time: String(NOW), arrived: '1', part: '2', offset: '3', index: '4' };
  switch (plan.kind) {
    case 'aggregate':
      return [textOfStatement(plan.statement), ...(await statementsOf(plan.otherwise))];
    case 'gather':
      return [...(await gathered(plan.gather)), ...(await statementsOf(plan.otherwise))];
    case 'expand':
      return statementsOf(plan.matching);
    case 'entries': {
      const slice = { start: NOW - 10n, end: NOW };
      const pages = [{ limit: 10 }, { limit: null }, { limit: 10, after, slice, isQuick: true }];
      return [plan.look, ...pages.map((page) => textOfStatement(plan.statement(page)))];
    }
    case 'reshaped':
      return [textOfStatement(plan.statement(10)), textOfStatement(plan.statement(null))];
  }
}

async function gathered(gather: (runner: StatementRunner) => Promise<unknown>): Promise<string[]> {
  const made: string[] = [];
  const note = (statement: Sql, rows: readonly (readonly unknown[])[]): Promise<readonly (readonly unknown[])[]> => {
    made.push(textOfStatement(statement));
    return Promise.resolve(rows);
  };
  const isOfStreams = ({ strings }: Sql): boolean => strings.join('').startsWith('SELECT toString(stream_id)');
  await gather({
    rows: (statement) =>
      note(
        statement,
        isOfStreams(statement)
          ? [['1', String(NOW), '1', '2', '3', '4']]
          : statement.strings.join('').includes('countIf(k = 0)')
            ? [[1, 9, 9, 9]]
            : [],
      ),
    async *chunks(statement) {
      yield await note(statement, []);
    },
    sample: (statement) => note(statement, [['app', 2, 3, 10_000], ['k', 2, 3, 10_000], ['trace_id', 5000, 3, 10_000]]), // prettier-ignore
    streams: () => Promise.resolve(new Map<string, string>()),
  });
  return made;
}

/** Each query in each way, and the hash of its statements. */
export async function logsSql(): Promise<Readonly<Record<string, string>>> {
  const found: Record<string, string> = {};
  for (const query of [...new Set([...OWN, ...EXAMPLES])]) {
    if (syntaxError(query) !== null) continue;
    for (const [way, options] of Object.entries(WAYS)) {
      const plan = await planWhole(parse(query), { ...HOUR, ...options }, () => Promise.resolve([entryOf({ a: 'v', k: 'v', app: 'v' })]));
      const statements = await statementsOf(plan);
      found[`${way}: ${query}`] = createHash('sha256').update(statements.join('\n\n')).digest('hex').slice(0, 16);
    }
  }
  return found;
}
