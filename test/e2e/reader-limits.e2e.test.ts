import { expect } from 'chai';
import { sql, uint32 } from '../../pipeline/core/sql.ts';
import { HttpError } from '../../pipeline/core/errors.ts';
import { LogsqlStore } from './logsql-store.ts';
import { at } from './query-setup.ts';

/** More statements than queries may have at once. */
const MANY = 60;

describe('queries in ClickHouse', function () {
  this.timeout(120_000);
  let own: LogsqlStore;
  before(async () => {
    own = await LogsqlStore.start();
    await own.insert(1, [at(1, { _msg: 'm' })]);
  });
  after(() => own.stop());

  const options = { tenantId: 1, timeoutMs: 20_000 };

  it('have less memory and fewer places together than the server, and cannot take more', async () => {
    const [row = []] = await own.store.rows(
      sql`SELECT getSetting('max_memory_usage_for_user'), getSetting('max_concurrent_queries_for_user')`,
      options,
    );
    expect(Number(row[0])).to.be.within(1, 3_600_000_000);
    expect(Number(row[1])).to.equal(40);
    for (const name of ['max_memory_usage_for_user', 'max_concurrent_queries_for_user']) {
      const raised = own.store.rows(sql`SELECT 1`, { ...options, settings: { [name]: 0 } });
      expect(await raised.catch(String)).to.include('should not be changed');
    }
  });

  it('are refused beyond their places, while inserts have theirs', async () => {
    const wait = sql`SELECT sum(sleepEachRow(0.5)) FROM (SELECT arrayJoin(range(${uint32(5)})) AS n)`;
    const asked = Array.from({ length: MANY }, () =>
      own.store.rows(wait, options).then(
        () => 200,
        (error: unknown) => (error instanceof HttpError ? error.status : String(error)),
      ),
    );
    await own.insert(1, [at(2, { _msg: 'n' })]);
    const statuses = await Promise.all(asked);
    expect(new Set(statuses)).to.deep.equal(new Set([200, 429]));
    expect(statuses.filter((status) => status === 200).length).to.be.within(20, 40);
    expect(await own.store.rows(sql`SELECT count() FROM logs WHERE tenant_id = ${uint32(1)}`, options)).to.deep.equal([['2']]);
  });
});
