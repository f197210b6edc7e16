import { expect } from 'chai';
import type { Instance } from '../../instance.ts';
import { newTenant, runCli, sharedInstance } from '../../shared.ts';

type Line = Readonly<Record<string, unknown>>;

describe('the audit log of administration on Kafka', function () {
  this.timeout(600_000);
  let instance: Instance;
  let tenant: Awaited<ReturnType<typeof newTenant>>;
  before(async () => {
    instance = await sharedInstance();
    tenant = await newTenant(instance);
  });

  const lines = async (...argv: string[]): Promise<readonly Line[]> => {
    const { stdout, stderr, code } = await runCli(instance, tenant, ['admin', 'audit-log', '--json', '--newest-first', ...argv]);
    expect([code, stderr]).to.deep.equal([0, '']);
    return JSON.parse(stdout) as Line[];
  };
  const actions = (all: readonly Line[]): readonly unknown[] => all.map(({ action, state }) => [action, state]);

  it('has what the setup and administrators did, the newest first', async () => {
    const of = ['--tenant', String(tenant.id)];
    expect((await runCli(instance, tenant, ['admin', 'key', 'create', ...of])).code).to.equal(0);
    expect((await runCli(instance, tenant, ['admin', 'key', 'revoke', ...of, '--id', 'nothing'])).code).to.equal(1);
    const own = await lines(...of);
    expect(actions(own)).to.deep.equal([
      ['key revoke', 'refused'],
      ['key create', 'done'],
      ['tenant create', 'done'],
    ]);
    expect(own[1]?.['client']).to.match(/^logweir cli, /);
    expect(actions(await lines(...of, '--limit', '1'))).to.deep.equal([['key revoke', 'refused']]);
    expect(actions(await lines(...of, '--since', '2001-01-01'))).to.have.length(3);
    expect(await lines(...of, '--since', '2100-01-01')).to.deep.equal([]);
    const first = await lines('--tenant', '1', '--limit', '10000');
    expect(actions(first)).to.deep.include(['tenant create', 'done']);
    expect(first.find(({ action }) => action === 'tenant create')?.['client']).to.match(/^setup, /);
    expect(JSON.stringify([...own, ...first])).to.not.include(tenant.key);
  });
});
