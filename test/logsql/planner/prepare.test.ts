import { LOGS } from '../../../logsql/sql/logs-table.ts';
import { expect } from 'chai';
import { planWhole } from '../../../logsql/planner/prepare.ts';
import type { Plan } from '../../../logsql/planner/plan.ts';
import type { PlanOptions } from '../../../logsql/planner/planner.ts';
import { renderSql } from '../../../pipeline/core/sql.ts';
import { MAX_TIME, MIN_TIME } from '../../../pipeline/core/time.ts';
import { NOW, entryOf, memoryFor, parse, statementOf } from '../support.ts';

const OPTIONS: PlanOptions = {
  table: LOGS,
  tenantId: 7,
  start: NOW - 3_600_000_000_000n,
  end: NOW,
  widest: { start: MIN_TIME, end: MAX_TIME },
  memory: memoryFor(),
};

/** The plan, and the queries that were run for their values. */
async function planned(
  query: string,
  options: Partial<PlanOptions> = {},
): Promise<{ readonly plan: Plan; readonly ran: readonly string[] }> {
  const ran: string[] = [];
  const plan = await planWhole(parse(query), { ...OPTIONS, ...options }, (inner) => {
    ran.push(inner.toString());
    return Promise.resolve([entryOf({ a: 'v', n: 'v', _stream: '{}' })]);
  });
  return { plan, ran };
}

async function sqlOf(query: string, options: Partial<PlanOptions> = {}) {
  const { plan, ran } = await planned(query, options);
  const { text, params } = renderSql(statementOf(plan, 10));
  return { sql: text.replace(/\s+/g, ' '), values: [...params.values()].map(({ value }) => value), ran };
}

/** The SELECTs inside a statement, without the numbers of their values. */
const selects = (sql: string): readonly string[] =>
  [...sql.matchAll(/ IN \(SELECT (.*?) SETTINGS max_rows/g)].map(([, text = '']) => text.replace(/\{p\d+:(\w+)[^}]*\}/g, '$1'));

const WINDOW = "tenant_id = UInt32 AND _time >= fromUnixTimestamp64Nano(Int64, 'UTC') AND _time <= fromUnixTimestamp64Nano(Int64, 'UTC')";

describe('queries inside a query', () => {
  for (const [query, inner] of [
    ['n:in(a:=x | fields a)', `DISTINCT toString(fields[String]) FROM logs PREWHERE ${WINDOW} WHERE (fields[String] = String)`],
    ['n:in(a:=x | uniq by (a))', `DISTINCT toString(fields[String]) FROM logs PREWHERE ${WINDOW} WHERE (fields[String] = String)`],
    ['n:in(trace_id:=x | fields a) | stats count()', `DISTINCT toString(fields[String]) FROM logs WHERE ${WINDOW} AND (trace_id = String)`],
    [
      '* | filter n:in(* | stats by (app, n) sum(x) s | fields app)',
      `DISTINCT toString(if(length(f_app) > 256, l_app, f_app)) FROM logs WHERE ${WINDOW}`,
    ],
    ['!(n:in(level:=a | fields level) or b) | uniq by (n)', `DISTINCT toString(level) FROM logs WHERE ${WINDOW} AND (level = String)`],
    ['n:in(* | copy level as x | filter x:=a | fields x)', `DISTINCT toString(c0) FROM (SELECT`],
  ] as const)
    it(`are part of its statement: ${query}`, async () => {
      const { sql, ran } = await sqlOf(query);
      expect(ran).to.deep.equal([]);
      expect(selects(sql), sql).to.have.length(1);
      expect(selects(sql)[0]).to.satisfy((text: string) => text.startsWith(inner), sql);
    });

  for (const query of [
    'n:contains_any(a | fields n)',
    '_stream_id:in(a | fields _stream_id)',
    '(n:in(a | fields n) or b:value_type(int64))',
    'n:in(a | fields _stream)',
    'n:in(a | limit 5 | fields n)',
    'n:in(a | uniq by (n) limit 5)',
    'n:in(a | uniq by (n, a) | fields n)',
    'n:in(a | stats by (n) count() c | filter c:>5 | fields n)',
    'n:in(a | stats by (n:10) count() c | fields n)',
    'n:in(a | stats by (a) count() n | fields n)',
    'n:in(a | unpack_logfmt | fields n)',
    'n:in(a | extract "<n>x" from b | fields n)',
    'n:in(n:value_type(int64) | fields n)',
    'n:in(b:contains_any(a | fields n) | fields n)',
    'n:in(a | fields n) | stream_context after 1',
    'n:in(a | fields n) | facets',
    'n:in(a | fields n) b:value_type(int64)',
    'n:in(a | fields n) | math a + 1 as b | filter b:>2',
    '* | stats count() if (n:in(a | fields n)) c',
    '* | stats by (a) max(b) n | filter n:in(a | fields n)',
    '* | len(a) as n | filter n:in(a | fields n) | stats count()',
  ])
    it(`are run for their values where one statement is not all: ${query}`, async () => {
      const { plan, ran } = await planned(query);
      expect(ran).to.have.length.at.least(1);
      if (plan.kind === 'entries') expect(renderSql(plan.statement({ limit: 10 })).text).to.not.include(' IN (SELECT DISTINCT');
    });

  it('each look at one tenant, within what the outer one may see', async () => {
    const extra = parse('secret:=s').filter;
    const query = 'options(ignore_global_time_filter=true) n:in(a:in(b | fields b) | fields a) or m:in(c | uniq by (c))';
    const widest = { start: NOW - 5_000_000_000n, end: NOW };
    const { sql, values, ran } = await sqlOf(query, { extra, widest });
    expect(ran).to.deep.equal([]);
    expect(sql.match(/ FROM logs (?:PREWHERE|WHERE) tenant_id = /g)).to.have.length(4);
    expect(values.filter((value) => value === 7)).to.have.length(4);
    expect(values.filter((value) => value === 's')).to.have.length(4);
    expect(values.filter((value) => value === widest.start)).to.have.length(4);
  });

  it('know nothing of the page that the outer one is asked for', async () => {
    const { values } = await sqlOf('n:in(a | fields n)', { before: NOW - 1000n });
    expect(values.filter((value) => value === NOW)).to.have.length(1);
  });

  it('may hold as many values as the query has left', async () => {
    const memory = memoryFor({ maxRows: 1000, maxBytes: 90_000 });
    memory.hold('A test', 100, 3000);
    const { sql, values } = await sqlOf('n:in(a | fields n)', { memory });
    expect(sql).to.match(
      / SETTINGS max_rows_in_distinct = \{p\d+:UInt64\}, max_bytes_in_distinct = \{p\d+:UInt64\}, distinct_overflow_mode = 'throw'\)/,
    );
    expect(values).to.include.members([memory.left.maxRows, memory.left.maxBytes]);
    expect(memory.left.maxRows).to.equal(900);
    expect(memory.left.maxBytes).to.be.within(80_000, 90_000);
    memory.hold('A test', 900, 0);
    expect(memory.left.maxRows, 'none would mean any number').to.equal(1);
  });

  it('are at most ten of one statement', async () => {
    const list = Array.from({ length: 12 }, (_none, index) => `n:in(a${String(index)} | fields n)`);
    const { sql, ran } = await sqlOf(list.join(' or '));
    expect(selects(sql)).to.have.length(10);
    expect(ran).to.deep.equal(['a10 | fields n', 'a11 | fields n']);
    const nested = Array.from({ length: 15 }).reduce<string>((inner) => `n:in(${inner} | fields n)`, 'a');
    expect((await planned(nested)).ran).to.have.length(1);
  });

  it('are run once, also where their values are needed in memory after all', async () => {
    const { plan, ran } = await planned('(n:in(a | fields n) or n:in(b | fields _stream) or n:value_type(int64)) | stats count()');
    expect(ran).to.deep.equal(['b | fields _stream', 'a | fields n']);
    expect(plan.pipes.map(String)).to.deep.equal(['filter n:in(v) or n:in("{}") or n:value_type(int64)', 'stats count(*) as "count(*)"']);
  });

  it('are counted where entries are counted already', async () => {
    const start = NOW - 30n * 3_600_000_000_000n;
    const { sql } = await sqlOf('n:in(app:=a | uniq by (host))', { start });
    expect(selects(sql)[0]).to.match(/^DISTINCT v FROM \(SELECT toString\(f_host\) AS v FROM \(SELECT f_host, in_doubt, entries FROM /);
  });
});
