import { ClickHouseError } from '@clickhouse/client';
import { expect } from 'chai';
import { limitsFault } from '../../../pipeline/store/shard-limits.ts';

const NEVER = new AbortController().signal;
type Limits = { readonly quotas: string | null; readonly profile: readonly string[] };

describe('the limits of shards', () => {
  const faultOf = (...all: Limits[]): Promise<string | null> =>
    limitsFault(
      all.map(({ quotas, profile }) => ({
        ownerRows: () => (quotas === null ? Promise.reject(new ClickHouseError({ message: 'no', code: '497', type: 'ACCESS_DENIED' })) : Promise.resolve([[quotas]])), // prettier-ignore
        rows: () => Promise.resolve([profile]),
      })),
      NEVER,
    );
  const usual: Limits = { quotas: '7', profile: ['2', '100', '40'] };
  const message = /^has other quotas, or a profile of its reader with other limits, in shard 3 than in the first$/;

  it('are the same in each, or the first one that differs is named', async () => {
    expect(await faultOf(usual, usual, usual)).to.equal(null);
    expect(await faultOf(usual, usual, { ...usual, quotas: '0' })).to.match(message);
    expect(await faultOf(usual, usual, { ...usual, profile: ['0', '100', '40'] })).to.match(message);
  });

  it('are compared as far as the owner may see them', async () => {
    expect(await faultOf({ ...usual, quotas: null }, usual)).to.equal(null);
    expect(await faultOf(usual, { ...usual, quotas: null })).to.equal(null);
  });
});
