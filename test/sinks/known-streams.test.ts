import { expect } from 'chai';
import { KnownStreams, type StreamKey } from '../../sinks/known-streams.ts';
import { Random } from '../fuzz/random.ts';

const KEY: StreamKey = { tenantId: 1, retentionDays: 30, day: 20_000, id: '12345678901234567890' };

describe('known streams', () => {
  it('are told by tenant, class, day and id', () => {
    const known = new KnownStreams();
    known.add(KEY);
    expect(known.has({ ...KEY })).to.equal(true);
    const others: readonly StreamKey[] = [
      { ...KEY, tenantId: 2 },
      { ...KEY, retentionDays: 7 },
      { ...KEY, day: 20_001 },
      { ...KEY, day: -20_000 },
      { ...KEY, id: '12345678901234567891' },
      // the lower half is the same
      { ...KEY, id: String(BigInt(KEY.id) - 2n ** 32n) },
      { ...KEY, id: '0' },
    ];
    for (const other of others) expect(known.has(other), JSON.stringify(other)).to.equal(false);
  });

  it('are as many as a set of them has, and none that was not added', () => {
    const random = new Random(5);
    const known = new KnownStreams();
    const expected = new Map<string, StreamKey>();
    const draw = (): StreamKey => ({
      tenantId: random.below(50),
      retentionDays: random.pick([0, 7, 30]),
      day: 20_000 + random.below(3),
      id: String(random.below(20_000)),
    });
    for (let n = 0; n < 60_000; n++) {
      const key = draw();
      known.add(key);
      expected.set(JSON.stringify(key), key);
    }
    for (const key of expected.values()) expect(known.has(key)).to.equal(true);
    for (let n = 0; n < 60_000; n++) {
      const key = draw();
      expect(known.has(key)).to.equal(expected.has(JSON.stringify(key)));
    }
  });

  it('are bounded: what is used stays, what is not goes', () => {
    const known = new KnownStreams(100);
    known.add(KEY);
    for (let n = 0; n < 1000; n++) {
      known.add({ ...KEY, id: String(n) });
      expect(known.has(KEY)).to.equal(true);
    }
    expect(known.has({ ...KEY, id: '1' })).to.equal(false);
  });
});
