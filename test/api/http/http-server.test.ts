import { expect } from 'chai';
import { setTimeout as sleep } from 'node:timers/promises';
import { logBody } from '../../../api/http/body.ts';
import { health, type Endpoint } from '../../../api/http/endpoint.ts';
import { eventually } from '../../fakes/eventually.ts';
import { RawClient } from '../../fakes/raw-client.ts';
import { SlowEndpoint } from '../../fakes/slow-endpoint.ts';
import { startHost } from '../../fakes/test-host.ts';

const UUID = /^[0-9a-f-]{36}$/;
const CAP = 100_000;

const read: Endpoint = {
  methods: ['POST'],
  path: '/read',
  errors: 'ingest',
  access: null,
  handle: async (exchange) => ({ status: 200, body: { length: (await exchange.bytes(logBody(CAP))).length } }),
};
const refuse: Endpoint = {
  methods: ['POST'],
  path: '/refuse',
  errors: 'ingest',
  access: { plane: 'ingest', scope: 'ingest' },
  handle: () => Promise.resolve({ status: 200 }),
};
const slow = new SlowEndpoint('/slow');

const HEALTH = 'GET /health HTTP/1.1\r\nHost: x\r\n\r\n';
const head = (path: string, ...headers: string[]): string =>
  `POST ${path} HTTP/1.1\r\nHost: x\r\n${headers.map((line) => `${line}\r\n`).join('')}\r\n`;

describe('the HTTP server', () => {
  let host: Awaited<ReturnType<typeof startHost>>;
  before(async () => {
    host = await startHost({ endpoints: [health, read, refuse, slow.endpoint] });
  });
  after(() => host.stop());
  const open = (): RawClient => new RawClient(host.port);

  describe('what the parser refuses', () => {
    const rows: readonly (readonly [string, string, number])[] = [
      ['no HTTP at all', 'hello\r\n\r\n', 400],
      ['Content-Length and Transfer-Encoding', head('/read', 'Content-Length: 3', 'Transfer-Encoding: chunked') + '0\r\n\r\n', 400],
      ['two Content-Lengths', head('/read', 'Content-Length: 3', 'Content-Length: 4') + 'abcd', 400],
      ['a negative Content-Length', head('/read', 'Content-Length: -1'), 400],
      ['a line break in a header', 'GET /health HTTP/1.1\r\nHost: x\r\nX-A: a\rb\r\n\r\n', 400],
      ['headers of 70 KB', `GET /health HTTP/1.1\r\nHost: x\r\nX-A: ${'a'.repeat(70_000)}\r\n\r\n`, 431],
      ['a URL of 70 KB', `GET /${'a'.repeat(70_000)} HTTP/1.1\r\nHost: x\r\n\r\n`, 431],
      ['a bad chunk', head('/read', 'Transfer-Encoding: chunked') + 'zz\r\n', 400],
    ];
    for (const [name, bytes, status] of rows) {
      it(`${name}: ${status} with a request id, and the connection ends`, async () => {
        const client = open().send(bytes);
        const answer = await client.answer();
        expect(answer.status).to.equal(status);
        expect(answer.headers['x-request-id']).to.match(UUID);
        expect(answer.headers['content-type']).to.equal('application/json; charset=utf-8');
        expect(JSON.parse(answer.body)).to.include({ request_id: answer.headers['x-request-id'] });
        await client.gone();
      });
    }
    it('headers of 60 KB pass', async () => {
      expect(
        (
          await open()
            .send(`GET /health HTTP/1.1\r\nHost: x\r\nX-A: ${'a'.repeat(60_000)}\r\n\r\n`)
            .answer()
        ).status,
      ).to.equal(200);
    });
    it('a bad chunk keeps the id of its own request', async () => {
      const answer = await open()
        .send(head('/read', 'Transfer-Encoding: chunked', 'X-Request-Id: mine') + 'zz\r\n')
        .answer();
      expect(answer.headers['x-request-id']).to.equal('mine');
    });
    it('garbage after a whole request is refused only after that one was answered', async () => {
      const client = open().send('GET /slow HTTP/1.1\r\nHost: x\r\n\r\ngarbage\r\n\r\n');
      await slow.another();
      slow.release();
      expect(JSON.parse((await client.answer()).body)).to.deep.equal({ slow: true });
      expect((await client.answer()).status).to.equal(400);
      await client.gone();
    });
  });

  it('takes nothing of a body that was refused as too late, also where the rest of it comes then', async () => {
    const taken: Buffer[] = [];
    const failed: unknown[] = [];
    const take: Endpoint = {
      ...read,
      handle: async (exchange) => {
        await exchange.bytes(logBody(CAP)).then(
          (bytes) => taken.push(bytes),
          (error: unknown) => failed.push(error),
        );
        return { status: 200 };
      },
    };
    const late = await startHost({
      endpoints: [take],
      limits: { headersTimeout: 1000, requestTimeout: 1000, connectionsCheckingInterval: 20 },
    });
    try {
      const client = new RawClient(late.port).send(`${head('/read', 'Content-Length: 6')}abc`);
      expect((await client.answer()).status).to.equal(408);
      client.send('def');
      await eventually(
        'the end of the body',
        () => taken.length + failed.length,
        (ends) => ends > 0,
      );
      expect(taken).to.deep.equal([]);
      expect(String(failed[0])).to.contain('cut off');
      // one of which nothing had come, as when the process stood still: the connection alone is too old
      const silent = new RawClient(late.port);
      expect((await silent.answer()).status).to.equal(408);
      silent.send(`${head('/read', 'Content-Length: 6')}abcdef`);
      await silent.gone();
      expect(taken).to.deep.equal([]);
    } finally {
      await late.stop();
    }
  });

  it('a missing Host: 400 with a request id; HTTP/1.0 may lack it', async () => {
    const answer = await open().send('GET /health HTTP/1.1\r\n\r\n').answer();
    expect(answer.status).to.equal(400);
    expect(answer.headers['x-request-id']).to.match(UUID);
    expect((await open().send('GET /health HTTP/1.0\r\n\r\n').answer()).status).to.equal(200);
  });

  it('an expectation that it does not know: 417 with a request id', async () => {
    const answer = await open()
      .send(head('/read', 'Expect: 200-ok', 'Content-Length: 0'))
      .answer();
    expect(answer.status).to.equal(417);
    expect(answer.headers['x-request-id']).to.match(UUID);
  });

  it('an absolute target, as a proxy gets it', async () => {
    expect((await open().send('GET http://host.example/health?x HTTP/1.1\r\nHost: x\r\n\r\n').answer()).status).to.equal(200);
    expect((await open().send('GET http://host.example HTTP/1.1\r\nHost: x\r\n\r\n').answer()).status).to.equal(404);
    expect((await open().send('OPTIONS * HTTP/1.1\r\nHost: x\r\n\r\n').answer()).status).to.equal(404);
  });

  describe('100-continue', () => {
    it('asks for the body once it wants it', async () => {
      const client = open().send(head('/read', 'Expect: 100-continue', 'Content-Length: 3'));
      expect((await client.answer()).status).to.equal(100);
      expect(JSON.parse((await client.send('abc').answer()).body)).to.deep.equal({ length: 3 });
    });
    it('refuses a body that is too large, or nobody may send, before it is sent', async () => {
      for (const [path, status] of [
        ['/read', 413],
        ['/refuse', 401],
        ['/nowhere', 404],
        ['/health', 405],
      ] as const) {
        const client = open().send(head(path, 'Expect: 100-continue', 'Content-Length: 5000000'));
        const answer = await client.answer();
        expect(answer.status).to.equal(status);
        expect(answer.headers['connection']).to.equal('close');
        client.end();
        await client.gone();
      }
    });
  });

  describe('bodies that nobody reads', () => {
    it('a short one is thrown away and the connection goes on', async () => {
      const client = open();
      for (let i = 0; i < 3; i++) {
        const answer = await client.send(head('/refuse', 'Content-Length: 500000') + 'x'.repeat(500_000)).answer();
        expect(answer.status).to.equal(401);
        expect(answer.headers['connection']).not.to.equal('close');
      }
      expect((await client.send(HEALTH).answer()).status).to.equal(200);
      client.destroy();
    });
    it('a short one that comes slowly too', async () => {
      const attempt = async (): Promise<number> => {
        const client = open().send(head('/refuse', 'Content-Length: 6') + 'abc');
        expect((await client.answer()).status).to.equal(401);
        await sleep(50);
        const { status } = await client.send('def' + HEALTH).answer();
        client.destroy();
        return status;
      };
      // a process that stood still for a second has ended the connection
      const statuses: (number | null)[] = [];
      for (let tries = 0; tries < 20 && !statuses.includes(200); tries++) statuses.push(await attempt().catch(() => null));
      expect(statuses.filter((status) => status !== null)).to.deep.equal([200]);
    });
    it('one that does not come within a second ends the connection', async () => {
      const start = performance.now();
      const client = open().send(head('/refuse', 'Content-Length: 600') + 'abc');
      expect((await client.answer()).status).to.equal(401);
      await client.gone();
      expect(performance.now() - start).to.be.at.least(900);
    });
    it('a long one: the client that sends all of it still sees the answer', async () => {
      const client = open().send(head('/read', 'Content-Length: 1500000') + 'x'.repeat(900_000));
      const answer = await client.answer();
      expect(answer).to.deep.include({ status: 413, body: `The body has 1500000 bytes; the cap is ${CAP} bytes.\n` });
      expect(answer.headers['connection']).to.equal('close');
      client.end();
      await client.gone();
      expect(client.error).to.equal(null);
    });
    it('a chunked one above the cap', async () => {
      const client = open().send(head('/read', 'Transfer-Encoding: chunked'));
      const chunk = `8000\r\n${'x'.repeat(0x8000)}\r\n`;
      for (let i = 0; i < 6; i++) client.send(chunk);
      const answer = await client.answer();
      expect(answer.status).to.equal(413);
      expect(answer.headers['connection']).to.equal('close');
      client.send('0\r\n\r\n');
      await client.gone();
      expect(client.error).to.equal(null);
    });
  });

  describe('pipelining', () => {
    it('answers in order', async () => {
      const client = open().send(HEALTH + head('/read', 'Content-Length: 3') + 'abc' + HEALTH);
      expect((await client.answer()).body).to.equal('{"status":"ok"}');
      expect((await client.answer()).body).to.equal('{"length":3}');
      expect((await client.answer()).body).to.equal('{"status":"ok"}');
      client.destroy();
    });
    it('more than 64 requests that wait for their answers end the connection', async () => {
      const few = open().send(HEALTH.repeat(64));
      for (let n = 0; n < 64; n++) expect((await few.answer()).status).to.equal(200);
      few.destroy();
      const many = open().send(`${head('/slow')}${HEALTH.repeat(64)}`);
      await many.gone();
    });
    it('after a 413 whose body came whole, the next request is answered', async () => {
      const client = open().send(head('/read', `Content-Length: ${CAP + 1}`) + 'x'.repeat(CAP + 1) + HEALTH);
      expect((await client.answer()).status).to.equal(413);
      expect((await client.answer()).body).to.equal('{"status":"ok"}');
      client.destroy();
    });
    it('a body is never taken for a request', async () => {
      const client = open().send(head('/read', 'Content-Length: 3000000') + HEALTH.repeat(50));
      expect((await client.answer()).status).to.equal(413);
      client.end();
      await client.gone();
      expect(client.error).to.equal(null);
      await client.answer().then(
        () => expect.fail('a second answer'),
        () => undefined,
      );
    });
    it('nor a chunked one', async () => {
      const client = open().send(
        head('/read', 'Transfer-Encoding: chunked') + `20000\r\n${'x'.repeat(0x20000)}\r\n` + `30\r\n${HEALTH.padEnd(0x30)}\r\n`,
      );
      expect((await client.answer()).status).to.equal(413);
      client.end();
      await client.gone();
      await client.answer().then(
        () => expect.fail('a second answer'),
        () => undefined,
      );
    });
  });

  it('a client that goes away in the middle of its body does no harm', async () => {
    for (const start of [
      head('/read', 'Content-Length: 100') + 'abc',
      head('/read', 'Transfer-Encoding: chunked') + '3\r\nabc\r\n',
      head('/refuse', 'Content-Length: 100') + 'abc',
    ]) {
      const client = open().send(start);
      await sleep(20);
      client.destroy();
    }
    await sleep(20);
    expect((await open().send(HEALTH).answer()).status).to.equal(200);
  });

  it('tells a route that its client has gone', async () => {
    slow.aborted = 0;
    const client = open().send('GET /slow HTTP/1.1\r\nHost: x\r\n\r\n');
    await slow.another();
    client.destroy();
    await eventually(
      'the end of the request',
      () => slow.aborted,
      (count) => count > 0,
    );
    expect(slow.aborted).to.equal(1);
    slow.release();
  });

  it('does not tell a route whose answer was read', async () => {
    slow.aborted = 0;
    const client = open().send('GET /slow HTTP/1.1\r\nHost: x\r\n\r\n');
    await slow.another();
    slow.release();
    await client.answer();
    client.destroy();
    await sleep(30);
    expect(slow.aborted).to.equal(0);
  });
});

describe('requests that come too slowly', () => {
  it('are ended with 408 and a request id, in the headers and in the body', async () => {
    const host = await startHost({
      endpoints: [health, read],
      limits: { headersTimeout: 1000, requestTimeout: 1000, connectionsCheckingInterval: 20 },
    });
    for (const start of ['GET /health HTTP/1.1\r\nHo', head('/read', 'Content-Length: 10', 'X-Request-Id: slow-one') + 'abc']) {
      const client = new RawClient(host.port).send(start);
      const answer = await client.answer();
      expect(answer.status).to.equal(408);
      expect(answer.headers['x-request-id']).to.match(start.includes('slow-one') ? /^slow-one$/ : UUID);
      await client.gone();
    }
    await host.stop();
  });
});
