import { expect } from 'chai';
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { setImmediate as turn } from 'node:timers/promises';
import type { SyslogTcpDoor } from '../../../api/doors/doors-file.ts';
import { FrameBudget } from '../../../api/doors/frame-budget.ts';
import { SyslogTcpListener } from '../../../api/doors/syslog-tcp-door.ts';
import { doorWorld, type DoorWorld } from '../../fakes/door-world.ts';
import { eventually } from '../../fakes/eventually.ts';

const shared: SyslogTcpDoor = {
  ...{ name: 'servers', kind: 'syslog_tcp', host: '127.0.0.1', port: 0, key: null, parameters: {} },
  ...{ tls: null, clients: [], maxConnections: 4, maxConnectionsOfAddress: 4, maxConnectionsOfTenant: 2, hasKeyInData: true },
};
const MIB = 1024 * 1024;
const frame = (key: string, text: string): string => `<13>1 - h a - - [logweir@32473 key="${key}"] ${text}\n`;

describe('many connections at the door of syslog over TCP', () => {
  let world: DoorWorld;
  let door: SyslogTcpListener;
  const sockets: Socket[] = [];
  const open = async (change: Partial<SyslogTcpDoor> = {}, frames = new FrameBudget()): Promise<void> => {
    world = doorWorld();
    door = new SyslogTcpListener({ ...world.context, door: { ...shared, ...change }, tls: null, frames });
    await door.start();
  };
  const dial = async (localAddress = '127.0.0.1'): Promise<Socket> => {
    const socket = connect({ port: door.port, host: '127.0.0.1', localAddress });
    sockets.push(socket);
    socket.on('error', () => undefined).resume();
    await once(socket, 'connect');
    return socket;
  };
  const messages = (count: number): Promise<string[]> => eventually('the messages', world.published, (all) => all.length >= count);
  const refused = (reason: string): Promise<number> => world.figure('logweir_door_refused_connections_total', { reason });
  afterEach(async () => {
    for (const socket of sockets.splice(0)) socket.destroy();
    await door.stop();
  });

  it('of a tenant are no more than it may have; what came is taken, and it is shown', async () => {
    await open();
    const mine: Socket[] = [];
    for (let index = 0; index < 3; index++) {
      const socket = await dial();
      mine.push(socket);
      socket.write(frame('one', String(index)));
      await messages(index + 1);
    }
    await once(mine[2] as Socket, 'close');
    expect(await refused('tenant')).to.equal(1);
    expect(world.rejections.of(1)[0]).to.include({ status: 429, path: 'syslog_tcp:servers', client: '127.0.0.1' });
    (await dial()).write(frame('two', 'of another'));
    mine[0]?.write(frame('one', 'goes on'));
    expect((await messages(5)).sort()).to.deep.equal(['1 0', '1 1', '1 2', '1 goes on', '2 of another']);
  });

  it('of a door with one key are all its tenant’s from the beginning', async () => {
    await open({ key: 'one', hasKeyInData: false });
    await dial();
    await dial();
    await once(await dial(), 'close');
    expect(await refused('tenant')).to.equal(1);
  });

  it('without a key cannot keep out one that has a key', async () => {
    await open();
    const tenant = await dial('127.0.0.2');
    tenant.write(frame('two', 'first'));
    await messages(1);
    const idle = [await dial(), await dial(), await dial()];
    const [oldest] = idle;
    const late = await dial('127.0.0.3');
    await once(oldest as Socket, 'close');
    late.write(frame('one', 'late'));
    tenant.write(frame('two', 'goes on'));
    expect((await messages(3)).sort()).to.deep.equal(['1 late', '2 first', '2 goes on']);
    expect(await refused('unclaimed')).to.equal(1);
    expect(await world.figure('logweir_door_connections')).to.equal(4);
  });

  it('with frames that do not end have no more memory than their part, and another tenant goes on', async () => {
    await open({ maxConnections: 100, maxConnectionsOfAddress: 100, maxConnectionsOfTenant: 100 }, new FrameBudget(2 * MIB));
    const slow = await Promise.all(Array.from({ length: 20 }, () => dial()));
    for (const socket of slow) socket.write(`<13>${'x'.repeat(60_000)}`);
    while ((await refused('budget')) < 12) await turn();
    (await dial('127.0.0.2')).write(frame('two', 'a quiet one'));
    expect((await messages(1))[0]).to.equal('2 a quiet one');
  });

  it('whose frames wait for the log are read no further, and then all of them are taken once', async () => {
    const frames = new FrameBudget(MIB);
    await open({ key: 'one', hasKeyInData: false, maxConnections: 20, maxConnectionsOfAddress: 20, maxConnectionsOfTenant: 20 }, frames);
    world.publisher.full = true;
    const each = 300;
    const senders = await Promise.all(Array.from({ length: 12 }, () => dial()));
    for (const [index, socket] of senders.entries())
      for (let line = 0; line < each; line++) socket.write(`<13>${String(index)} ${String(line)} ${'x'.repeat(2000)}\n`);
    await eventually(
      'a refusal',
      () => world.rejections.of(1).length,
      (count) => count > 0,
    );
    let most = 0;
    await eventually(
      'the budget is full',
      () => (most = Math.max(most, frames.bytes)),
      (bytes) => bytes > MIB / 4,
    );
    expect(most, 'a quarter, and what is read at once').to.be.below(MIB / 2);
    world.publisher.full = false;
    const all = await messages(12 * each);
    expect(new Set(all.map((text) => text.split(' ').slice(0, 3).join(' '))).size).to.equal(12 * each);
    expect(all).to.have.length(12 * each);
    expect(frames.bytes).to.equal(0);
  });
});
