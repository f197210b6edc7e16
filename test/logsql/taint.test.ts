import type { Table } from '../../logsql/base/table.ts';
import { LOGS } from '../../logsql/sql/logs-table.ts';
import { SPANS } from '../../logsql/sql/spans-table.ts';
import { expect } from 'chai';
import { filters } from '../../logsql/filters/index.ts';
import { pipes } from '../../logsql/pipes/index.ts';
import { stats } from '../../logsql/stats/index.ts';
import { tokenize } from '../../logsql/base/lexer.ts';
import type { Plan } from '../../logsql/planner/plan.ts';
import { planWhole } from '../../logsql/planner/prepare.ts';
import { Query } from '../../logsql/base/query.ts';
import { renderSql, type Sql } from '../../pipeline/core/sql.ts';
import { EVERYTHING, parse, statementOf, syntaxError } from './support.ts';
import { extent } from '../extent.ts';

const MARK = 'ZZMARK';
const MEMBERS = [...filters.members, ...pipes.members, ...stats.members];
const OPTIONS = { tenantId: 7, ...EVERYTHING, widest: EVERYTHING };
/** Texts that would end a literal, an identifier or a comment, or name a parameter, if they became text of a query. */
const ATTACKS = [
  `${MARK}' OR 1=1 --`,
  `${MARK}"`,
  `${MARK}\\`,
  `\`${MARK}\``,
  `${MARK}{p0:String}`,
  `${MARK}'); DROP TABLE logs; --`,
  `${MARK}/*`,
  `${MARK}\0\n\t`,
  `${MARK}é’`,
  `a:${MARK}`,
  `${MARK}*`,
  '12'.repeat(3) + MARK,
];

/** Queries with a place for a text, in quotes. */
const FILTERS = [
  '%',
  '%*',
  '%:a',
  'f:%',
  'f:=%',
  'f:=%*',
  'f:!=%',
  'f:~%',
  'f:in(%, a)',
  'in(%)',
  'f:>%',
  'f:<=%',
  'f:string_range(%, %)',
  'i(%)',
  'i(%*)',
  'seq(a, %)',
  'contains_all(%, b)',
  'contains_any(%)',
  '%:eq_field(%)',
  'f:le_field(%)',
  '{a=%}',
  '{%="b"}',
  '{a=~%}',
  '{a in (%)}',
  'resource.%:=%',
  'scope.attributes.%:=%',
  'attributes.%:%',
  'status:%',
  'kind:in(%, a)',
  'duration:>%',
  'parent_span_id:=%',
  'f:value_type(%)',
  'level:%',
  'trace_id:=%',
  '%:len_range(1, 2)',
  '%:range[1, 2]',
  '%:ipv4_range(1.2.3.4)',
  '!%:%',
  '(%:a or b:%)',
  '%:in(% | fields %)',
  'f:in(%:=% | uniq by (%) with hits as %)',
  'f:in(a:in(%:% | fields %) | stats by (%) count() n | fields %)',
  'f:in(* | extract "<x>%" from % | filter x:=% | copy x as % | fields %)',
];
const PIPES = [
  'fields %',
  'uniq by (%)',
  'top 3 by (%, b)',
  'stats by (%) count() %',
  'stats by (%:5) count() n',
  'stats count(%), sum(%), avg(%), min(%), max(%), quantile(0.5, %), median(%), count_uniq(%, b), uniq_values(%), count_empty(%), sum_len(%), rate_sum(%)',
  'stats count() if (%:=%) n, sum(a) if (%) m',
  'filter %:=%',
  'sort by (%) limit 5',
  'field_values %',
  'delete %',
  'copy % as b',
  'rename a as %',
  'extract "<x>y" from %',
  'math % + 1 as b',
  'unpack_json if (%) from % fields (%, a.%) result_prefix % | stats by (%) count()',
  'math max(%, 1) % 7 as %, % / now() as b | filter b:>% | stats by (%, b) avg(%)',
  'stats row_min(%, %, b), row_any(%), json_values(%) limit 3, values(%, %) limit 2, histogram(%)',
  'copy % as b, b as % | delete % | stats by (%, b) max(%)',
  'rename a as % | filter %:=% | uniq by (%) limit 3',
  'len(%) as % | top 3 by (%)',
  'hash(%) as % | stats by (%) count()',
  'replace if (%:=%) (%, %) at % | stats by (%) count()',
  'format % as % | uniq by (%)',
  'format "<a>ZZ<%>" as % skip_empty_results | uniq by (%)',
  'extract if (%) "<x>y<%>z" from % keep_original_fields | stats by (x, %) count()',
  'extract % from % | stats by (x, %) count()',
  'stats by (%, b) count() as %, sum(a) s | filter b:=% % | math % * 2 as m | filter m:>3 %:~% | copy % as c | sort by (c desc, %) limit 5',
  'stats by (%) count() n | rename % as % | filter !%:in(%, a) n:>1 | limit 3',
];

async function checkPlan(query: string): Promise<void> {
  if (syntaxError(query) !== null) return;
  for (const table of [LOGS, SPANS]) await checkPlanOver(table, query);
}

async function checkPlanOver(table: Table, query: string): Promise<void> {
  const { filter, pipes } = parse(query);
  const plan = await planWhole(new Query({}, filter, pipes), { table, ...OPTIONS }, () => Promise.resolve([]));
  for (let part: Plan | null = plan; part !== null; part = 'otherwise' in part ? part.otherwise : null) {
    for (const statement of await statementsOf(part)) {
      const { text } = renderSql(statement);
      expect(text, query).to.not.include(MARK);
      expect(text, query).to.not.include('DROP');
    }
  }
}

/** The statements of a plan, also of one that asks several, to which no answer has rows. */
async function statementsOf(plan: Plan): Promise<readonly Sql[]> {
  if (plan.kind !== 'gather') return [statementOf(plan.kind === 'expand' ? plan.matching : plan, 10)];
  const asked: Sql[] = [];
  const rows = (statement: Sql): Promise<never[]> => {
    asked.push(statement);
    return Promise.resolve([]);
  };
  async function* chunks(statement: Sql): AsyncGenerator<never[]> {
    yield await rows(statement);
  }
  await plan.gather({ rows, chunks, sample: rows, streams: () => Promise.resolve(new Map<string, string>()) });
  return asked;
}

describe('texts of users in SQL', () => {
  const quoted = ATTACKS.map((attack) => JSON.stringify(attack));
  for (const template of FILTERS)
    it(template, async () => {
      for (const text of quoted) await checkPlan(template.replaceAll('%', () => text));
    });
  for (const template of PIPES)
    it(`| ${template}`, async () => {
      for (const text of quoted) await checkPlan(`* | ${template.replaceAll('%', () => text)}`);
    });

  it('never get in from any example: words and names are parameters', async () => {
    for (const member of MEMBERS) for (const { query } of member.examples) await checkPlan(query.replace(/"[^"]*"/g, JSON.stringify(MARK)));
  });

  it('never get in at any place of the grammar: each token of each example in turn gives way to an attack', async () => {
    let [accepted, turn] = [0, 0];
    for (const member of MEMBERS)
      for (const { query } of member.examples) {
        const tokens = tokenize(query).filter(({ kind }) => kind !== 'end');
        for (const { raw, offset } of tokens)
          for (const text of [...quoted.slice(0, 6), MARK].filter(() => turn++ % extent(2, 1) === 0)) {
            const attacked = query.slice(0, offset) + text + query.slice(offset + raw.length);
            accepted += syntaxError(attacked) === null ? 1 : 0;
            await checkPlan(attacked);
          }
      }
    // it is no test where nearly all are refused
    expect(accepted).to.be.above(1000);
  });
});
