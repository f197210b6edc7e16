import { expect } from 'chai';
import { Seats, type Seat } from '../../../api/doors/seats.ts';

describe('places of connections at a door', () => {
  let seats: Seats;
  let gone: string[];
  beforeEach(() => {
    seats = new Seats({ maxConnections: 4, maxOfAddress: 2, maxOfTenant: 2 });
    gone = [];
  });
  const enter = (address: string, name = address): Seat => {
    const seat = seats.enter(address, () => gone.push(name));
    if (typeof seat === 'string') throw new Error(seat);
    return seat;
  };

  it('are so many of an address', () => {
    const [first] = [enter('a'), enter('a')];
    expect(() => enter('a')).to.throw('address');
    first.leave();
    first.leave();
    enter('a');
    expect(seats.taken).to.equal(2);
  });

  it('are so many of a tenant, whose key came first', () => {
    const [one, two, three] = [enter('a'), enter('b'), enter('c')];
    expect([one.claim(7), two.claim(7), three.claim(7)]).to.deep.equal([true, true, false]);
    expect(three.tenantId).to.equal(null);
    expect(three.claim(8)).to.equal(true);
    expect(three.claim(7), 'it stays so').to.equal(true);
    expect(three.tenantId).to.equal(8);
    one.leave();
    expect(enter('d').claim(7)).to.equal(true);
  });

  it('are given up by the oldest that is nobody’s yet, and by no other', () => {
    enter('a', 'claimed').claim(1);
    enter('b', 'old');
    enter('c', 'young');
    enter('d', 'other').claim(2);
    enter('e', 'new');
    expect(gone).to.deep.equal(['old']);
    for (const address of ['f', 'g']) enter(address).claim(3);
    expect(gone).to.deep.equal(['old', 'young', 'new']);
  });

  it('are refused where all are claimed', () => {
    for (const address of ['a', 'b', 'c', 'd']) enter(address).claim(address.charCodeAt(0));
    expect(() => enter('e')).to.throw('connections');
    expect([gone, seats.taken]).to.deep.equal([[], 4]);
  });
});
