import { expect } from 'chai';
import fc from 'fast-check';
import { PLANS } from '../../../api/tenants/plans.ts';
import { RETENTION_CLASSES, retentionClass } from '../../../pipeline/intake/retention.ts';

describe('retention classes', () => {
  const of = (days: number, kept: number): Mocha.Test => it(`${days} days: ${kept}`, () => expect(retentionClass(days)).to.equal(kept));
  of(0, 0);
  of(1, 14);
  of(14, 14);
  of(15, 30);
  of(30, 30);
  of(60, 90);
  of(91, 180);
  of(365, 365);
  of(366, 0);

  it('are those of the plans, and never shorter than what was asked for', () => {
    for (const { retentionDays } of PLANS) expect(retentionClass(retentionDays)).to.equal(retentionDays);
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 70_000 }), (days) => {
        const kept = retentionClass(days);
        return kept === 0 || (kept >= days && RETENTION_CLASSES.includes(kept));
      }),
    );
  });
});
