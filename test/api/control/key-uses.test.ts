import { expect } from 'chai';
import { KeyUses } from '../../../api/control/key-uses.ts';

const START = Date.parse('2026-11-23T10:00:00.000Z');
const MINUTE = 60_000;

describe('uses of keys', () => {
  let now = START;
  let records: { readonly key: string; readonly value: string | null }[] = [];
  /** A node, and whoever follows the topic. */
  const node = (): KeyUses =>
    new KeyUses(
      {
        appendAll: (more) => {
          records.push(...more);
          return Promise.resolve();
        },
      },
      () => now,
    );
  const tell = async (from: KeyUses, ...nodes: readonly KeyUses[]): Promise<number> => {
    records = [];
    await from.publish();
    for (const record of records) for (const one of nodes) one.fold(record);
    return records.length;
  };
  beforeEach(() => (now = START));

  it('are known at once where they happened, and told to the others once an hour', async () => {
    const [a, b] = [node(), node()];
    expect(a.lastOf('k')).to.equal(null);
    expect(await tell(a, a, b)).to.equal(0);
    a.note('k');
    expect([a.lastOf('k'), b.lastOf('k')]).to.deep.equal([START, null]);
    expect(await tell(a, a, b)).to.equal(1);
    expect(b.lastOf('k')).to.equal(START);
    now += 59 * MINUTE;
    a.note('k');
    expect(await tell(a, a, b)).to.equal(0);
    expect([a.lastOf('k'), b.lastOf('k')]).to.deep.equal([now, START]);
    now += MINUTE;
    b.note('k');
    expect(await tell(b, a, b)).to.equal(1);
    // what the other has told need not be told again
    expect(await tell(a, a, b)).to.equal(0);
  });

  it('stay the latest, in whatever order they come, and pass over what is none', () => {
    const uses = node();
    for (const value of ['2026-11-23T09:00:00.000Z', '2026-11-23T08:00:00.000Z', 'never', null]) uses.fold({ key: 'used:k', value });
    uses.fold({ key: 'key:other', value: '2026-11-23T09:30:00.000Z' });
    expect(uses.lastOf('k')).to.equal(Date.parse('2026-11-23T09:00:00.000Z'));
    expect(uses.lastOf('other')).to.equal(null);
  });
});
