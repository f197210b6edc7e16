import { expect } from 'chai';
import { AtOnce } from '../../../api/ai/at-once.ts';
import { HttpError } from '../../../pipeline/core/errors.ts';

describe('AI requests at once', () => {
  it('are two of a tenant, and 32 of all', () => {
    const places = new AtOnce();
    const free = places.enter(1);
    places.enter(1);
    expect(() => places.enter(1))
      .to.throw(HttpError, 'The tenant has 2 AI requests open')
      .with.property('status', 429);
    for (let tenant = 2; tenant <= 16; tenant += 1) for (const _ of [1, 2]) places.enter(tenant);
    expect(() => places.enter(17))
      .to.throw(HttpError, 'Too many AI requests are open on this node')
      .with.property('status', 429);
    free();
    free();
    places.enter(17);
    expect(() => places.enter(18)).to.throw('Too many');
  });
});
