import { expect } from 'chai';
import { RefusalPace } from '../../../api/http/refusal-pace.ts';

describe('the pace of refusals', () => {
  it('is none for a tenant that is refused now and then', () => {
    const pace = new RefusalPace();
    for (let second = 0; second < 100; second++) for (let times = 0; times < 20; times++) expect(pace.waitMs(1, second * 1000)).to.equal(0);
  });

  it('slows down one that asks again and again, and no other', () => {
    const pace = new RefusalPace();
    const waits = Array.from({ length: 60 }, () => pace.waitMs(1, 0));
    expect(waits.filter((ms) => ms === 0)).to.have.length(40);
    expect(waits.at(-1)).to.equal(500);
    expect(pace.waitMs(2, 0)).to.equal(0);
    expect(pace.waitMs(1, 50)).to.equal(0);
    expect(pace.waitMs(1, 50)).to.equal(500);
  });
});
