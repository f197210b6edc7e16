import { expect } from 'chai';
import { killUnderLoad } from '../faults/kill-under-load.ts';

describe('kill -9 under load', function () {
  this.timeout(240_000);

  it('has every acknowledged entry once after kills of the sink and of ClickHouse', async () => {
    const entries = 60_000;
    const verdict = await killUnderLoad({ entries, kills: ['sink', 'clickhouse', 'sink'], log: () => undefined });
    expect(verdict).to.deep.equal({ acknowledged: entries, hits: entries, rows: entries, positions: entries, uids: entries, kills: 3 });
  });
});
