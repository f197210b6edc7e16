import type { ServerResponse } from 'node:http';
import { expect } from 'chai';
import { gatedEndpoints } from '../../fakes/gated-endpoints.ts';
import { logBody } from '../../../api/http/body.ts';
import type { Endpoint } from '../../../api/http/endpoint.ts';
import { appHostEndpoints, ingestHostEndpoints } from '../../../api/http/host-lists.ts';
import { RawClient, type RawAnswer } from '../../fakes/raw-client.ts';
import { startHost } from '../../fakes/test-host.ts';

const UUID = /^[0-9a-f-]{36}$/;
const echo: Endpoint = {
  methods: ['POST'],
  path: '/echo',
  errors: 'ingest',
  access: null,
  handle: async (exchange) => ({ status: 200, body: (await exchange.bytes(logBody(1000))).toString() }),
};

const WEBSOCKET = ['Connection: Upgrade', 'Upgrade: websocket', 'Sec-WebSocket-Version: 13', 'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ=='];
const H2C = ['Connection: Upgrade, HTTP2-Settings', 'Upgrade: h2c', 'HTTP2-Settings: AAMAAABkAAQAoAAAAAIAAAAA'];
const request = (line: string, headers: readonly string[], body = ''): string =>
  `${line} HTTP/1.1\r\n${['Host: x', ...headers].join('\r\n')}\r\n\r\n${body}`;

/** Something that happens once. */
class Signal {
  give = (): void => undefined;
  readonly promise = new Promise<void>((resolve) => (this.give = resolve));
}

describe('requests for another protocol', () => {
  const hosts: Record<string, Awaited<ReturnType<typeof startHost>>> = {};
  before(async () => {
    hosts['app'] = await startHost({ endpoints: [...appHostEndpoints([], gatedEndpoints), echo] });
    hosts['ingest'] = await startHost({ endpoints: [...ingestHostEndpoints([], gatedEndpoints), echo] });
  });
  after(() => Promise.all(Object.values(hosts).map((host) => host.stop())));

  const open = (host: string): RawClient => new RawClient(hosts[host]?.port ?? 0);
  async function ask(host: string, bytes: string): Promise<RawAnswer> {
    const client = open(host).send(bytes);
    const answer = await client.answer();
    client.destroy();
    return answer;
  }

  for (const host of ['app', 'ingest']) {
    for (const path of ['/nowhere', '/', '/api/v1/tenants/1/nothing']) {
      it(`a WebSocket at ${path} of the ${host} host: 404 with a request id`, async () => {
        const answer = await ask(host, request(`GET ${path}`, WEBSOCKET));
        expect(answer.status).to.equal(404);
        expect(answer.headers['x-request-id']).to.match(UUID);
        expect(JSON.parse(answer.body)).to.deep.equal({ detail: 'No such path.', request_id: answer.headers['x-request-id'] });
      });
    }
  }

  for (const path of ['/ws/livetail/1', '/ws/alerts/1', '/ws/livetail/1?token=all']) {
    it(`${path} of the ingest host: 404, with a key or without`, async () => {
      for (const key of [[], ['Sec-WebSocket-Protocol: logweir.bearer.all'], ['Authorization: Bearer wrong'], ['X-Request-Id: mine']]) {
        const answer = await ask('ingest', request(`GET ${path}`, [...WEBSOCKET, ...key]));
        expect(answer.status).to.equal(404);
        expect(answer.headers['x-request-id']).to.match(key[0] === 'X-Request-Id: mine' ? /^mine$/ : UUID);
      }
    });
  }

  it('a WebSocket on a path of another kind is answered as any request', async () => {
    expect((await ask('app', request('GET /health', WEBSOCKET))).body).to.equal('{"status":"ok"}');
    expect((await ask('app', request('GET /api/v1/account/projects', WEBSOCKET))).status).to.equal(405);
    expect((await ask('app', request('POST /api/v1/account/projects', [...WEBSOCKET, 'Content-Length: 0']))).status).to.equal(401);
  });

  it('the connection goes on after a refusal', async () => {
    const client = open('ingest').send(request('GET /ws/alerts/1', WEBSOCKET));
    expect((await client.answer()).status).to.equal(404);
    expect((await client.send(request('GET /health', [])).answer()).status).to.equal(200);
    client.destroy();
  });

  describe('HTTP/2 without TLS, offered by a client of HTTP/1.1', () => {
    it('a request without a body', async () => {
      const answer = await ask('ingest', request('GET /health', H2C));
      expect(answer).to.include({ status: 200, body: '{"status":"ok"}' });
      expect(answer.headers).not.to.have.property('upgrade');
    });
    it('a request with a body, of a length and in chunks', async () => {
      for (const host of ['app', 'ingest']) {
        expect((await ask(host, request('POST /echo', [...H2C, 'Content-Length: 5'], 'hello'))).body).to.equal('hello');
        expect((await ask(host, request('POST /echo', [...H2C, 'Transfer-Encoding: chunked'], '5\r\nhello\r\n0\r\n\r\n'))).body).to.equal(
          'hello',
        );
      }
    });
    it('a body that is sent on 100 Continue', async () => {
      const client = open('ingest').send(request('POST /echo', [...H2C, 'Content-Length: 5', 'Expect: 100-continue']));
      expect((await client.answer()).status).to.equal(100);
      expect((await client.send('hello').answer()).body).to.equal('hello');
      client.destroy();
    });
    it('one that begins with HTTP/2 at once is told that this is no HTTP/1.1', async () => {
      const client = open('app').send('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n');
      const answer = await client.answer();
      expect(answer.status).to.equal(400);
      expect(answer.headers['x-request-id']).to.match(UUID);
      await client.gone();
    });
  });

  describe('once WebSockets are taken over', () => {
    const taken: string[] = [];
    /** When a request for `/slow` has begun, what it waits for, and its answer. */
    let slowly: { begun: Signal; released: Signal; response?: ServerResponse } = { begun: new Signal(), released: new Signal() };
    const slow: Endpoint = {
      methods: ['GET'],
      path: '/slow',
      errors: 'query',
      access: null,
      handle: async ({ response }) => {
        slowly.response = response;
        slowly.begun.give();
        await slowly.released.promise;
        return { status: 200, body: '"slow"' };
      },
    };
    before(async () => {
      hosts['websocket'] = await startHost({
        endpoints: [...appHostEndpoints([], gatedEndpoints), echo, slow],
        onUpgrade: (incoming) => (socket) => {
          taken.push(incoming.url ?? '');
          socket.end('HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n');
        },
      });
    });
    beforeEach(() => {
      taken.length = 0;
      slowly = { begun: new Signal(), released: new Signal() };
    });

    it('a WebSocket is', async () => {
      for (const name of ['websocket', 'WebSocket', 'h2c, websocket'])
        expect((await ask('websocket', request('GET /ws', ['Connection: Upgrade', `Upgrade: ${name}`]))).status).to.equal(101);
      expect(taken).to.deep.equal(['/ws', '/ws', '/ws']);
    });

    const declined: readonly (readonly [string, string, number, string])[] = [
      ['h2c', request('GET /health', H2C), 200, '{"status":"ok"}'],
      [
        'h2c with a query and headers of any bytes',
        request('GET /health?a=%20b', [...H2C, 'X-A: \u00e9\u00ff', 'x-a: 2']),
        200,
        '{"status":"ok"}',
      ],
      ['h2c with a body', request('POST /echo', [...H2C, 'Content-Length: 5'], 'hello'), 200, 'hello'],
      ['h2c with chunks', request('POST /echo', [...H2C, 'Transfer-Encoding: chunked'], '5\r\nhello\r\n0\r\n\r\n'), 200, 'hello'],
      ['h2c with a large body', request('POST /echo', [...H2C, 'Content-Length: 1000'], 'x'.repeat(1000)), 200, 'x'.repeat(1000)],
      ['a protocol that nobody knows', request('GET /health', ['Connection: upgrade', 'Upgrade: TLS/1.0']), 200, '{"status":"ok"}'],
      ['a WebSocket with a body', request('GET /health', [...WEBSOCKET, 'Content-Length: 2'], 'hi'), 200, '{"status":"ok"}'],
      [
        'a WebSocket with chunks',
        request('GET /health', [...WEBSOCKET, 'Transfer-Encoding: chunked'], '0\r\n\r\n'),
        200,
        '{"status":"ok"}',
      ],
      ['a WebSocket that is no GET', request('POST /echo', [...WEBSOCKET, 'Content-Length: 2'], 'hi'), 200, 'hi'],
    ];
    for (const [name, bytes, status, body] of declined) {
      it(`${name}: answered in HTTP/1.1`, async () => {
        const client = open('websocket').send(bytes);
        expect(await client.answer()).to.deep.include({ status, body });
        // and the connection goes on
        expect((await client.send(request('GET /health', [])).answer()).status).to.equal(200);
        client.destroy();
        expect(taken).to.deep.equal([]);
      });
    }
    it('h2c byte by byte', async () => {
      for (const [header, body] of [
        ['Content-Length: 5', 'hello'],
        ['Transfer-Encoding: chunked', '2\r\nhe\r\n3\r\nllo\r\n0\r\n\r\n'],
      ] as const) {
        const client = open('websocket');
        for (const char of request('POST /echo', [...H2C, header], body)) {
          client.send(char);
          await new Promise(setImmediate);
        }
        expect((await client.answer()).body).to.equal('hello');
        client.destroy();
      }
    });
    it('h2c on 100 Continue', async () => {
      const client = open('websocket').send(request('POST /echo', [...H2C, 'Content-Length: 5', 'Expect: 100-continue']));
      expect((await client.answer()).status).to.equal(100);
      expect((await client.send('hello').answer()).body).to.equal('hello');
      client.destroy();
    });
    it('h2c and close', async () => {
      const client = open('websocket').send(request('GET /health', ['Connection: Upgrade, close', 'Upgrade: h2c']));
      expect((await client.answer()).headers['connection']).to.equal('close');
      await client.gone();
    });
    it('h2c behind a request that is still being answered', async () => {
      const client = open('websocket').send(request('GET /slow', []) + request('GET /health', H2C));
      await slowly.begun.promise;
      slowly.released.give();
      expect((await client.answer()).body).to.equal('"slow"');
      expect((await client.answer()).body).to.equal('{"status":"ok"}');
      client.destroy();
    });
    it('h2c behind a request whose answer cannot be written: the process goes on', async () => {
      const client = open('websocket').send(request('GET /slow', []) + request('GET /health', H2C).repeat(3));
      await slowly.begun.promise;
      const [answer, socket] = [slowly.response, slowly.response?.socket];
      // Koa listens for errors until an answer has ended; what is written may fail after that
      answer?.once('finish', () => socket?.destroy(Object.assign(new Error('write ECONNRESET'), { code: 'ECONNRESET' })));
      slowly.released.give();
      await client.gone();
      expect((await ask('websocket', request('GET /health', []))).status).to.equal(200);
    });
    it('a WebSocket behind a request that is still being answered', async () => {
      const client = open('websocket').send(request('GET /slow', []) + request('GET /ws', WEBSOCKET));
      await slowly.begun.promise;
      expect(taken).to.deep.equal([]);
      slowly.released.give();
      expect((await client.answer()).body).to.equal('"slow"');
      expect((await client.answer()).status).to.equal(101);
      await client.gone();
      expect(taken).to.deep.equal(['/ws']);
    });
    it('what a client sends behind an offer without waiting for its answer is not read; what it sends then is', async () => {
      const client = open('websocket').send(request('GET /health', H2C).repeat(100));
      expect((await client.answer()).status).to.equal(200);
      expect((await client.send(request('GET /nowhere', [])).answer()).status).to.equal(404);
      client.destroy();
    });
    it('a bad body behind the offer is refused with a request id when its time is over', async () => {
      const host = await startHost({
        endpoints: [echo],
        limits: { headersTimeout: 1000, requestTimeout: 1000, connectionsCheckingInterval: 20 },
      });
      const client = new RawClient(host.port);
      client.send(
        request('POST /echo', [...H2C, 'Transfer-Encoding: chunked', 'X-Request-Id: mine', 'Authorization: Bearer all'], 'zz\r\n'),
      );
      const answer = await client.answer();
      expect(answer.status).to.equal(408);
      expect(answer.headers['x-request-id']).to.equal('mine');
      await client.gone();
      await host.stop();
    });
  });

  it('CONNECT: 405 with the methods there are and a request id, and the connection ends', async () => {
    for (const host of ['app', 'ingest']) {
      const client = open(host).send('CONNECT example.org:443 HTTP/1.1\r\nHost: example.org:443\r\nX-Request-Id: mine\r\n\r\n');
      const answer = await client.answer();
      expect(answer.status).to.equal(405);
      expect(answer.headers).to.include({ 'x-request-id': 'mine', allow: 'GET, HEAD, POST, PUT, DELETE, OPTIONS', connection: 'close' });
      expect(JSON.parse(answer.body)).to.have.all.keys('detail', 'request_id');
      await client.gone();
    }
  });

  for (const [name, head, rest] of [
    ['that has not come', 'Content-Length: 1000', 'x'],
    ['in chunks', 'Transfer-Encoding: chunked', '1\r\nx\r\n'],
    ['that is whole', 'Content-Length: 1', 'x'],
  ] as const)
    it(`a CONNECT with a body ${name} is refused, and a sender that resets the connection does no harm`, async () => {
      const client = open('app').send(`CONNECT x:1 HTTP/1.1\r\nHost: x\r\n${head}\r\n\r\n${rest}`);
      expect((await client.answer()).status).to.equal(405);
      client.reset();
      await client.gone();
      expect((await ask('app', request('GET /health', []))).status).to.equal(200);
    });

  it('a CONNECT whose sender has gone does no harm', async () => {
    const client = open('app').send('CONNECT x:1 HTTP/1.1\r\nHost: x\r\n\r\n' + 'x'.repeat(100_000));
    client.destroy();
    await client.gone();
    expect((await ask('app', request('GET /health', []))).status).to.equal(200);
  });
});
