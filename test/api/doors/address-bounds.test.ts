import { expect } from 'chai';
import { AddressBounds, addressOf } from '../../../api/doors/address-bounds.ts';
import { dropsOf } from '../../../api/doors/udp-drops.ts';

describe('bounds of an address', () => {
  it('are of connections, in all and of one', () => {
    const bounds = new AddressBounds({ maxConnections: 3, maxOfAddress: 2 });
    expect([bounds.enter('a'), bounds.enter('a'), bounds.enter('a')]).to.deep.equal([null, null, 'address']);
    expect([bounds.enter('b'), bounds.enter('c')]).to.deep.equal([null, 'connections']);
    bounds.leave('a');
    expect([bounds.enter('a'), bounds.connections]).to.deep.equal([null, 3]);
  });

  it('are of handshakes in a second, and of those that are under way', () => {
    let now = 0;
    const bounds = new AddressBounds({ maxConnections: 1, maxOfAddress: 1, now: () => now });
    const begun = (address: (index: number) => string): number => {
      let count = 0;
      while (count < 1000 && bounds.beginHandshake(address(count))) count += 1;
      return count;
    };
    expect(begun(() => 'a')).to.equal(20);
    expect(begun((index) => `b${String(index)}`)).to.equal(44);
    for (let i = 0; i < 64; i++) bounds.endHandshake();
    const quick = (): boolean => {
      const may = bounds.beginHandshake(`c${String(Math.random())}`);
      if (may) bounds.endHandshake();
      return may;
    };
    let count = 0;
    while (quick()) count += 1;
    expect(count).to.equal(200 - 64);
    now = 1000;
    expect(quick()).to.equal(true);
  });

  it('take the 64 bits of a network of IPv6 for one address', () => {
    expect(addressOf('::ffff:10.1.2.3')).to.equal('10.1.2.3');
    expect(addressOf('10.1.2.3')).to.equal('10.1.2.3');
    expect(addressOf('2001:db8:1:2:3:4:5:6')).to.equal('2001:db8:1:2::/64');
    expect(addressOf('2001:db8:1:2::9')).to.equal('2001:db8:1:2::/64');
    expect(addressOf('::1')).to.equal('0:0:0:0::/64');
    expect(addressOf()).to.equal('');
  });

  it("reads what the system dropped from Linux' table", () => {
    const table = `  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode ref pointer drops
 2034: 0100007F:1592 00000000:0000 07 00000000:00000000 00:00000000 00000000     0        0 84510 2 0000000000000000 17
 2035: 0100007F:1593 00000000:0000 07 00000000:00000000 00:00000000 00000000     0        0 84511 2 0000000000000000 5
`;
    expect([dropsOf(table, 0x1592), dropsOf(table, 0x1593), dropsOf(table, 80)]).to.deep.equal([17, 5, 0]);
  });
});
