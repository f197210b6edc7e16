import { expect } from 'chai';
import { filters } from '../../logsql/filters/index.ts';
import { pipes } from '../../logsql/pipes/index.ts';
import { stats } from '../../logsql/stats/index.ts';
import { renderSql } from '../../pipeline/core/sql.ts';
import { planOf, syntaxError } from './support.ts';

const MARK = 'ZZMARK';
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
  'f:value_type(%)',
  'level:%',
  'trace_id:=%',
  '%:len_range(1, 2)',
  '%:range[1, 2]',
  '%:ipv4_range(1.2.3.4)',
  '!%:%',
  '(%:a or b:%)',
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
];

function checkPlan(query: string): void {
  if (syntaxError(query) !== null) return;
  for (const plan of [planOf(query), planOf(query).fallback]) {
    if (plan === null) continue;
    const { text } = renderSql(plan.statement(10));
    expect(text, query).to.not.include(MARK);
    expect(text, query).to.not.include('DROP');
  }
}

describe('texts of users in SQL', () => {
  const quoted = ATTACKS.map((attack) => JSON.stringify(attack));
  for (const template of FILTERS) it(template, () => quoted.forEach((text) => checkPlan(template.replaceAll('%', () => text))));
  for (const template of PIPES)
    it(`| ${template}`, () => quoted.forEach((text) => checkPlan(`* | ${template.replaceAll('%', () => text)}`)));

  it('never get in from any example: words and names are parameters', () => {
    for (const member of [...filters.members, ...pipes.members, ...stats.members]) {
      for (const { query } of member.examples) {
        const marked = query.replace(/"[^"]*"/g, JSON.stringify(MARK));
        checkPlan(marked);
      }
    }
  });
});
