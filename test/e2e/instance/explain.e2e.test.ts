import { expect } from 'chai';
import type { ExplainedQuery } from '../../../cli/explained.ts';
import { until, type Instance } from '../instance.ts';
import { newTenant, runCli, sharedInstance } from '../shared.ts';

/** Queries, the kind of plan, words of the statement, the indexes, and what runs in memory. */
const PLANS: readonly (readonly [string, string, RegExp, readonly string[], readonly string[]])[] = [
  ['error', 'entries', /^SELECT .* FROM logs WHERE .* ORDER BY _time DESC/, ['tenant and time', 'words of _msg'], []],
  ['k8s.pod:="p 1"', 'entries', /FROM logs/, ['tenant and time', 'values of fields'], []],
  ['{app="web"} | filter n:>3', 'entries', /streams/, ['tenant and time', 'streams'], []],
  ['error | stats by (k8s.pod) count() n', 'rows', /GROUP BY/, ['tenant and time', 'words of _msg'], []],
  [
    'error | unpack_json | stats count() n',
    'rows',
    /FROM logs/,
    ['tenant and time', 'words of _msg'],
    ['unpack_json', 'stats count(*) as n'],
  ],
  ['* | sort by (n) limit 3', 'rows', /FROM logs/, ['tenant and time'], []],
  ['* | sort by (n)', 'rows', /FROM logs/, ['tenant and time'], ['sort by (n)']],
];

describe('how a query would run', function () {
  this.timeout(600_000);
  let instance: Instance;
  let tenant: Awaited<ReturnType<typeof newTenant>>;
  before(async () => {
    instance = await sharedInstance();
    tenant = await newTenant(instance);
  });

  const search = async (query: string, parameters: string): Promise<{ readonly status: number; readonly body: unknown }> =>
    instance.call(
      'POST',
      `${instance.app}/api/v1/tenants/${String(tenant.id)}/search${parameters}`,
      { query },
      { Authorization: `Bearer ${tenant.key}` },
    );

  for (const [query, kind, words, indexes, memory] of PLANS)
    it(`is told of ${query}, by the API and on the command line`, async () => {
      const { status, body } = await search(query, '?explain=true');
      expect(status, JSON.stringify(body)).to.equal(200);
      const { explain } = body as { readonly explain: ExplainedQuery & { readonly plan: { readonly kind: string } } };
      expect(explain.plan.kind).to.equal(kind);
      const [statement] = explain.plan.statements;
      expect(statement?.sql).to.match(words);
      expect(statement?.sql).to.match(/tenant_id = \{p\d+:UInt32\}/);
      expect(Object.values(statement?.values ?? {}).map(({ value }) => value)).to.include(tenant.id);
      expect(explain.plan.indexes.map((index) => index.replace(/ \(.*/, ''))).to.deep.equal(indexes);
      expect(explain.plan.memory).to.deep.equal(memory);
      const printed = await runCli(instance, tenant, ['query', query, '--explain']);
      expect(printed.code, printed.stderr).to.equal(0);
      expect(printed.stdout).to.contain(`Indexes:     ${explain.plan.indexes.join(', ')}`);
      expect(printed.stdout).to.contain(`In memory:   ${memory.length === 0 ? 'nothing' : memory.join(' | ')}`);
      expect(printed.stdout).to.match(new RegExp(`ClickHouse: +SELECT`));
    });

  it('runs nothing, and says what is wrong as the query itself does', async () => {
    await instance.call('POST', `${instance.ingest}/api/v1/ingest`, [{ _msg: 'one' }], { Authorization: `Bearer ${tenant.key}` });
    await until(
      'the entry',
      () => search('one', ''),
      ({ body }) => (body as { readonly count: number }).count === 1,
    );
    const explained = await search('one', '?explain=true');
    expect(Object.keys(explained.body as object)).to.deep.equal(['explain']);
    expect(JSON.stringify(explained.body)).to.not.contain('"_msg":"one"');
    const [right, wrong] = [await search('a AND (', ''), await search('a AND (', '?explain=true')];
    expect(wrong.status).to.equal(400);
    expect((wrong.body as { detail: string }).detail).to.equal((right.body as { detail: string }).detail);
    expect((await runCli(instance, tenant, ['query', 'a AND (', '--explain'])).code).to.equal(2);
  });
});
