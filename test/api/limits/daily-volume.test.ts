import { expect } from 'chai';
import { effectivePlan } from '../../../api/control/flags.ts';
import { dailyVolume } from '../../../api/limits/daily-volume.ts';
import { HttpError } from '../../../pipeline/core/errors.ts';
import { fakePrincipal } from '../../fakes/key-store.ts';
import { FakeSharedCounts } from '../../fakes/shared-counts.ts';

const GB = 1e9;
const TENANT = 3;
const noon = Date.UTC(2026, 10, 21, 12);
const day = (time: number): number => Math.floor(time / 86_400_000);

/** What a tenant that has sent so many bytes on the day of noon is told at `clock`; null: it may go on. */
function told(plan: string, flags: Record<string, number>, bytes: number, clock = noon): HttpError | null {
  const counts = new FakeSharedCounts();
  counts.bytes.set(`${TENANT} ${day(noon)}`, bytes);
  const limit = dailyVolume({ counts, clock: () => clock });
  try {
    limit.admit?.(fakePrincipal({ tenantId: TENANT, plan: effectivePlan({ plan, flags }) }));
    return null;
  } catch (error) {
    expect(error).to.be.instanceOf(HttpError);
    return error as HttpError;
  }
}

describe('the daily volume', () => {
  const rows: readonly (readonly [string, Record<string, number>, number, boolean])[] = [
    ['trial', {}, 73 * GB - 1, true],
    ['trial', {}, 73 * GB, false],
    ['trial', {}, 74 * GB, false],
    ['trial', { ceiling_bytes: 500 * GB }, 73 * GB, false],
    ['team', {}, 34 * GB, true],
    ['team', {}, 340 * GB - 1, true],
    ['team', {}, 340 * GB, false],
    ['team', { ceiling_bytes: 40 * GB }, 40 * GB, false],
    ['team', { ceiling_bytes: 0 }, 0, false],
    ['growth', {}, 1350 * GB - 1, true],
    ['growth', {}, 1350 * GB, false],
    ['custom', {}, Number.MAX_SAFE_INTEGER, true],
    ['custom', { daily_bytes: 100, ceiling_bytes: 200 }, 199, true],
    ['custom', { daily_bytes: 100, ceiling_bytes: 200 }, 200, false],
    ['custom', { daily_bytes: 100 }, 1000 * GB, true],
    ['custom', { daily_bytes: 0 }, 0, false],
    ['trial_expired', {}, 0, false],
    ['unlimited', {}, Number.MAX_SAFE_INTEGER, true],
  ];
  for (const [plan, flags, bytes, taken] of rows) {
    it(`${plan} ${JSON.stringify(flags)} after ${bytes} bytes: ${taken ? 'taken' : '429'}`, () =>
      expect(told(plan, flags, bytes) === null).to.equal(taken));
  }

  for (const [plan, flags] of [
    ['trial', {}],
    ['team', { ceiling_bytes: 1000 }],
    ['custom', { daily_bytes: 10, ceiling_bytes: 1000 }],
  ] as const) {
    it(`${plan}: the sentence says what is used up and when it clears`, () => {
      const error = told(plan, flags, 73 * GB);
      expect(error).to.include({ status: 429, slug: 'rate_limited' });
      expect(error?.options.retryAfter).to.equal(60);
      for (const words of ['daily volume', 'quota', '00:00 UTC', `plan ${plan}`, '73000000000 bytes'])
        expect(error?.message).to.contain(words);
      expect(error?.message).not.to.contain('trial expired');
    });
  }

  it('after the trial: the sentence that clients test for', () => {
    const error = told('trial_expired', {}, 0);
    expect(error).to.include({ status: 429, slug: 'rate_limited' });
    expect(error?.options.retryAfter).to.equal(60);
    for (const words of ['daily ingest quota is zero', 'trial_expired', 'trial expired', 'add a payment method'])
      expect(error?.message).to.contain(words);
  });

  it('a contract of zero bytes does not speak of a trial', () =>
    expect(told('custom', { daily_bytes: 0 }, 0)?.message).to.equal('The daily ingest quota is zero for the tier custom.'));

  it('begins anew at 00:00 UTC, whatever the zone of the machine', () => {
    const midnight = Date.UTC(2026, 10, 22);
    expect(told('trial', {}, 73 * GB, midnight - 1)).not.to.equal(null);
    expect(told('trial', {}, 73 * GB, midnight)).to.equal(null);
  });

  it('of another tenant does not count', () => {
    const counts = new FakeSharedCounts();
    counts.bytes.set(`${TENANT + 1} ${day(noon)}`, 1e15);
    const limit = dailyVolume({ counts, clock: () => noon });
    limit.admit?.(fakePrincipal({ tenantId: TENANT, plan: effectivePlan({ plan: 'trial', flags: {} }) }));
    expect(() => limit.admit?.(fakePrincipal({ tenantId: TENANT + 1, plan: effectivePlan({ plan: 'trial', flags: {} }) }))).to.throw(
      HttpError,
    );
  });
});
