import { expect } from 'chai';
import { once } from 'node:events';
import net from 'node:net';
import { socketFactory } from '../../../pipeline/bus/kafka-socket.ts';

describe('socket to Kafka', () => {
  const opened: { close(): unknown }[] = [];

  /** A server that answers what `answer` says; and a socket to it that may be silent for 60 ms. */
  async function connect(answer: (bytes: Buffer) => string): Promise<net.Socket> {
    const server = net.createServer((socket) => {
      socket.on('error', () => undefined);
      socket.on('data', (bytes) => void socket.write(answer(bytes)));
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as net.AddressInfo;
    const socket = socketFactory(60, 5)({ host: '127.0.0.1', port, ssl: {}, onConnect: () => undefined });
    opened.push({ close: () => server.close() }, { close: () => socket.destroy() });
    await once(socket, 'connect');
    return socket;
  }

  /** Resolves after so many looks at the connection. */
  const looks = async (count: number): Promise<void> => {
    for (let i = 0; i < count; i++) await new Promise((resolve) => setTimeout(resolve, 5));
  };

  afterEach(() => {
    for (const one of opened.splice(0)) one.close();
  });

  it('ends where something was written and nothing comes', async () => {
    const socket = await connect(() => '');
    socket.write('question');
    // asking again and again is no sign of life
    const again = setInterval(() => socket.write('question'), 10);
    const [error] = (await once(socket, 'error')) as [Error];
    clearInterval(again);
    expect(error.message).to.match(/^Kafka has not answered on a connection for \d+ s\.$/);
    expect(socket.destroyed).to.equal(true);
  });

  it('stays where nothing is asked, and where answers come', async () => {
    const [idle, busy] = [await connect(() => ''), await connect(() => 'answer')];
    for (const socket of [idle, busy]) socket.on('error', () => undefined);
    const asking = setInterval(() => busy.write('question'), 10);
    busy.resume();
    await looks(60);
    clearInterval(asking);
    expect([idle.destroyed, busy.destroyed]).to.deep.equal([false, false]);
  });
});
