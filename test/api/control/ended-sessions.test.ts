import { expect } from 'chai';
import { createKey, createTenant } from '../../../api/control/accounts.ts';
import { MAX_ENDED } from '../../../api/control/bounds.ts';
import { endSession } from '../../../api/control/ended-sessions.ts';
import { FakeControlTopic } from '../../fakes/control-log.ts';
import { controlNode } from '../../fakes/control-node.ts';

describe('sessions that have signed out', () => {
  it('are remembered until they would have expired, a bounded number; beyond it all of the key end', async () => {
    const { store } = await controlNode(new FakeControlTopic());
    await createTenant(store, 'a', 'team');
    const { record } = await createKey(store, 1, ['read'], null);
    const claims = (id: string, startedAt: number) => ({
      keyId: record.id,
      hash: record.hash.slice(0, 16),
      id,
      startedAt,
      expiresAt: 1e15,
    });
    const holds = (id: string, startedAt = 1000): boolean => store.findSession(claims(id, startedAt)) !== null;
    await endSession(store, { keyId: record.id, id: 'short', expiresAt: 2000 }, 1000);
    expect([holds('short'), holds('a')]).to.deep.equal([false, true]);
    for (let at = 0; at < MAX_ENDED; at++) await endSession(store, { keyId: record.id, id: `s${String(at)}`, expiresAt: 1e12 }, 3000);
    const kept = store.record(`ended:${record.id}`) as unknown as { sessions: { id: string }[] };
    expect(kept.sessions.map(({ id }) => id))
      .to.have.length(MAX_ENDED)
      .and.not.to.include('short');
    expect([holds('s0'), holds('other')]).to.deep.equal([false, true]);
    await endSession(store, { keyId: record.id, id: 'last', expiresAt: 1e12 }, 4000);
    expect([holds('s0', 3999), holds('last', 4000), holds('other', 4000), holds('new', 4001)]).to.deep.equal([false, false, false, true]);
    expect((store.record(`ended:${record.id}`) as unknown as { sessions: unknown[] }).sessions).to.deep.equal([]);
    expect(store.findSession({ ...claims('new', 5000), hash: 'x'.repeat(16) })).to.equal(null);
    expect(store.findSession({ ...claims('new', 5000), keyId: '__proto__' })).to.equal(null);
  });
});
