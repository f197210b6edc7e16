import { expect } from 'chai';
import { BodiesInFlight } from '../../../api/limits/bodies-in-flight.ts';
import { HttpError } from '../../../pipeline/core/errors.ts';

describe('bodies in flight', () => {
  it('refuses what has no room, until others have left', () => {
    const bodies = new BodiesInFlight(100);
    const leave = bodies.enter(60);
    bodies.enter(40);
    expect(() => bodies.enter(1))
      .to.throw(HttpError)
      .with.property('slug', 'backpressure');
    leave();
    bodies.enter(60);
    expect(() => bodies.enter(1)).to.throw(HttpError);
  });

  it('one body may always come, however large', () => {
    const bodies = new BodiesInFlight(100);
    const leave = bodies.enter(1000);
    expect(() => bodies.enter(1)).to.throw(HttpError);
    leave();
    bodies.enter(1);
  });
});
