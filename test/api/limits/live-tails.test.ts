import { expect } from 'chai';
import { LiveTails, MAX_OF_KEY } from '../../../api/limits/live-tails.ts';
import { findPlan, type Plan } from '../../../api/tenants/plans.ts';
import { HttpError } from '../../../pipeline/core/errors.ts';
import { fakePrincipal } from '../../fakes/key-store.ts';

const refusal = (run: () => unknown): HttpError => {
  try {
    run();
  } catch (error) {
    if (error instanceof HttpError) return error;
    throw error;
  }
  return expect.fail('was let in');
};

describe('the count of live tails', () => {
  it('keeps each tenant to what its plan allows, and gives places back once', () => {
    const tails = new LiveTails();
    const expired = fakePrincipal({ plan: findPlan('trial_expired') as Plan });
    const leave = tails.enter(expired);
    tails.enter(expired);
    const { status, message } = refusal(() => tails.enter(expired));
    expect([status, message]).to.deep.equal([
      403,
      'The plan trial_expired allows 2 live tails at once; close one, or add a payment method.',
    ]);
    tails.enter({ ...expired, tenantId: 2 });
    leave();
    leave();
    tails.enter(expired);
    expect(refusal(() => tails.enter(expired)).status).to.equal(403);
  });

  it('keeps any key to a number for each process, and no other one', () => {
    const tails = new LiveTails();
    const places = Array.from({ length: MAX_OF_KEY }, () => tails.enter(fakePrincipal()));
    const { status, options } = refusal(() => tails.enter(fakePrincipal()));
    expect([status, options.retryAfter]).to.deep.equal([429, 10]);
    tails.enter(fakePrincipal({ keyId: 'other' }));
    places.pop()?.();
    tails.enter(fakePrincipal());
  });

  it('ends them all with the process', async () => {
    const tails = new LiveTails();
    expect(tails.ending.aborted).to.equal(false);
    await tails.stop();
    expect(tails.ending.aborted).to.equal(true);
    expect(refusal(() => tails.enter(fakePrincipal())).status).to.equal(503);
  });
});
