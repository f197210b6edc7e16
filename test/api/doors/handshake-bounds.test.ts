import { expect } from 'chai';
import { addressOf } from '../../../api/doors/address.ts';
import { HandshakeBounds } from '../../../api/doors/handshake-bounds.ts';
import { dropsOf } from '../../../api/doors/udp-drops.ts';

describe('bounds of handshakes', () => {
  let now = 0;
  let bounds: HandshakeBounds;
  beforeEach(() => {
    now = 0;
    bounds = new HandshakeBounds(() => now);
  });
  /** How many may begin, by address; those of `isQuick` end at once. */
  const begun = (address: (index: number) => string, isQuick = false): number => {
    let count = 0;
    for (; count < 1000 && bounds.begin(address(count)); count++) if (isQuick) bounds.end(address(count));
    return count;
  };

  it('are of an address, at once and in a second', () => {
    expect(begun(() => 'slow')).to.equal(16);
    bounds.end('slow');
    expect(
      begun(() => 'slow'),
      'one has ended',
    ).to.equal(1);
    expect(begun(() => 'quick', true)).to.equal(20);
    now = 1000;
    expect(begun(() => 'slow')).to.equal(0);
    expect(begun(() => 'quick', true)).to.equal(20);
  });

  it('are of all, at once and in a second', () => {
    expect(begun((index) => `a${String(index)}`)).to.equal(200);
    now = 1000;
    expect(begun((index) => `b${String(index)}`)).to.equal(56);
    for (let index = 0; index < 200; index++) bounds.end(`a${String(index)}`);
    expect(begun((index) => `c${String(index)}`, true)).to.equal(144);
  });
});

describe('what is known of an address', () => {
  it('the 64 bits of a network of IPv6 are one', () => {
    expect(addressOf('::ffff:10.1.2.3')).to.equal('10.1.2.3');
    expect(addressOf('10.1.2.3')).to.equal('10.1.2.3');
    expect(addressOf('2001:db8:1:2:3:4:5:6')).to.equal('2001:db8:1:2::/64');
    expect(addressOf('2001:db8:1:2::9')).to.equal('2001:db8:1:2::/64');
    expect(addressOf('::1')).to.equal('0:0:0:0::/64');
    expect(addressOf()).to.equal('');
  });

  it("what the system dropped, from Linux' table", () => {
    const table = `  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode ref pointer drops
 2034: 0100007F:1592 00000000:0000 07 00000000:00000000 00:00000000 00000000     0        0 84510 2 0000000000000000 17
 2035: 0100007F:1593 00000000:0000 07 00000000:00000000 00:00000000 00000000     0        0 84511 2 0000000000000000 5
`;
    expect([dropsOf(table, 0x1592), dropsOf(table, 0x1593), dropsOf(table, 80)]).to.deep.equal([17, 5, 0]);
  });
});
