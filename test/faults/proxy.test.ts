import { expect } from 'chai';
import { once } from 'node:events';
import http from 'node:http';
import net from 'node:net';
import { isInsert, isInsertInto, isProduce, startProxy, type Proxy } from './proxy.ts';
import type { Protocol } from './proxy-rules.ts';

/** A server that notes what it gets; `answer` says what to send back for the bytes of a connection so far. */
type Server = { readonly port: number; readonly got: string[]; readonly ended: string[]; close(): void };

const opened: { close(): unknown }[] = [];

async function echo(): Promise<Server> {
  const [got, ended]: [string[], string[]] = [[], []];
  const sockets = new Set<net.Socket>();
  const server = net.createServer((socket) => {
    const own = got.push('') - 1;
    sockets.add(socket);
    socket.on('data', (bytes: Buffer) => {
      got[own] = (got[own] ?? '') + bytes.toString('latin1');
      socket.write(bytes);
    });
    socket.on('end', () => ended.push('end'));
    socket.on('error', () => ended.push('error'));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const close = (): void => {
    server.close();
    for (const socket of sockets) socket.destroy();
  };
  const made = { port: (server.address() as net.AddressInfo).port, got, ended, close };
  opened.push(made);
  return made;
}

/** Answers each Kafka frame with one of the same correlation id whose body is `ok`. */
async function kafkaLike(): Promise<Server> {
  const [got, ended]: [string[], string[]] = [[], []];
  const server = net.createServer((socket) => {
    let held = Buffer.alloc(0);
    socket.on('error', () => ended.push('error'));
    socket.on('end', () => ended.push('end'));
    socket.on('data', (bytes: Buffer) => {
      held = Buffer.concat([held, bytes]);
      while (held.length >= 4 && held.length >= 4 + held.readInt32BE(0)) {
        const size = 4 + held.readInt32BE(0);
        got.push(`${held.readInt16BE(4)}:${held.readInt32BE(8)}`);
        const answer = Buffer.alloc(10);
        answer.writeInt32BE(6, 0);
        answer.writeInt32BE(held.readInt32BE(8), 4);
        answer.write('ok', 8);
        socket.write(answer);
        held = held.subarray(size);
      }
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const made = { port: (server.address() as net.AddressInfo).port, got, ended, close: () => void server.close() };
  opened.push(made);
  return made;
}

function kafkaRequest(apiKey: number, id: number, body = 'body'): Buffer {
  const frame = Buffer.alloc(12 + body.length);
  frame.writeInt32BE(frame.length - 4, 0);
  frame.writeInt16BE(apiKey, 4);
  frame.writeInt32BE(id, 8);
  frame.write(body, 12);
  return frame;
}

async function proxyTo(port: number, protocol: Protocol = 'raw'): Promise<Proxy> {
  const proxy = await startProxy({ target: { host: '127.0.0.1', port }, protocol });
  opened.push(proxy);
  return proxy;
}

/** A client that collects what it gets. */
async function connect(port: number): Promise<{ socket: net.Socket; text: () => string; closed: Promise<unknown> }> {
  const socket = net.connect(port, '127.0.0.1');
  let text = '';
  socket.on('data', (bytes: Buffer) => (text += bytes.toString('latin1')));
  socket.on('error', () => undefined);
  const closed = new Promise((resolve) => socket.once('close', resolve));
  await new Promise((resolve, reject) => {
    socket.once('connect', resolve);
    socket.once('error', reject);
  });
  opened.push({ close: () => socket.destroy() });
  return { socket, text: () => text, closed };
}

async function until(holds: () => boolean): Promise<void> {
  const deadline = Date.now() + 45_000;
  while (!holds()) {
    if (Date.now() > deadline) throw new Error(`did not come: ${holds.toString()}`);
    await new Promise((resolve) => setTimeout(resolve, 2));
  }
}

describe('proxy', () => {
  afterEach(async () => {
    await Promise.all(opened.splice(0).map((one) => one.close()));
  });

  describe('of a line', () => {
    it('passes bytes and ends both ways', async () => {
      const server = await echo();
      const proxy = await proxyTo(server.port);
      const { socket, text, closed } = await connect(proxy.port);
      const long = 'x'.repeat(300_000);
      socket.write(long);
      await until(() => text().length === long.length);
      expect(text()).to.equal(long);
      socket.end();
      await closed;
      await until(() => server.ended.length === 1 && proxy.open === 0);
      expect(server.ended).to.deep.equal(['end']);
      expect(proxy.counts).to.include({ connections: 1, cut: 0, bytes: 600_000 });
    });

    it('cuts every connection, and takes new ones', async () => {
      const server = await echo();
      const proxy = await proxyTo(server.port);
      const two = [await connect(proxy.port), await connect(proxy.port)];
      for (const { socket } of two) socket.write('a');
      await until(() => two.every(({ text }) => text() === 'a'));
      proxy.cut();
      await Promise.all(two.map(({ closed }) => closed));
      expect(proxy.counts.cut).to.equal(2);
      const again = await connect(proxy.port);
      again.socket.write('b');
      await until(() => again.text() === 'b');
    });

    it('refuses new connections, keeps old ones, and takes new ones on the same port when it is over', async () => {
      const server = await echo();
      const proxy = await proxyTo(server.port);
      const old = await connect(proxy.port);
      await proxy.refuse(true);
      const refused = await connect(proxy.port).catch((error: unknown) => (error as NodeJS.ErrnoException).code);
      expect(refused).to.equal('ECONNREFUSED');
      old.socket.write('still');
      await until(() => old.text() === 'still');
      await proxy.refuse(false);
      const young = await connect(proxy.port);
      young.socket.write('here');
      await until(() => young.text() === 'here');
    });

    it('delays by so much, in order', async () => {
      const proxy = await proxyTo((await echo()).port);
      proxy.shape({ delayMs: 60, jitterMs: 40 });
      const { socket, text } = await connect(proxy.port);
      const began = performance.now();
      for (const letter of 'abcdefghij') {
        socket.write(letter);
        await new Promise((resolve) => setImmediate(resolve));
      }
      await until(() => text().length === 10);
      expect(text()).to.equal('abcdefghij');
      expect(performance.now() - began).to.be.greaterThan(40);
    });

    it('passes so many bytes a second', async () => {
      const server = await echo();
      const proxy = await proxyTo(server.port);
      proxy.shape({ bytesPerSecond: 500_000 });
      const { socket } = await connect(proxy.port);
      const began = performance.now();
      socket.write(Buffer.alloc(100_000));
      await until(() => server.got[0]?.length === 100_000);
      expect(performance.now() - began).to.be.at.least(190);
    });

    it('swallows everything in a black hole while connections stay, and cuts those that lost something when it is over', async () => {
      const server = await echo();
      const proxy = await proxyTo(server.port);
      const [idle, busy, dead] = [await connect(proxy.port), await connect(proxy.port), await connect(proxy.port)];
      busy.socket.write('a');
      await until(() => busy.text() === 'a');
      proxy.blackHole(true);
      busy.socket.write('lost');
      dead.socket.end();
      await until(() => proxy.counts.swallowedBytes === 4);
      expect(server.got.join('')).to.equal('a');
      expect(server.ended).to.deep.equal([]);
      proxy.blackHole(false);
      await busy.closed;
      await until(() => proxy.counts.cut === 2);
      idle.socket.write('b');
      await until(() => idle.text() === 'b');
    });

    it('swallows one way only, where it is told so', async () => {
      const server = await echo();
      const proxy = await proxyTo(server.port);
      const { socket, text, closed } = await connect(proxy.port);
      socket.write('a');
      await until(() => text() === 'a');
      proxy.blackHole(true, 'cut', 'down');
      socket.write('bc');
      await until(() => server.got[0] === 'abc' && proxy.counts.swallowedBytes === 2);
      proxy.blackHole(true, 'cut', 'up');
      socket.write('def');
      await until(() => proxy.counts.swallowedBytes === 5);
      expect([server.got[0], text()]).to.deep.equal(['abc', 'a']);
      proxy.blackHole(false);
      await closed;
    });

    it('leaves connections dead that lost something, where it is told so', async () => {
      const server = await echo();
      const proxy = await proxyTo(server.port);
      const [idle, busy] = [await connect(proxy.port), await connect(proxy.port)];
      proxy.blackHole(true);
      busy.socket.write('lost');
      await until(() => proxy.counts.swallowedBytes === 4);
      proxy.blackHole(false, 'dead');
      busy.socket.write('lost too');
      idle.socket.write('a');
      await until(() => idle.text() === 'a' && proxy.counts.swallowedBytes === 12);
      proxy.blackHole(false);
      expect(server.got.join('')).to.equal('a');
      expect(proxy.counts.cut).to.equal(0);
    });

    it('delivers what it held when it is over, even of a sender that is gone', async () => {
      const server = await echo();
      const proxy = await proxyTo(server.port);
      const { socket, closed } = await connect(proxy.port);
      socket.write('early ');
      await until(() => server.got[0] === 'early ');
      proxy.hold(true);
      socket.write('late');
      await until(() => proxy.counts.bytes >= 'early early late'.length);
      socket.destroy();
      await closed;
      expect(server.got).to.deep.equal(['early ']);
      proxy.hold(false);
      await until(() => server.ended.length === 1);
      expect(server.got).to.deep.equal(['early late']);
    });

    it('ends connections while the target is not there', async () => {
      const server = await echo();
      server.close();
      const proxy = await proxyTo(server.port);
      const { closed } = await connect(proxy.port);
      await closed;
      await until(() => proxy.open === 0);
    });
  });

  describe('of Kafka', () => {
    it('drops the answer to the next request that matches, behind the server', async () => {
      const server = await kafkaLike();
      const proxy = await proxyTo(server.port, 'kafka');
      const { socket, text, closed } = await connect(proxy.port);
      const dropped = proxy.dropNextResponse(isProduce);
      const requests = Buffer.concat([kafkaRequest(3, 1), kafkaRequest(0, 2), kafkaRequest(3, 3)]);
      // wherever the bytes are cut
      for (const byte of requests) socket.write(Buffer.from([byte]));
      await closed;
      expect(await dropped).to.equal(true);
      expect(server.got.slice(0, 2)).to.deep.equal(['3:1', '0:2']);
      expect(text()).to.equal('\0\0\0\x06\0\0\0\x01ok');
      expect(proxy.counts).to.include({ droppedResponses: 1, cut: 1 });
      const again = await connect(proxy.port);
      again.socket.write(kafkaRequest(0, 7));
      await until(() => again.text().length === 10);
    });

    it('cuts a request after so many bytes', async () => {
      const server = await echo();
      const proxy = await proxyTo(server.port, 'kafka');
      const { socket, closed } = await connect(proxy.port);
      const cut = proxy.truncateNextRequest(13, isProduce);
      const [short, long] = [kafkaRequest(0, 1, ''), kafkaRequest(0, 2, 'abcdef')];
      socket.write(Buffer.concat([short, long]));
      await closed;
      expect(await cut).to.equal(true);
      await until(() => server.ended.length === 1);
      expect(server.got[0]).to.equal(Buffer.concat([short, long.subarray(0, 13)]).toString('latin1'));
    });

    it('waits for the next one where the connection ended in another way, and no longer than wanted', async () => {
      const server = await echo();
      const proxy = await proxyTo(server.port, 'kafka');
      const giveUp = new AbortController();
      const dropped = proxy.dropNextResponse(isProduce, giveUp.signal);
      const first = await connect(proxy.port);
      proxy.hold(true);
      first.socket.write(kafkaRequest(0, 1));
      await until(() => proxy.counts.bytes > 0);
      proxy.cut();
      await first.closed;
      proxy.hold(false);
      giveUp.abort();
      expect(await dropped).to.equal(false);
      const second = await connect(proxy.port);
      second.socket.write(kafkaRequest(0, 1));
      await until(() => second.text().length === 16);
      expect(proxy.counts.droppedResponses).to.equal(0);
    });
  });

  describe('of HTTP', () => {
    /** A server that answers a request once it has all of it, with the size of its body; 500 where the body asks for it. */
    async function httpServer(): Promise<{ port: number; bodies: string[]; aborted: () => number }> {
      const bodies: string[] = [];
      let aborted = 0;
      const server = http.createServer((request, response) => {
        let body = '';
        request.on('data', (bytes: Buffer) => (body += bytes.toString('latin1')));
        request.on('aborted', () => (aborted += 1));
        request.on('end', () => {
          bodies.push(body);
          response.writeHead(body.includes('fail') ? 500 : 200).end(String(body.length));
        });
      });
      server.listen(0, '127.0.0.1');
      await once(server, 'listening');
      opened.push({
        close: () => {
          server.close();
          server.closeAllConnections();
        },
      });
      return { port: (server.address() as net.AddressInfo).port, bodies, aborted: () => aborted };
    }

    /** Sends parts as chunks (several), or with a length (one); the status, or why there is none. */
    function send(port: number, path: string, parts: readonly string[], agent: http.Agent | false = false): Promise<string> {
      return new Promise((resolve) => {
        const headers = parts.length === 1 ? { 'Content-Length': parts[0]?.length ?? 0 } : {};
        const request = http.request({ host: '127.0.0.1', port, method: 'POST', path, agent, headers }, (response) => {
          response.resume();
          response.on('end', () => resolve(String(response.statusCode)));
          response.on('error', (error) => resolve(error.message));
        });
        request.on('error', (error: NodeJS.ErrnoException) => resolve(error.code ?? error.message));
        for (const part of parts) request.write(part);
        request.end();
      });
    }

    it('drops the answer of the next request that matches and succeeds, on a connection that is kept alive', async () => {
      const server = await httpServer();
      const proxy = await proxyTo(server.port, 'http');
      const agent = new http.Agent({ keepAlive: true, maxSockets: 1 });
      opened.push({ close: () => agent.destroy() });
      const dropped = proxy.dropNextResponse(isInsertInto('logs'));
      expect(await send(proxy.port, '/?query=SELECT+1', ['POST /?query=INSERT INTO logs x'], agent)).to.equal('200');
      expect(await send(proxy.port, '/?a=b&query=INSERT+INTO+streams+FORMAT', ['a', 'bb'], agent)).to.equal('200');
      expect(await send(proxy.port, '/?query=INSERT%20INTO%20logs%20(', ['a', 'fail'], agent)).to.equal('500');
      expect(await send(proxy.port, '/?query=INSERT%20INTO%20logs%20(', ['cc', 'ddd', ''], agent)).to.equal('ECONNRESET');
      expect(await dropped).to.equal(true);
      expect(server.bodies).to.deep.equal(['POST /?query=INSERT INTO logs x', 'abb', 'afail', 'ccddd']);
      expect(await send(proxy.port, '/?query=INSERT%20INTO%20logs%20(', ['e'], agent)).to.equal('200');
      expect(proxy.counts).to.include({ droppedResponses: 1, connections: 2 });
    });

    it('cuts a body after so many bytes; one that is shorter passes', async () => {
      const server = await httpServer();
      const proxy = await proxyTo(server.port, 'http');
      const agent = new http.Agent({ keepAlive: true, maxSockets: 1 });
      opened.push({ close: () => agent.destroy() });
      const cut = proxy.truncateNextRequest(20, isInsert);
      expect(await send(proxy.port, '/?query=INSERT+1', ['short'], agent)).to.equal('200');
      expect(await send(proxy.port, '/?query=INSERT+2', ['0123456789', '0123456789', '0123456789'], agent)).to.equal('ECONNRESET');
      expect(await cut).to.equal(true);
      await until(() => server.aborted() === 1);
      expect(server.bodies).to.deep.equal(['short']);
    });

    it('holds a whole request, and brings it to the server after its sender is gone', async () => {
      const server = await httpServer();
      const proxy = await proxyTo(server.port, 'http');
      const holding = proxy.holdNextRequest(isInsertInto('logs'));
      expect(await send(proxy.port, '/?query=SELECT+1', ['a'])).to.equal('200');
      const sent = send(proxy.port, '/?query=INSERT+INTO+logs+(', ['bb', 'cc']);
      const held = await holding;
      expect(held?.isAbandoned()).to.equal(false);
      held?.cut();
      expect(await sent).to.equal('ECONNRESET');
      expect(held?.isAbandoned()).to.equal(true);
      expect(server.bodies).to.deep.equal(['a']);
      expect(await held?.deliver()).to.equal(true);
      expect(server.bodies).to.deep.equal(['a', 'bbcc']);
    });

    it('forwards a request of which it has a part when it is to hold none any more', async () => {
      const server = await httpServer();
      const proxy = await proxyTo(server.port, 'http');
      const giveUp = new AbortController();
      const holding = proxy.holdNextRequest(isInsert, giveUp.signal);
      const { socket, text } = await connect(proxy.port);
      const head = 'POST /?query=INSERT HTTP/1.1\r\nHost: a\r\nContent-Length: 4\r\n\r\n';
      socket.write(`${head}ab`);
      await until(() => proxy.counts.bytes === head.length + 2);
      giveUp.abort();
      expect(await holding).to.equal(null);
      socket.write('cd');
      await until(() => text().startsWith('HTTP/1.1 200'));
      expect(server.bodies).to.deep.equal(['abcd']);
    });
  });
});
