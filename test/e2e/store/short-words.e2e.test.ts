import { expect } from 'chai';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { migrate } from '../../../pipeline/store/migrations.ts';
import { until } from '../instance.ts';
import { WINDOW } from '../../logsql/conformance.ts';
import { at, startSelect, type SelectHost } from '../query-setup.ts';

const SCHEMA = path.join(import.meta.dirname, '../../../pipeline/store/schema');
const OLD_INDEX = /INDEX i_words .*TYPE text\(.*\)(?=,\n)/.exec(readFileSync(path.join(SCHEMA, '002_logs.sql'), 'utf8'))?.[0] ?? 'absent';
/** Of letters alone, and longer than what the index has. */
const LONG = 'abcdefghij'.repeat(190_000);

describe('the index of words, whatever words a tenant writes', function () {
  this.timeout(600_000);
  let host: SelectHost;
  before(async () => {
    host = await startSelect({ one: { tenantId: 1 }, two: { tenantId: 2 } });
  });
  after(() => host.stop());

  const indexBytes = async (): Promise<number> =>
    Number(
      (
        await host.own.store.ownerRows(
          "SELECT sum(secondary_indices_uncompressed_bytes) FROM system.parts WHERE active AND table = 'logs' AND database = currentDatabase()",
        )
      )[0]?.[0],
    );
  const found = async (key: string, query: string): Promise<string[]> =>
    (await host.rows({ query, ...WINDOW }, key)).map(({ _msg: message }) => String(message).slice(0, 20));

  it('has those of an earlier table in it, and none that are long', async () => {
    await host.own.store.command(`ALTER TABLE logs DROP INDEX i_short_words, ADD ${OLD_INDEX}`);
    await host.own.store.command('ALTER TABLE migrations DELETE WHERE number IN (12, 13) SETTINGS mutations_sync = 2');
    await host.own.insert(1, [at(1, { _msg: 'a quiet checkout' })]);
    await host.own.insert(2, [at(1, { _msg: LONG }), at(2, { _msg: `short ${LONG} end` })]);
    expect(await indexBytes()).to.be.above(LONG.length);

    expect(await migrate(host.own.store)).to.deep.equal([12, 13]);
    const mutations = "SELECT count() FROM system.mutations WHERE table = 'logs' AND database = currentDatabase() AND NOT is_done";
    await until('the parts of before', async () => Number((await host.own.store.ownerRows(mutations))[0]?.[0]), (left) => left === 0); // prettier-ignore
    await host.own.insert(2, [at(3, { _msg: `later ${LONG}` })]);
    expect(await indexBytes()).to.be.within(1, 100_000);

    expect(await found('one', 'checkout')).to.deep.equal(['a quiet checkout']);
    expect(await found('two', 'short end')).to.have.length(1);
    expect(await found('two', 'later')).to.have.length(1);
    expect(await found('two', LONG.slice(0, 129))).to.deep.equal([]);
    expect(await found('two', `${LONG.slice(0, 129)}*`)).to.have.length(3);
  });
});
