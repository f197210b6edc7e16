import { expect } from 'chai';
import { readFileSync, readdirSync } from 'node:fs';
import path from 'node:path';
import { pino } from 'pino';
import { ANY_ROW, RowPolicies } from '../../../pipeline/store/row-policies.ts';
import { LogsqlStore } from '../logsql-store.ts';
import { at } from '../query-setup.ts';

const log = pino({ level: 'silent' });

describe('the watch over row policies', function () {
  this.timeout(600_000);
  let own: LogsqlStore;
  before(async () => {
    own = await LogsqlStore.start();
    // rows of no tenant are there too
    for (const tenantId of [0, 1]) await own.insert(tenantId, [at(1)]);
  });
  after(() => own.stop());

  async function seen(store: Pick<RowPolicies, never> & ConstructorParameters<typeof RowPolicies>[0]['store']): Promise<unknown> {
    let missing: readonly string[] = ['never'];
    const watch = new RowPolicies({ store, log, onLook: (tables) => void (missing = tables) });
    await watch.start();
    await watch.stop();
    return { missing, warning: watch.warning };
  }

  it('says nothing where the wall stands', async () => {
    expect(await seen(own.store)).to.deep.equal({ missing: [], warning: null });
  });

  it('names the tables whose rows the reader sees without a tenant', async () => {
    const open = own.withoutRowFilter();
    const warning =
      'ClickHouse has no row policy on logs, streams: the reader sees rows of all tenants, and only the statements keep them apart.';
    expect(await seen(open)).to.deep.equal({ missing: ['logs', 'streams'], warning });
    await open.close();
  });

  it('looks at each table that has tenants', () => {
    const schema = path.join(import.meta.dirname, '../../../pipeline/store/schema');
    const made = readdirSync(schema).map((file) => readFileSync(path.join(schema, file), 'utf8'));
    const tables = made.flatMap((text) =>
      text.includes('tenant_id UInt32') ? (/CREATE TABLE IF NOT EXISTS (\w+)/.exec(text)?.[1] ?? []) : [],
    );
    expect([...ANY_ROW.keys()].sort()).to.deep.equal(tables.sort());
  });
});
