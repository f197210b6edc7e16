import { expect } from 'chai';
import { SPANS } from '../../../logsql/sql/spans-table.ts';
import { planOf, sqlOf } from '../support.ts';

const sql = (query: string): ReturnType<typeof sqlOf> => sqlOf(query, 10, { table: SPANS });

describe('Statements over spans', () => {
  it('tell copies apart where tenant, window and services leave few rows, and of more count them', () => {
    const { text, values } = sql('service:=web user.id:=u7 | stats count() n');
    const [, counted = ''] = /\(SELECT count\(\) FROM \(SELECT [^()]+ FROM spans WHERE (.*?)\)\) > \{p\d+:UInt64\} OR/.exec(text) ?? [];
    expect(counted).to.match(/^tenant_id = \{p\d+:UInt32\} AND _time >= .* AND _time <= .* AND \(service = \{p\d+:String\}\)$/);
    expect(values).to.include(5_000_000);
    // the conditions stand there once, however often their rows are looked at
    expect(text.split('fields[')).to.have.length(2);
    // a page is left early, and who reads it tells copies apart
    expect(sql('service:=web').text).to.not.include('matching');
    expect(planOf('service:=web', { table: SPANS })).to.have.property('identity');
    expect(planOf('service:=web')).to.not.have.property('identity');
  });

  it('compare ids as bytes, and decide words of few while they are planned', () => {
    const id = 'a'.repeat(32);
    expect(sql(`trace_id:=${id}`).text).to.include('trace_id = toFixedString(unhex({p3:String}), 16)');
    for (const none of [
      'trace_id:=xyz',
      `trace_id:=${'0'.repeat(32)}`,
      `trace_id:=${'A'.repeat(32)}`,
      'span_id:in(a, b)',
      'status:Error',
      'kind:serve',
    ])
      expect(sql(none).text, none).to.match(/AND 0\) ORDER BY/);
    expect(sql('status:err*').values).to.deep.include([2]);
    expect(sql('!kind:~"er$"').values).to.deep.include([2, 4, 5]);
    expect(sql('duration:>300ms').text).to.include('toFloat64(duration) > {p3:Float64}');
  });

  it('name attributes and what a span has for itself apart', () => {
    expect(sql('attributes.status:=x').values).to.include('status');
    expect(sql('attributes.user.id:=x').text).to.include("('' = ");
    expect(sql('resource.host.name:=h').text).to.include('JSONExtractString(resource, {p3:String})');
    expect(sql('scope.attributes.lib:=l').text).to.match(
      /JSONExtractString\(p, 'key'\) = \{p3:String\}, JSONExtractArrayRaw\(context, 'scopeAttributes'\)/,
    );
    expect(sql('scope.attributes.lib:=l').values).to.include.members(['lib', 'l']);
    expect(sql('scope.lib:=l').values).to.include('scope.lib');
    expect(sql('attributes.scope.attributes.lib:=l').values).to.include('scope.attributes.lib');
    expect(sql('__proto__:=x').values).to.include('__proto__');
  });
});
