import { expect } from 'chai';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { MAX_PROMOTED_BYTES, PROMOTED } from '../../../logsql/sql/promoted.ts';
import { NOW, planAs, sqlOf } from '../support.ts';

const schema = (name: string): string =>
  readFileSync(path.join(import.meta.dirname, '../../../pipeline/store/schema', name), 'utf8').replace(/\s+/g, ' ');
const LOGS_TABLE = schema('002_logs.sql');
const SHORT_PROMOTED = schema('014_short_promoted.sql');
const MATERIALIZED = schema('015_short_promoted_of_parts.sql');
const whole = (name: string): string => `if(length(f_${name}) > 256, l_${name}, f_${name})`;
const columns = (query: string): string => /^SELECT (.*?) FROM/.exec(sqlOf(query).text)?.[1] ?? '';
/** The conditions of a query but those on tenant and window, with the names of types for values. */
const where = (query: string): string =>
  (/WHERE (.*?)(?: GROUP BY| ORDER BY|$)/.exec(sqlOf(query).text)?.[1] ?? '')
    .replace(/\{p\d+:(.*?)\}/g, '$1')
    .replace(/^.*?, 'UTC'\) AND .*?, 'UTC'\) AND /, '');
const LONG = 'a'.repeat(MAX_PROMOTED_BYTES + 1);
const DAY = { start: NOW - 24n * 3_600_000_000_000n, end: NOW };

describe('promoted fields', () => {
  for (const [query, condition] of [
    ['host:=web-1', '(f_host = String)'],
    [`host:="${LONG.slice(1)}"`, '(f_host = String)'],
    ['host:!=web-1', 'NOT ((f_host = String))'],
    ['host:in(web-1, web-2)', '(f_host IN Array(String))'],
    ['host:*', "f_host != ''"],
    ['host:""', "NOT (f_host != '')"],
  ] as const)
    it(`are read from the column of short values alone where that is enough: ${query.slice(0, 20)}`, () => {
      expect(where(query)).to.equal(condition);
    });
  for (const [query, condition] of [
    [`host:="${LONG}"`, '(length(f_host) > 256 AND (l_host = String))'],
    [`host:in(a, ${LONG}, b)`, '((f_host IN Array(String)) OR (length(f_host) > 256 AND (l_host IN Array(String))))'],
    ['host:~"a+"', 'if(length(f_host) > 256, match(l_host, String), match(f_host, String))'],
    ['host:=web*', 'if(length(f_host) > 256, startsWith(l_host, String), startsWith(f_host, String))'],
  ] as const)
    it(`are read from both where a long value may match: ${query.slice(0, 20)}`, () => {
      expect(where(query)).to.equal(condition);
    });
  it('are numbers in their columns of short values, where entries with others are in doubt', () => {
    const quick = planAs('entries', 'status:>=500').statement({ limit: 10, isQuick: true });
    expect(quick.strings.join('')).to.include('toFloat64OrNull(f_status)').and.to.not.include('l_status');
    expect(where('ip:=1 host:ipv4_range("10.0.0.0/8")')).to.not.include('l_host');
  });

  it('are those of the schema', () => {
    const names = [...LOGS_TABLE.matchAll(/f_(\w+) LowCardinality\(String\) MATERIALIZED fields\['\w+'\]/g)].map(([, name = '']) => name);
    expect(names).to.have.length(PROMOTED.length);
    for (const name of names) {
      expect(columns(`* | fields ${name}`)).to.equal(`${whole(name)}, json_keys`);
      const [value, marker] = [`fields['${name}']`, "repeat('~', 257)"];
      expect(SHORT_PROMOTED).to.include(
        `MODIFY COLUMN f_${name} LowCardinality(String) MATERIALIZED if(length(${value}) > 256, ${marker}, ${value})`,
      );
      expect(SHORT_PROMOTED).to.include(`l_${name} String MATERIALIZED if(length(${value}) > 256, ${value}, '')`);
      for (const column of [`f_${name}`, `l_${name}`]) expect(MATERIALIZED, column).to.include(`MATERIALIZE COLUMN ${column},`);
    }
    const counted = sqlOf(
      '* | stats by (_time:1d, _stream, level, service, app, host, env, namespace, pod, container, job) count() n',
      null,
      DAY,
    );
    const inner = /\((SELECT toStart.*?) FROM logs/.exec(counted.text)?.[1] ?? 'absent';
    const counts = inner
      .replace(/^SELECT /, '')
      .replace(/\(length\(f_app\).* AS in_doubt, /, '')
      .replace(' AS entries', '');
    expect(SHORT_PROMOTED).to.include(`SELECT tenant_id, ${counts} GROUP BY`);
  });

  it('are grouped by their columns of short values, and by both where there are long ones', () => {
    const plan = planAs('aggregate', 'trace_id:* | stats by (host) count() n, count(a) if (app:x) m');
    const [short, both] = [plan, plan.otherwise].map(({ statement }) =>
      typeof statement === 'function' ? '' : statement.strings.join(''),
    );
    expect(short).to.include('sum(countIf((length(f_host) > 256 OR length(f_app) > 256))) OVER ()').and.to.not.include('l_');
    expect(both).to.include('GROUP BY if(length(f_host) > 256, l_host, f_host)').and.to.not.include('OVER ()');
  });

  it('are looked at likewise by the filter of a pipe that groups; not by one that does not tell what is in doubt', () => {
    const text = sqlOf('trace_id:* host:~"a" !status:>5 | stats count() n').text;
    expect(text).to.match(/^SELECT count\(\), sum\(countIf\(\(length\(f_host\) > 256 OR length\(f_status\) > 256\)\)\) OVER \(\) FROM/);
    expect(text).to.include('}) OR length(f_host) > 256)').and.to.not.include('l_host').and.to.not.include('l_status');
    expect(sqlOf('host:~"a" | field_names').text).to.include('l_host');
    expect(sqlOf('host:=a status:in(1, 2) trace_id:* | stats count() n').text).to.not.include('OVER');
  });

  it('are counted by their columns of short values, and long ones that decide are in doubt', () => {
    const counts = (query: string): string => sqlOf(query, null, DAY).text;
    expect(counts('host:=web-1 | stats by (level) count()')).to.include('entries').and.to.not.include('in_doubt');
    expect(counts('host:* | stats by (app) count()')).to.include('(length(f_app) > 256) AS in_doubt').and.to.not.include('OR (');
    expect(counts('host:web | stats by (level) count()')).to.include('(length(f_host) > 256 OR (').and.to.not.include('l_host');
  });
});
