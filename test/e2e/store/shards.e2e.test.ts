import { expect } from 'chai';
import { pino } from 'pino';
import { ReplayErasure } from '../../../sinks/replay-erasure.ts';
import { REPLAY_AT, replayEvent, storeBatches, storeChunks } from '../../fakes/stored-chunks.ts';
import { checkEqual } from '../../equal/equal.ts';
import { extent } from '../../extent.ts';
import { at, faultsOf, selectFaults, startSelect, type SelectHost } from '../query-setup.ts';
import { ShardedStore } from '../sharded-store.ts';
import { ODDITIES } from '../../logsql/not-built.ts';

describe('a set of two shards', function () {
  this.timeout(900_000);
  let select: SelectHost;
  before(async () => {
    select = await startSelect({ two: { tenantId: 2 }, conformance: { tenantId: 8 } }, {}, () => ShardedStore.start());
  });
  after(() => select.stop());

  it('answers the conformance cases as one', async () => {
    let searches = 0;
    const oneIn = extent(18, 1);
    const faults = await faultsOf(
      select.own,
      8,
      ({ kind, feature, id }) =>
        ['hits', 'streams', 'field_values'].includes(kind) ||
        (feature.startsWith('search.') && !ODDITIES.has(id) && searches++ % oneIn === 0),
      selectFaults(select, 'conformance'),
    );
    expect(faults, faults.join('\n')).to.deep.equal([]);
  });

  it('shows no tenant the rows of another one', async () => {
    await select.own.insert(1, [at(1), at(2)]);
    await select.own.insert(2, [at(1, { secret: 'other tenant' }), at(2, { secret: 'other tenant' })]);
    expect((await select.call('query', { query: '*' })).text).to.not.contain('other tenant');
    expect((await select.call('query', { query: '*' }, { key: 'two' })).text.split('\n').filter(Boolean)).to.have.length(2);
  });

  it('empties a deleted session in each, also where its tombstone lies in another one', async () => {
    const { shards } = select.own as ShardedStore;
    const [one, other] = shards;
    if (one === undefined || other === undefined) throw new Error('There are no two shards.');
    for (const [store, session] of [
      [one, 'of-two'],
      [other, 'of-two'],
      [one, 'kept'],
    ] as const)
      // prettier-ignore
      await storeBatches(store, 1, [{ session_id: session, seq: 1, user: 'ada', events: [replayEvent(1000, 3)] }]);
    await storeChunks(other, 1, (out) => {
      out.remove('of-two', REPLAY_AT);
    });
    await new ReplayErasure({ stores: shards, log: pino({ level: 'silent' }) }).look();
    const left = await Promise.all(shards.map((store) => store.ownerRows("SELECT session, sum(length(body)) > 0, groupUniqArray(user) FROM replay_chunks WHERE kind = 0 GROUP BY session ORDER BY session"))); // prettier-ignore
    expect(left).to.deep.equal([[['kept', 1, ['ada']], ['of-two', 0, ['']]], [['of-two', 0, ['']]]]); // prettier-ignore
  });

  for (const [kind, pairs] of [
    ['logs', extent(60, 20_000)],
    ['spans', extent(30, 10_000)],
  ] as const)
    // prettier-ignore
    it(`gives what memory gives for random queries over ${kind}`, async () => {
      const { filters, queries, counterexamples } = await checkEqual({
        ...{ pairs, seed: 7, wholeOneIn: 8, progress: () => undefined },
        ...(kind === 'spans' ? { kind } : {}),
        open: () => ShardedStore.start(),
      });
      expect(counterexamples, counterexamples.join('\n')).to.deep.equal([]);
      expect(filters + queries).to.be.at.least(pairs);
    });
});
