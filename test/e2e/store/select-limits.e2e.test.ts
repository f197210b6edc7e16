import { expect } from 'chai';
import { findPlan, type Plan } from '../../../api/tenants/plans.ts';
import { queryRate } from '../../../api/limits/query-rate.ts';
import { extent } from '../../extent.ts';
import { at, startSelect, type Parameters, type SelectHost } from '../query-setup.ts';

describe("What VictoriaLogs' read API refuses", function () {
  this.timeout(600_000);
  let select: SelectHost;
  before(async () => {
    const plan = { ...(findPlan('trial') as Plan), queriesPerMinute: 3, retentionDays: 0 };
    select = await startSelect(
      {
        slow: { tenantId: 1, keyId: 'slow', plan },
        writer: { tenantId: 1, scopes: new Set(['write', 'ingest'] as const) },
      },
      { rate: queryRate({ now: () => 0 }) },
    );
    await select.own.insert(1, [at(1, { level: 'info' })]);
  });
  after(() => select.stop());

  const call: SelectHost['call'] = (...call) => select.call(...call);

  it('refuses what is wrong in plain text, or in the words of Prometheus, before credentials only by path', async () => {
    const bad: readonly (readonly [string, Parameters])[] = [
      ['query', {}],
      ['query', { query: 'a AND (' }],
      ['query', { query: '*', limit: '-1' }],
      ['query', { query: '*', limit: '1e99x' }],
      ['query', { query: '*', offset: '5' }],
      ['query', { query: '*', timeout: 'soon' }],
      ['query', { query: '*', start: "'; DROP TABLE logs; --" }],
      ['query', { query: '*', extra_filters: '{"a":1}' }],
      ['query', { query: '*', hidden_fields_filters: 'n' }],
      ['query', { query: '*', format: 'csv' }],
      ['query', { query: `*${' | union (*)'.repeat(900)}` }],
      ['hits', { query: '*', step: '0' }],
      ['hits', { query: '*', step: '\u0000' }],
      ['hits', { query: '*', field: Array.from({ length: 21 }, (_none, index) => `f${String(index)}`) }],
      ['hits', { query: '*', field: '_time' }],
      ['facets', { query: '*', limit: 'many' }],
      ['facets', { query: '(' }],
      ['field_values', { query: '*' }],
      ['field_values', { query: '*', field: 'f'.repeat(1001) }],
      ['stream_field_values', { query: '*' }],
      ['streams', { query: '*', limit: '0x10' }],
      ['stats_query_range', { query: '* | stats count()', step: 'x' }],
    ];
    for (const [name, parameters] of bad)
      for (const method of ['GET', 'POST']) {
        const { status, type, text, headers } = await call(name, parameters, { method });
        expect(status, `${name} ${JSON.stringify(parameters).slice(0, 100)}: ${text}`).to.equal(400);
        expect(type).to.contain(name.startsWith('stats') ? 'application/json' : 'text/plain');
        expect(headers.get('x-request-id')).to.be.a('string');
      }
    expect((await call('query', { query: '*' }, { key: 'unknown' })).status).to.equal(403);
    expect((await call('query', { query: '*' }, { key: 'writer' })).status).to.equal(403);
    expect((await call('query', { query: '*' }, { key: '' })).status).to.equal(401);
    expect((await call('nosuch', { query: '*' }, { key: '' })).status).to.equal(404);
    expect((await call('query', { query: 'x'.repeat(2_000_000) }, { method: 'POST' })).status).to.equal(413);
    expect((await fetch(`${select.url}/select/logsql/query`, { method: 'PUT' })).status).to.equal(405);
  });

  it('takes any text in any argument without failing', async () => {
    const texts = [
      '',
      '\u0000',
      '\'"`\\',
      '{p0:String}',
      '__proto__',
      '-- ',
      '%',
      '\ud800',
      '9'.repeat(50),
      '((((',
      '{"a":{"b":[',
      'ﷺ'.repeat(300),
      '*',
      'now',
      '-',
    ];
    const names = [
      'query',
      'start',
      'end',
      'time',
      'limit',
      'offset',
      'step',
      'field',
      'timeout',
      'extra_filters',
      'extra_stream_filters',
      'fields_limit',
      'max_value_len',
    ];
    // no divisor of how many texts there are: each text comes, and each argument
    const oneIn = extent(4, 1);
    let number = 0;
    for (const path of ['query', 'hits', 'stats_query_range'])
      for (const name of names)
        for (const text of texts) {
          if (number++ % oneIn !== 0) continue;
          const query = path.startsWith('stats') ? '* | stats count()' : '*';
          const { status, text: answer } = await call(path, { query, field: 'level', [name]: text });
          expect([200, 400], `${path} ${name}=${text}: ${answer}`).to.include(status);
        }
  });

  it('is limited by the rate of the plan, all paths together', async () => {
    const statuses: number[] = [];
    for (const name of ['query', 'hits', 'streams', 'query', 'facets']) {
      const { status, headers, text } = await call(name, { query: '*' }, { key: 'slow' });
      statuses.push(status);
      if (status !== 429) continue;
      expect(Number(headers.get('retry-after'))).to.be.within(1, 20);
      expect(text).to.contain('3 queries a minute');
    }
    expect(statuses).to.deep.equal([200, 200, 200, 429, 429]);
  });
});
