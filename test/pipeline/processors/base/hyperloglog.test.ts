import { expect } from 'chai';
import fc from 'fast-check';
import { HyperLogLog } from '../../../../pipeline/processors/base/hyperloglog.ts';

/** So many different texts, none of which another range has. */
function* users(from: number, to: number): Generator<string> {
  for (let n = from; n < to; n++) yield `user-${String(n)}`;
}

describe('a sketch of different texts', () => {
  it('counts within its error, from none to many', () => {
    expect(HyperLogLog.of([]).count()).to.equal(0);
    for (const size of [1, 10, 100, 1000, 5000, 20_000, 100_000]) {
      const rounds = size > 10_000 ? 5 : 30;
      const errors = Array.from({ length: rounds }, (_none, n) => HyperLogLog.of(users(n * size, (n + 1) * size)).count() / size - 1);
      const rms = Math.sqrt(errors.reduce((sum, error) => sum + error * error, 0) / rounds);
      expect(rms, String(size)).to.be.below(1.5 * HyperLogLog.error);
      expect(Math.max(...errors.map(Math.abs)), String(size)).to.be.below(5 * HyperLogLog.error);
    }
  });

  it('of a union is the union of the sketches, whatever was added how often and in which order', () => {
    fc.assert(
      fc.property(fc.array(fc.string(), { maxLength: 50 }), fc.array(fc.string(), { maxLength: 50 }), (some, others) => {
        const union = HyperLogLog.of(others);
        union.merge(HyperLogLog.of(some));
        expect(
          HyperLogLog.of([...some, ...others, ...some])
            .toBytes()
            .equals(union.toBytes()),
        ).to.equal(true);
      }),
    );
  });

  it('is read from its bytes, which are few for few texts and 4 KiB at most', () => {
    for (const [size, most] of [
      [0, 0],
      [1, 3],
      [100, 300],
      [900, 2700],
      [2000, 4096],
      [100_000, 4096],
    ] as const) {
      const sketch = HyperLogLog.of(users(0, size));
      const bytes = sketch.toBytes();
      expect(bytes.length, String(size)).to.be.at.most(most);
      expect(HyperLogLog.fromBytes(bytes)?.count()).to.equal(sketch.count());
    }
  });

  it('is the same in every release', () => {
    expect(HyperLogLog.of(['a', 'ü', 'user-1', '']).toBytes().toString('hex')).to.equal('00c00302360109a3010f4a01');
  });

  it('is read from no other bytes', () => {
    const bad = [[1], [1, 2], [0, 1, 0], [16, 0, 1], [0, 1, 2, 0, 1, 3], [0, 1, 54]].map((bytes) => Uint8Array.from(bytes));
    for (const bytes of [...bad, new Uint8Array(4096).fill(54), new Uint8Array(4095).fill(1), new Uint8Array(8192)])
      expect(HyperLogLog.fromBytes(bytes)).to.equal(null);
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 30 }), (bytes) => {
        const sketch = HyperLogLog.fromBytes(bytes);
        return sketch === null || Number.isFinite(sketch.count());
      }),
    );
  });
});
