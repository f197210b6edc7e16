import { expect } from 'chai';
import { renderExplained, type ExplainedQuery } from '../../../cli/explained.ts';
import { explainSearch } from '../../../api/search/explain.ts';
import { PatternDirectory } from '../../../api/query/patterns/pattern-directory.ts';
import { SpanCovers } from '../../../api/query/span-covers.ts';
import type { Deps, Request } from '../../../api/query/deps.ts';
import { LOGS } from '../../../logsql/sql/logs-table.ts';
import { memoryFor, NOW } from '../../logsql/support.ts';

const deps: Deps = {
  table: LOGS,
  now: () => NOW,
  memory: memoryFor(),
  maxFacetFields: 50,
  patterns: new PatternDirectory(),
  spanCovers: new SpanCovers(),
  runner: () => {
    throw new Error('An explanation runs nothing.');
  },
};
const request: Request = {
  tenantId: 7,
  set: null,
  narrowedTo: null,
  retentionDays: 0,
  startedAt: 0,
  cover: null,
  requestId: 'r',
  signal: new AbortController().signal,
  timeout: new AbortController().signal,
  timeoutMs: 1000,
};

async function explain(query: string, before: string | null = null): Promise<ExplainedQuery> {
  const parameters = { query, start: '-1h', end: 'now', limit: 100, before };
  return (JSON.parse(await explainSearch(parameters, request, deps)) as { readonly explain: ExplainedQuery }).explain;
}

const SECRET = `x' OR 1=1 --`;

describe('explain', () => {
  it('shows the statement with its values apart, and the indexes it uses', async () => {
    const { query, plan, subqueries } = await explain(`error k8s.pod:="${SECRET}" {app="web"}`);
    expect(query).to.equal(`error k8s.pod:="${SECRET}" {app="web"}`);
    expect(subqueries).to.deep.equal([]);
    const [statement] = plan.statements;
    expect(statement?.sql).to.match(/^SELECT .* FROM logs WHERE tenant_id = \{p\d+:UInt32\}/);
    expect(statement?.sql).to.not.contain('OR 1=1');
    const values = Object.values(statement?.values ?? {});
    expect(values).to.deep.include({ type: 'UInt32', value: 7 });
    expect(values.map(({ value }) => value)).to.include.members(['error', 'k8s.pod', SECRET]);
    for (const name of Object.keys(statement?.values ?? {})) expect(statement?.sql).to.contain(`{${name}:`);
    expect(plan.indexes.map((index) => index.replace(/ \(.*/, ''))).to.deep.equal([
      'tenant and time',
      'words of _msg',
      'values of fields',
      'streams',
    ]);
    expect(plan.memory).to.deep.equal([]);
  });
  it('tells what a query may have been meant to say', async () => {
    const parameters = { query: 'level=error', start: '-1h', end: 'now', limit: 100, before: null };
    const hints = async (query: string): Promise<unknown> =>
      (JSON.parse(await explainSearch({ ...parameters, query }, request, deps)) as { readonly hints?: unknown }).hints;
    expect(await hints('level=error')).to.have.length(1);
    expect(await hints('level:=error')).to.equal(undefined);
  });
  it('names what runs in memory, and what is done where a plan does not hold', async () => {
    const { plan } = await explain('* | stats max(n) m | math m * 2 as d');
    expect(plan.memory).to.deep.equal(['math m * 2 as d']);
    expect(plan.otherwise?.memory).to.deep.equal(['math m * 2 as d']);
    expect(plan.otherwise?.otherwise?.memory).to.deep.equal(['stats max(n) as m', 'math m * 2 as d']);
    expect(plan.otherwise?.otherwise?.otherwise).to.equal(null);
  });
  it('shows which groups the statement leaves out, and what is left to do with the others', async () => {
    const groups = '* | stats by (app) count() n, avg(took) a';
    for (const [pipes, memory] of [
      ['filter n:>5 | sort by (n desc) limit 3', []],
      ['rename n as c | filter c:>5', ['rename n as c']],
      ['filter n:>5 | sort by (n desc, app) limit 3', ['sort by (n desc, app) limit 3']],
      ['math n * 2 as m | sort by (m desc) limit 3 | fields m', ['math n * 2 as m', 'fields m']],
      ['filter a:>5 | limit 3', ['filter a:>5', 'limit 3']],
    ] as const) {
      const { plan } = await explain(`${groups} | ${pipes}`);
      expect(plan.memory, pipes).to.deep.equal(memory);
      // where apps have long values they are read of another column
      expect(plan.otherwise?.memory, pipes).to.deep.equal(memory);
      expect(plan.otherwise?.otherwise?.memory.slice(1), pipes).to.deep.equal(pipes.split(' | '));
    }
  });
  it('shows what is counted and unpacked before groups in the statement, and in memory where it does not hold', async () => {
    const counted = await explain('* | math a % 7 as x | stats by (x) count() n');
    expect(counted.plan.memory).to.deep.equal([]);
    expect(counted.plan.otherwise?.memory).to.deep.equal(['math a % 7 as x', 'stats by (x) count(*) as n']);
    const unpacked = await explain('* | unpack_json fields (a) | stats by (a) count() n');
    expect(unpacked.plan.memory).to.deep.equal([]);
    expect(unpacked.plan.otherwise?.memory).to.deep.equal(['unpack_json fields (a)', 'stats by (a) count(*) as n']);
    expect((await explain('* | math ln(a) as x | stats avg(x) n')).plan.memory).to.deep.equal(['math ln(a) as x', 'stats avg(x) as n']);
  });
  it('explains queries inside, whose values are not known', async () => {
    const { plan, subqueries } = await explain('trace_id:in(panic | fields trace_id) | stream_context after 1 | fields _msg');
    expect(subqueries.map((inner) => inner.query)).to.deep.equal(['panic | fields trace_id']);
    expect(Object.values(plan.statements[0]?.values ?? {}).map(({ value }) => value)).to.deep.include('<values of query 1>');
    expect(plan.memory).to.deep.equal(['fields _msg']);
    expect(plan.otherwise?.memory).to.deep.equal(['stream_context before 0 after 1', 'fields _msg']);
  });
  it('shows a query inside that the statement takes in', async () => {
    const { plan, subqueries } = await explain('trace_id:in(panic | fields trace_id) | fields _msg');
    expect(subqueries).to.deep.equal([]);
    expect(plan.statements[0]?.sql).to.match(
      / trace_id IN \(SELECT DISTINCT toString\(trace_id\) FROM logs WHERE tenant_id = \{p\d+:UInt32\} /,
    );
    expect(Object.values(plan.statements[0]?.values ?? {}).filter(({ value }) => value === 7)).to.have.length(2);
  });
  it('shows the first statements of a plan that asks several', async () => {
    const { plan } = await explain('* | facets');
    expect(plan.statements.length).to.be.at.least(1);
  });
  it('is for one tenant: ids of another’s streams are left out', async () => {
    const { plan } = await explain(`_stream_id:in(${'0'.repeat(15)}2${'0'.repeat(31)}5, ${'0'.repeat(15)}7${'0'.repeat(31)}6)`);
    expect(Object.values(plan.statements[0]?.values ?? {})).to.deep.include({ type: 'Array(String)', value: ['6'] });
  });
  it('reads well on a terminal', async () => {
    const text = renderExplained(await explain('n:contains_any(a | fields n) | stats max(n) m'));
    expect(text).to.match(/^Query: {7}n:contains_any\(a \| fields n\) \| stats max\(n\) as m\nClickHouse: {2}SELECT .*\n {2}p0: .*\n/);
    expect(text).to.contain('\nIn memory:   nothing\n');
    expect(text).to.contain('\nQuery 1 inside it\n  Query:       a | fields n\n');
    expect(renderExplained(await explain('"\u001b[2J"'))).to.not.contain('\u001b');
  });
});
