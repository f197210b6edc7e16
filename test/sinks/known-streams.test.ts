import { expect } from 'chai';
import { KnownStreams, scopeHash, type StreamScope } from '../../sinks/known-streams.ts';
import { Random } from '../fuzz/random.ts';

const SCOPE: StreamScope = { tenantId: 1, retentionDays: 30, day: 20_000 };
const HERE = scopeHash(SCOPE);

describe('known streams', () => {
  it('are told by tenant, class, day and id', () => {
    const known = new KnownStreams();
    known.add(-5, 7, HERE);
    expect(known.has(-5, 7, scopeHash({ ...SCOPE }))).to.equal(true);
    for (const other of [{ tenantId: 2 }, { retentionDays: 7 }, { day: 20_001 }, { day: -20_000 }])
      expect(known.has(-5, 7, scopeHash({ ...SCOPE, ...other })), JSON.stringify(other)).to.equal(false);
    for (const [high, low] of [[-5, 8], [-4, 7], [5, 7], [-5, -7], [7, -5], [0, 0]] as const) expect(known.has(high, low, HERE)).to.equal(false); // prettier-ignore
  });

  it('are as many as a set of them has, and none that was not added', () => {
    const random = new Random(5);
    const known = new KnownStreams();
    const expected = new Map<string, readonly [number, number, number]>();
    const draw = (): readonly [number, number, number] => {
      const scope = { tenantId: random.below(50), retentionDays: random.pick([0, 7, 30]), day: 20_000 + random.below(3) };
      return [random.pick([-1, 0, 1]), random.below(7000) - 3500, scopeHash(scope)];
    };
    for (let n = 0; n < 60_000; n++) {
      const key = draw();
      known.add(...key);
      expected.set(key.join(), key);
    }
    for (const key of expected.values()) expect(known.has(...key)).to.equal(true);
    for (let n = 0; n < 60_000; n++) {
      const key = draw();
      expect(known.has(...key)).to.equal(expected.has(key.join()));
    }
  });

  it('are bounded: what is used stays, what is not goes', () => {
    const known = new KnownStreams(100);
    known.add(1, 0, HERE);
    for (let n = 0; n < 1000; n++) {
      known.add(2, n, HERE);
      expect(known.has(1, 0, HERE)).to.equal(true);
    }
    expect(known.has(2, 1, HERE)).to.equal(false);
  });
});
