import { expect } from 'chai';
import { changeGate, changeRate, MAX_CHANGES } from '../../../api/app/change-rate.ts';
import type { Route, RouteContext } from '../../../api/http/route.ts';
import { HttpError } from '../../../pipeline/core/errors.ts';
import { fakePrincipal } from '../../fakes/key-store.ts';

const MINUTE = 60_000_000;
const route = (path: string, scope: Route['scope']): Route => ({
  method: 'POST',
  path,
  scope,
  handle: () => Promise.resolve({ status: 204 }),
});

describe('the rate of changes', () => {
  /** How many of so many requests are taken, and the wait that the next ones are told. */
  async function taken(times: number, { handle }: Route, tenantId: number): Promise<{ readonly count: number; readonly wait: number }> {
    let [count, wait] = [0, 0];
    for (let i = 0; i < times; i++)
      try {
        await handle({ principal: fakePrincipal({ tenantId }) } as RouteContext);
        count += 1;
      } catch (error) {
        expect(error).to.be.instanceOf(HttpError).and.to.include({ status: 429, slug: 'rate_limited' });
        wait = (error as HttpError).options.retryAfter ?? NaN;
      }
    return { count, wait };
  }

  it('is one of all changes of a tenant, another for the next tenant, and none for what reads', async () => {
    let now = 0;
    const limited = changeRate(changeGate({ now: () => now }));
    const [rules, webhooks, search] = [limited(route('/rules', 'write')), limited(route('/webhooks', 'write')), route('/search', 'read')];
    expect(await taken(MAX_CHANGES - 1, rules, 1)).to.deep.equal({ count: MAX_CHANGES - 1, wait: 0 });
    expect(await taken(3, webhooks, 1)).to.deep.equal({ count: 1, wait: 1 });
    expect(await taken(2, webhooks, 2)).to.deep.equal({ count: 2, wait: 0 });
    expect(limited(search)).to.equal(search);
    now += MINUTE;
    expect(await taken(2 * MAX_CHANGES, rules, 1)).to.deep.include({ count: MAX_CHANGES });
  });
});
