import { expect } from 'chai';
import { EndangeredSet } from '../../../../pipeline/bus/measured/endangered-set.ts';

describe('a set that is unavailable for long', () => {
  it('is a warning while Kafka will delete what it has not stored, and pauses nothing', async () => {
    let reason: string | null = 'Records of logs.v1, partition 0, are not stored yet and near the end of their retention.';
    const set = new EndangeredSet('b', [{ check: () => Promise.resolve(null) }, { check: () => Promise.resolve(reason) }]);
    expect(set.warning).to.equal(null);
    expect(await set.check()).to.equal(null);
    expect(set.warning).to.equal(`The set b will miss records. ${reason}`);
    reason = null;
    await set.check();
    expect(set.warning).to.equal(null);
  });
});
