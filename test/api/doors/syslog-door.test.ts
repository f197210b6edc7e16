import { expect } from 'chai';
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { setImmediate as turn } from 'node:timers/promises';
import { HttpError } from '../../../pipeline/core/errors.ts';
import type { SyslogTcpDoor, SyslogUdpDoor } from '../../../api/doors/doors-file.ts';
import { SyslogTcpListener } from '../../../api/doors/syslog-tcp-door.ts';
import { SyslogUdpListener } from '../../../api/doors/syslog-udp-door.ts';
import { doorWorld, type DoorWorld } from '../../fakes/door-world.ts';
import { eventually } from '../../fakes/eventually.ts';

const tcp: SyslogTcpDoor = {
  ...{ name: 'servers', kind: 'syslog_tcp', host: '127.0.0.1', port: 0, key: 'one', parameters: {} },
  ...{ tls: null, clients: [], maxConnections: 10, maxConnectionsOfAddress: 3, maxConnectionsOfTenant: 10, hasKeyInData: false },
};

describe('the door of syslog over TCP', () => {
  let world: DoorWorld;
  let door: SyslogTcpListener;
  const sockets: Socket[] = [];
  const open = async (
    change: Partial<SyslogTcpDoor> = {},
    more: { readonly frameMs?: number; readonly limits?: Parameters<typeof doorWorld>[0] } = {},
  ) => {
    const { limits, ...options } = more;
    world = doorWorld(limits);
    door = new SyslogTcpListener({ ...world.context, door: { ...tcp, ...change }, tls: null, ...options });
    await door.start();
  };
  const dial = async (): Promise<Socket> => {
    const socket = connect(door.port, '127.0.0.1');
    sockets.push(socket);
    socket.on('error', () => undefined).resume();
    await once(socket, 'connect');
    return socket;
  };
  const messages = (count: number): Promise<string[]> => eventually('the messages', world.published, (all) => all.length >= count);
  afterEach(async () => {
    for (const socket of sockets.splice(0)) socket.destroy();
    await door.stop();
  });

  it('takes frames of both forms as entries of the tenant of its key', async () => {
    await open();
    const socket = await dial();
    socket.write('9 <13>one\n1<14>two\n');
    expect(await messages(2)).to.deep.equal(['1 one\n1', '1 two']);
    expect(world.publisher.written[0]?.entries[0]?.get('level')).to.equal('notice');
    socket.end('<13>three, without a line feed');
    expect((await messages(3))[2]).to.equal('1 three, without a line feed');
  });

  it('has keys in structured data, each of its tenant, which are not stored', async () => {
    await open({ hasKeyInData: true, key: null });
    const socket = await dial();
    const frame = (key: string, text: string): string => `<13>1 - h a - - [logweir@32473 key="${key}"] ${text}\n`;
    socket.write(frame('one', 'first') + frame('two', 'second') + frame('one', 'third'));
    expect((await messages(3)).sort()).to.deep.equal(['1 first', '1 third', '2 second']);
    expect(JSON.stringify(world.publisher.written.flatMap(({ entries }) => entries.map((entry) => [...entry])))).to.not.include('logweir');
    socket.write(frame('reader', 'forbidden'));
    await once(socket, 'close');
    expect(await world.figure('logweir_door_lost_total', { reason: 'key' })).to.equal(1);
    expect(world.rejections.of(3)).to.have.length(1);
    expect(world.published()).to.have.length(3);
  });

  it('closes a connection whose key is not accepted any more', async () => {
    await open();
    const socket = await dial();
    world.keys.keys.delete('one');
    socket.write('<13>late\n');
    await once(socket, 'close');
    expect(await world.figure('logweir_door_refused_connections_total', { reason: 'key' })).to.equal(1);
    expect(world.published()).to.deep.equal([]);
  });

  it('reads no further while its tenant is refused for a while, and then takes all once', async () => {
    let refusals = 0;
    const limit = {
      name: 'one second',
      admit: () => {
        refusals += 1;
        if (refusals === 1) throw new HttpError(429, 'rate_limited', 'Later.', { retryAfter: 1 });
      },
    };
    await open({}, { limits: [limit] });
    const socket = await dial();
    const line = `<13>${'x'.repeat(1000)}`;
    const lines = 4000;
    for (let i = 0; i < lines; i++) socket.write(`${line}${String(i)}\n`);
    await eventually(
      'a refusal',
      () => refusals,
      (count) => count > 0,
    );
    expect(world.published()).to.deep.equal([]);
    expect(world.rejections.of(1)[0]).to.include({ status: 429, path: 'syslog_tcp:servers' });
    const all = await messages(lines);
    expect(all.map((text) => Number(text.slice(1002)))).to.deep.equal(Array.from({ length: lines }, (_, index) => index));
  });

  it('gives up a frame whose count lies once it was waited for, and keeps what came', async () => {
    await open({}, { frameMs: 50 });
    const socket = await dial();
    socket.write('<13>good\n60000 <13>liar\n<13>other\n');
    await once(socket, 'close');
    expect(await messages(3)).to.deep.equal(['1 good', '1 liar', '1 other']);
    expect(await world.figure('logweir_door_refused_connections_total', { reason: 'slow' })).to.equal(1);
  });

  it('passes over a frame that is too long, and shows it', async () => {
    await open();
    const socket = await dial();
    socket.write(`<13>before\n<13>${'x'.repeat(200_000)}\n<13>after\n`);
    expect(await messages(2)).to.deep.equal(['1 before', '1 after']);
    expect(world.rejections.of(1)[0]?.reason).to.equal('A frame has more than 65536 bytes.');
    expect(await world.figure('logweir_door_lost_total', { reason: 'length' })).to.equal(1);
  });

  it('has no more connections of an address than it may', async () => {
    await open();
    for (let i = 0; i < 3; i++) await dial();
    const fourth = await dial();
    await once(fourth, 'close');
    expect(await world.figure('logweir_door_refused_connections_total', { reason: 'address' })).to.equal(1);
    expect(await world.figure('logweir_door_connections')).to.equal(3);
  });

  it('takes what has come as it stops', async () => {
    await open();
    const socket = await dial();
    socket.write('<13>last\n<13>and a half');
    await eventually(
      'the connection',
      () => socket.bytesWritten,
      (bytes) => bytes > 20,
    );
    await eventually(
      'what was read',
      () => world.published().length + socket.bytesWritten,
      (bytes) => bytes > 20,
    );
    await messages(1);
    await door.stop();
    expect(world.published()).to.deep.equal(['1 last', '1 and a half']);
  });
});

describe('the door of syslog over UDP', () => {
  const udp: SyslogUdpDoor = {
    name: 'routers',
    kind: 'syslog_udp',
    host: '127.0.0.1',
    port: 0,
    key: 'one',
    parameters: {},
    hasKeyInData: false,
  };
  let world: DoorWorld;
  let door: SyslogUdpListener;
  const client = createSocket('udp4');
  const open = async (change: Partial<SyslogUdpDoor> = {}): Promise<void> => {
    world = doorWorld();
    door = new SyslogUdpListener({ ...world.context, door: { ...udp, ...change }, everyMs: 20 });
    await door.start();
  };
  const send = (text: string): Promise<void> =>
    new Promise((resolve, reject) => client.send(text, door.port, '127.0.0.1', (error) => (error === null ? resolve() : reject(error))));
  afterEach(() => door.stop());
  after(() => client.close());

  it('takes each datagram as a frame, whatever line feeds it has', async () => {
    await open();
    for (const text of ['<13>one\n', '<14>two\nlines', 'plain', '']) await send(text);
    const all = await eventually('the messages', world.published, ({ length }) => length === 3);
    expect(all).to.deep.equal(['1 one', '1 two\nlines', '1 plain']);
  });

  it('has keys in structured data', async () => {
    await open({ hasKeyInData: true });
    await send('<13>1 - h a - - [logweir@1 key="two"] of two\nin two lines');
    await send('<13>1 - h a - - - of the door');
    const all = await eventually('the messages', world.published, ({ length }) => length === 2);
    expect([...all].sort()).to.deep.equal(['1 of the door', '2 of two\nin two lines']);
  });

  it('counts what it loses, and shows its tenant', async () => {
    await open();
    world.publisher.full = true;
    const datagram = `<13>${'x'.repeat(60_000)}`;
    let sent = 0;
    const lost = (): Promise<number> => world.figure('logweir_door_lost_total');
    while ((await lost()) === 0 && sent < 2000) {
      await send(datagram);
      await turn();
      sent += 1;
    }
    expect(await lost()).to.be.above(0);
    const shown = await eventually(
      'the rejection',
      () => world.rejections.of(1).find(({ reason }) => reason.startsWith('Datagrams were lost')),
      (one) => one !== undefined,
    );
    expect(shown).to.include({ status: 429, path: 'syslog_udp:routers', format: 'syslog' });
    expect(shown?.count).to.be.above(0);
    const counted = world.refused(1).find(({ error }) => error === 'backpressure');
    expect(counted?.entries).to.be.above(0);
  });

  it('counts what the system drops before it is read, and shows its tenant', async () => {
    await open();
    const sender = createSocket('udp4');
    await new Promise<void>((resolve) => sender.connect(door.port, '127.0.0.1', resolve));
    const sent = 2000;
    const datagram = `<13>${'x'.repeat(32_000)}`;
    // at once, so that the door reads nothing meanwhile: more than the system holds for a socket, whatever it allows
    await Promise.all(
      Array.from(
        { length: sent },
        () => new Promise<void>((resolve, reject) => sender.send(datagram, (error) => (error === null ? resolve() : reject(error)))),
      ),
    );
    sender.close();
    const dropped = (): Promise<number> => world.figure('logweir_door_lost_total', { reason: 'kernel' });
    const full = (): Promise<number> => world.figure('logweir_door_lost_total', { reason: 'queue' });
    while ((await dropped()) + (await full()) + world.published().length < sent) await turn();
    expect(await dropped()).to.be.above(0);
    expect((await dropped()) + (await full()) + world.published().length, 'each is counted once').to.equal(sent);
    const shown = await eventually(
      'the rejection',
      () => world.rejections.of(1).filter(({ reason }) => reason.includes('the system dropped them')),
      (all) => all.length > 0,
    );
    expect(shown[0]).to.include({ status: 429, path: 'syslog_udp:routers', format: 'syslog' });
    expect(shown.reduce((sum, { count = 0 }) => sum + count, 0)).to.equal(await dropped());
  });
});
