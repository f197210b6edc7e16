import { expect } from 'chai';
import { EventEmitter } from 'node:events';
import type { Socket } from 'node:net';
import { setImmediate as turn } from 'node:timers/promises';
import { FrameBudget } from '../../../api/doors/frame-budget.ts';
import { Seats, type Seat } from '../../../api/doors/seats.ts';
import { SyslogConnection } from '../../../api/doors/syslog-connection.ts';
import type { SyslogIntake } from '../../../api/doors/syslog-intake.ts';
import { LoopTurns } from '../../../api/http/loop-turns.ts';

/** A socket that is read or not. */
class FakeSocket extends EventEmitter {
  readonly remoteAddress: string;
  isRead = true;
  constructor(remoteAddress: string) {
    super();
    this.remoteAddress = remoteAddress;
  }
  pause(): void {
    this.isRead = false;
  }
  resume(): void {
    this.isRead = true;
  }
}

describe('connections of syslog that send much at once', () => {
  it('are read one after the other where nobody knows whose they are, from whichever address; those of tenants are not among them', async () => {
    const seats = new Seats({ maxConnections: 100, maxOfAddress: 100, maxOfTenant: 100 });
    const shared = { key: null, budget: new FrameBudget(), turns: new LoopTurns<string>(), onClosed: () => undefined };
    const open = (address: string, tenantId: number | null): FakeSocket => {
      const socket = new FakeSocket(address);
      const seat = seats.enter(address, () => undefined) as Seat;
      if (tenantId !== null) seat.claim(tenantId);
      void new SyslogConnection(socket as unknown as Socket, { ...shared, seat, intake: {} as SyslogIntake });
      return socket;
    };
    const nobody = Array.from({ length: 40 }, (_none, index) => open(`10.0.0.${String(index)}`, null));
    const own = open('10.0.1.1', 7);
    // a frame that is not whole
    const chunk = Buffer.alloc(32_768, 'x');
    for (const socket of [...nobody, own]) socket.emit('data', chunk);
    expect([...nobody, own].some(({ isRead }) => isRead)).to.equal(false);
    const read = (): number => nobody.filter(({ isRead }) => isRead).length;
    for (let n = 0; !own.isRead; n++) {
      expect(n, 'iterations').to.be.below(4);
      await turn();
    }
    expect(read()).to.be.below(8);
    for (let before = read(); before < nobody.length; before = read()) {
      await turn();
      expect(read() - before, 'in an iteration').to.be.below(4);
    }
  });
});
