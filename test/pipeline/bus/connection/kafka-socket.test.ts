import { expect } from 'chai';
import { once } from 'node:events';
import net from 'node:net';
import type { ConnectionOptions } from 'node:tls';
import { socketFactory } from '../../../../pipeline/bus/connection/kafka-socket.ts';

/** What kafkajs gives where its client has no `ssl`. */
const PLAIN = null as unknown as ConnectionOptions;

/** A response: its size, the number of its request, and this text. */
function response(text: string): Buffer {
  const bytes = Buffer.alloc(8 + Buffer.byteLength(text));
  bytes.writeInt32BE(bytes.length - 4, 0);
  bytes.write(text, 8);
  return bytes;
}

describe('socket to Kafka', () => {
  const opened: { close(): unknown }[] = [];

  /** A server that answers what `answer` says; and a socket to it that may be silent for so long. */
  async function connect(answer: (bytes: Buffer) => Buffer | string, silenceMs = 60, firstSilenceMs = silenceMs): Promise<net.Socket> {
    const server = net.createServer((socket) => {
      socket.on('error', () => undefined);
      socket.on('data', (bytes: Buffer) => void socket.write(answer(bytes)));
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as net.AddressInfo;
    const socket = socketFactory(silenceMs, 5, firstSilenceMs)({ host: '127.0.0.1', port, ssl: PLAIN, onConnect: () => undefined });
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

  it('ends where an answer came just before the question, and nothing comes after it', async () => {
    let isSilent = false;
    const socket = await connect(() => (isSilent ? '' : response('answer')));
    socket.on('data', () => {
      isSilent = true;
      socket.write('question');
    });
    socket.write('question');
    await once(socket, 'error');
    expect(socket.destroyed).to.equal(true);
  });

  it('ends sooner where nothing has ever come', async () => {
    let isSilent = false;
    const first = 1000;
    const spoke = await connect(() => (isSilent ? '' : response('versions')), 600_000, first);
    spoke.write('question');
    spoke.resume();
    while (spoke.bytesRead === 0) await looks(1);
    isSilent = true;
    spoke.write('question');
    const never = await connect(() => '', 600_000, first);
    never.write('question');
    await new Promise<void>((resolve) => never.once('error', () => resolve()));
    await looks(30);
    expect([never.destroyed, spoke.destroyed]).to.deep.equal([true, false]);
  });

  it('stays where nothing is asked, and where answers come', async () => {
    const [idle, busy, silent] = [
      await connect(() => '', 1000),
      await connect(() => response('answer'), 1000),
      await connect(() => '', 1000),
    ];
    for (const socket of [idle, busy]) socket.on('error', () => undefined);
    const asking = setInterval(() => busy.write('question'), 10);
    busy.resume();
    silent.write('question');
    await new Promise<void>((resolve) => silent.once('error', () => resolve()));
    await looks(30);
    clearInterval(asking);
    expect([idle.destroyed, busy.destroyed]).to.deep.equal([false, false]);
  });

  it('gives responses whole, however they come', async () => {
    const sent = [response('a'), response('b'.repeat(3_000_000)), response('')];
    const socket = await connect(() => Buffer.concat(sent), 60_000);
    const got: Buffer[] = [];
    const all = new Promise<void>((resolve) => socket.on('data', (bytes: Buffer) => got.push(bytes) === sent.length && resolve()));
    socket.write('question');
    await all;
    expect(got.every((bytes, index) => bytes.equals(sent[index] as Buffer))).to.equal(true);
  });

  it('says when the other side has ended it, after what came before', async () => {
    const server = net.createServer((socket) => socket.on('error', () => undefined).end(response('last')));
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    opened.push({ close: () => server.close() });
    const { port } = server.address() as net.AddressInfo;
    const socket = socketFactory()({ host: '127.0.0.1', port, ssl: PLAIN, onConnect: () => undefined });
    const got: string[] = [];
    socket.on('data', (bytes: Buffer) => got.push(bytes.toString('utf8', 8)));
    await once(socket, 'end');
    expect(got).to.deep.equal(['last']);
  });

  it('ends where something else than Kafka answers', async () => {
    const socket = await connect(() => 'HTTP/1.1 400 Bad Request', 60_000);
    socket.resume();
    socket.write('question');
    const [error] = (await once(socket, 'error')) as [Error];
    expect(error.message).to.equal('The server does not speak the protocol of Kafka.');
  });
});
