import { expect } from 'chai';
import fc from 'fast-check';
import {
  burst,
  FULL_AFTER,
  fullBucket,
  giveBack,
  MAX_RATE,
  refill,
  takePlatform,
  takeTenant,
  type Bucket,
} from '../../../api/limits/token-bucket.ts';

/** Micro-entries. */
const entries = (count: number): number => count * 1e6;
const SECOND = 1e6;

/** Numbers in [0, 1), the same in each run. */
function random(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** The contract's bucket in exact fractions: entries over a denominator of a million, nothing saturates, nothing is rounded. */
class Model {
  readonly #denominator = 1_000_000n;
  readonly #rate: bigint;
  readonly #exempt: boolean;
  #numerator: bigint;
  #latest: bigint;
  constructor(rate: number, exempt: boolean, now: number) {
    this.#rate = BigInt(rate);
    this.#exempt = exempt;
    this.#numerator = 5n * this.#rate * this.#denominator;
    this.#latest = BigInt(now);
  }
  #bound(numerator: bigint): bigint {
    const most = 5n * this.#rate * this.#denominator;
    return numerator > most ? most : numerator < -most ? -most : numerator;
  }
  /** Micros come as micros: rate times micros over a million are entries. */
  pass(now: number, elsewhere: number): void {
    const time = BigInt(now);
    const gain = time > this.#latest ? this.#rate * (time - this.#latest) : 0n;
    if (time > this.#latest) this.#latest = time;
    this.#numerator = this.#bound(this.#numerator + gain - BigInt(elsewhere) * this.#denominator);
  }
  /** Null where the request is taken, else the seconds to wait. */
  ask(count: number): number | null {
    const n = BigInt(count) * this.#denominator;
    const fiveSeconds = 5n * this.#rate * this.#denominator;
    const empty = this.#numerator <= 0n;
    const refuse = this.#exempt ? n > fiveSeconds && empty && n - this.#numerator > fiveSeconds : n > 0n && empty;
    if (!refuse) {
      this.#numerator = this.#bound(this.#numerator - n);
      return null;
    }
    const second = this.#rate * this.#denominator;
    const wait = (-this.#numerator + second - 1n) / second;
    return wait < 1n ? 1 : Number(wait);
  }
  get numerator(): bigint {
    return this.#numerator;
  }
  return(debit: bigint): void {
    this.#numerator = this.#bound(this.#numerator + debit);
  }
}

describe('the token bucket', () => {
  describe('agrees with exact fractions on 1,000,000 requests', function () {
    this.timeout(240_000);
    const rates = [1, 7, 100, 500, 2000, 50_000, 1_234_567, MAX_RATE];
    const REQUESTS = 1_000_000 / (rates.length * 2);

    function batch(next: () => number, rate: number): number {
      const kind = Math.floor(next() * 8);
      if (kind === 0) return 0;
      if (kind === 1) return 5 * rate + Math.floor(next() * 3) - 1;
      if (kind === 2) return 10 * rate + Math.floor(next() * 3) - 1;
      if (kind === 3) return Math.floor(next() * 40 * rate);
      return Math.ceil(next() * next() * 5 * rate);
    }
    function step(next: () => number): number {
      const kind = Math.floor(next() * 1000);
      if (kind === 0) return Math.floor(next() * 1e13);
      if (kind === 1) return -Math.floor(next() * 1e8);
      if (kind < 50) return -Math.floor(next() * 2 * SECOND);
      if (kind < 200) return 0;
      if (kind < 500) return Math.floor(next() * 12 * SECOND);
      return Math.floor(next() * 2 * SECOND);
    }

    for (const [index, rate] of rates.entries()) {
      for (const exempt of [true, false]) {
        it(`${rate} entries/s, ${exempt ? 'a tenant' : 'the platform'}`, () => {
          const next = random(1000 + index * 2 + (exempt ? 1 : 0));
          const take = exempt ? takeTenant : takePlatform;
          let now = 1e9;
          let bucket = fullBucket(rate, now);
          const model = new Model(rate, exempt, now);
          let refusals = 0;
          for (let request = 0; request < REQUESTS; request++) {
            now = Math.max(now + step(next), 0);
            const elsewhere = next() < 0.1 ? Math.floor(next() * 20 * rate) : 0;
            const count = batch(next, rate);
            bucket = refill(bucket, rate, now, elsewhere);
            model.pass(now, elsewhere);
            const before = model.numerator;
            const taken = take(bucket, rate, count);
            const wait = model.ask(count);
            if (taken.retryAfter !== wait)
              throw new Error(`Request ${request} of ${count}: ${String(taken.retryAfter)}, not ${String(wait)}`);
            bucket = taken.bucket;
            if (BigInt(taken.debit) !== before - model.numerator) throw new Error(`Request ${request} took ${taken.debit}`);
            if (wait !== null) refusals += 1;
            else if (next() < 0.05) {
              bucket = giveBack(bucket, rate, taken.debit);
              model.return(BigInt(taken.debit));
            }
            if (BigInt(bucket.tokens) !== model.numerator)
              throw new Error(`Request ${request} left ${bucket.tokens}, not ${model.numerator}`);
          }
          expect(refusals, 'refusals').to.be.within(REQUESTS / 50, REQUESTS * 0.9);
        });
      }
    }
  });

  describe('the contract, row by row, at 500 entries/s', () => {
    // tokens before, request, seconds to wait (null: taken), tokens after
    const tenant: readonly (readonly [number, number, number | null, number])[] = [
      [2500, 2500, null, 0],
      [2500, 2501, null, -1],
      [2500, 5000, null, -2500],
      [2500, 1_000_000, null, -2500],
      [1, 9000, null, -2500],
      [0, 2500, null, -2500],
      [-2500, 2500, null, -2500],
      [-2500, 0, null, -2500],
      [0, 2501, 1, 0],
      [-1, 2501, 1, -1],
      [-500, 2501, 1, -500],
      [-501, 2501, 2, -501],
      [-2500, 2501, 5, -2500],
    ];
    for (const [tokens, count, wait, after] of tenant) {
      it(`a tenant with ${tokens} sends ${count}: ${wait === null ? 'taken' : `wait ${wait} s`}`, () => {
        const taken = takeTenant({ tokens: entries(tokens), at: 0 }, 500, count);
        expect(taken).to.deep.equal({
          bucket: { tokens: entries(after), at: 0 },
          debit: entries(tokens - after),
          retryAfter: wait,
        });
      });
    }
    const platform: readonly (readonly [number, number, number | null, number])[] = [
      [2500, 9000, null, -2500],
      [1, 1, null, 0],
      [0, 1, 1, 0],
      [0, 0, null, 0],
      [-1001, 1, 3, -1001],
      [-2500, 2500, 5, -2500],
    ];
    for (const [tokens, count, wait, after] of platform) {
      it(`the platform with ${tokens} gets ${count}: ${wait === null ? 'taken' : `wait ${wait} s`}`, () => {
        const taken = takePlatform({ tokens: entries(tokens), at: 0 }, 500, count);
        expect([taken.retryAfter, taken.bucket.tokens]).to.deep.equal([wait, entries(after)]);
      });
    }
    it('bursts of the plans', () => expect([500, 2000, 50_000].map(burst)).to.deep.equal([2500, 10_000, 250_000]));
  });

  describe('time', () => {
    const empty: Bucket = { tokens: -entries(2500), at: 100 * SECOND };
    const rows: readonly (readonly [string, number, number, number])[] = [
      ['a microsecond', 100 * SECOND + 1, -entries(2500) + 500, 100 * SECOND + 1],
      ['a second', 101 * SECOND, -entries(2000), 101 * SECOND],
      ['no time', 100 * SECOND, -entries(2500), 100 * SECOND],
      ['backwards', 7, -entries(2500), 100 * SECOND],
      ['10 s less a microsecond', 110 * SECOND - 1, entries(2500) - 500, 110 * SECOND - 1],
      ['10 s', 100 * SECOND + FULL_AFTER, entries(2500), 110 * SECOND],
      ['285 years', Number.MAX_SAFE_INTEGER, entries(2500), Number.MAX_SAFE_INTEGER],
    ];
    for (const [name, now, tokens, at] of rows) it(name, () => expect(refill(empty, 500, now)).to.deep.equal({ tokens, at }));

    it('back and forth refills no time twice', () => {
      let bucket = empty;
      for (let turn = 0; turn < 1000; turn++) bucket = refill(bucket, 500, turn % 2 === 0 ? 101 * SECOND : 0);
      expect(bucket.tokens).to.equal(-entries(2000));
    });
    it('in small steps is as in one', () => {
      fc.assert(
        fc.property(fc.integer({ min: 1, max: MAX_RATE }), fc.array(fc.nat(3 * SECOND), { maxLength: 20 }), (rate, steps) => {
          const start: Bucket = { tokens: -entries(5 * rate), at: 0 };
          let now = 0;
          let bucket = start;
          for (const step of steps) bucket = refill(bucket, rate, (now += step));
          expect(bucket).to.deep.equal(refill(start, rate, now));
        }),
      );
    });
  });

  it('of every rate fills from its floor to its burst in FULL_AFTER, and stays whole', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: MAX_RATE }), fc.maxSafeNat(), fc.maxSafeNat(), (rate, count, jump) => {
        const floor = takeTenant(fullBucket(rate, 0), rate, Math.max(count, 10 * rate)).bucket;
        expect(floor.tokens).to.equal(-entries(5 * rate));
        expect(refill(floor, rate, FULL_AFTER)).to.deep.equal(fullBucket(rate, FULL_AFTER));
        const later = refill(floor, rate, jump, count);
        expect(Number.isSafeInteger(later.tokens)).to.equal(true);
        expect(later.tokens).to.be.within(-entries(5 * rate), entries(5 * rate));
      }),
    );
  });

  it('what others took is set off against the refill of that time, and has the same floor', () => {
    const full = fullBucket(500, 0);
    expect(refill(full, 500, 3600 * SECOND, 3600 * 500).tokens).to.equal(entries(2500));
    expect(refill(full, 500, SECOND, 1000).tokens).to.equal(entries(2000));
    expect(refill(full, 500, SECOND, 1e12).tokens).to.equal(-entries(2500));
    expect(refill(full, 500, 0, Number.MAX_SAFE_INTEGER).tokens).to.equal(-entries(2500));
  });

  it('of a plan that has changed keeps its tokens within the new bounds', () => {
    expect(refill(fullBucket(500, 0), 2000, SECOND).tokens).to.equal(entries(4500));
    expect(refill(fullBucket(2000, 0), 500, 0).tokens).to.equal(entries(2500));
    expect(refill({ tokens: -entries(10_000), at: 0 }, 500, 0).tokens).to.equal(-entries(2500));
  });

  it('gets back what was taken, and never more than its burst', () => {
    const floor: Bucket = { tokens: -entries(2500), at: 0 };
    const { bucket, debit } = takeTenant(floor, 500, 2500);
    expect(giveBack(bucket, 500, debit)).to.deep.equal(floor);
    const later = refill(takeTenant(fullBucket(500, 0), 500, 2000).bucket, 500, 3 * SECOND);
    expect(giveBack(later, 500, entries(2000))).to.deep.equal(fullBucket(500, 3 * SECOND));
  });
});
