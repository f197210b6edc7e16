import { expect } from 'chai';
import { createHash, randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib';
import { compress } from 'snappyjs';
import { jsonBody, logBody, readCoding } from '../../../api/http/body.ts';
import type { Endpoint } from '../../../api/http/endpoint.ts';
import { HttpError } from '../../../pipeline/core/errors.ts';
import { sampleLines } from '../../fixtures/inflate/sample.ts';
import { RawClient } from '../../fakes/raw-client.ts';
import { startHost } from '../../fakes/test-host.ts';

const CAP = 2_097_152;

function sink(path: string, errors: Endpoint['errors'], caps = logBody(CAP)): Endpoint {
  return {
    methods: ['POST'],
    path,
    errors,
    access: null,
    handle: async (exchange) => {
      const body = await exchange.bytes(caps);
      return { status: 200, body: { length: body.length, sha: createHash('sha1').update(body).digest('hex') } };
    },
  };
}

const json: Endpoint = {
  methods: ['POST'],
  path: '/json',
  errors: 'query',
  access: null,
  handle: async (exchange) => ({ status: 200, body: { got: (await exchange.body()) ?? 'nothing' } }),
};
const ENDPOINTS = [sink('/logs', 'ingest'), sink('/small', 'query', jsonBody(100)), json];

type Got = { readonly status: number; readonly type: string; readonly text: string; readonly id: string };

describe('request bodies', () => {
  let host: Awaited<ReturnType<typeof startHost>>;
  before(async () => {
    host = await startHost({ endpoints: ENDPOINTS });
  });
  after(() => host.stop());

  async function post(path: string, body: Buffer | string | ReadableStream, headers: Record<string, string> = {}): Promise<Got> {
    const response = await fetch(host.url + path, {
      method: 'POST',
      body,
      headers,
      ...(body instanceof ReadableStream ? { duplex: 'half' } : {}),
    });
    return {
      status: response.status,
      type: response.headers.get('content-type') ?? '',
      text: await response.text(),
      id: response.headers.get('x-request-id') ?? '',
    };
  }

  it('of the app plane that do not end are bounded together, and give back what they took', async () => {
    const [size, many] = [1_048_576, 24];
    const clients = Array.from({ length: many }, () =>
      new RawClient(Number(new URL(host.url).port)).send(
        `POST /json HTTP/1.1\r\nHost: x\r\nContent-Length: ${String(size)}\r\n\r\n${' '.repeat(size - 1)}`,
      ),
    );
    // a tenant has a quarter of 64 MiB
    const answers = clients.map((client) => client.answer().then(({ status }) => status));
    expect(await Promise.race(answers)).to.equal(429);
    for (const client of clients) client.destroy();
    await Promise.allSettled(answers);
    const ends = Date.now() + 20_000;
    let status = 0;
    while (status !== 200 && Date.now() < ends) ({ status } = await post('/json', '1'.padStart(size)));
    expect(status).to.equal(200);
  });

  /** The same body in chunks, without a Content-Length. */
  function chunked(body: Buffer, size = 65_536): ReadableStream {
    let at = 0;
    return new ReadableStream({
      pull(controller) {
        if (at >= body.length) controller.close();
        else controller.enqueue(new Uint8Array(body.subarray(at, (at += size))));
      },
    });
  }

  const text = sampleLines(100);
  const sha = createHash('sha1').update(text).digest('hex');
  const ENCODED: readonly (readonly [string, string | null, Buffer])[] = [
    ['no encoding', null, text],
    ['identity', 'identity', text],
    ['an empty encoding', '', text],
    ['gzip', 'gzip', gzipSync(text)],
    ['GZIP in capitals', 'GZIP', gzipSync(text)],
    ['x-gzip', 'x-gzip', gzipSync(text)],
    ['identity, gzip', 'identity, gzip', gzipSync(text)],
    ['gzip of two members', 'gzip', Buffer.concat([gzipSync(text.subarray(0, 1000)), gzipSync(text.subarray(1000))])],
    ['snappy', 'snappy', compress(text)],
  ];
  for (const [name, encoding, body] of ENCODED) {
    it(`${name}: 200, with length and in chunks`, async () => {
      const headers: Record<string, string> = encoding === null ? {} : { 'content-encoding': encoding };
      for (const sent of [body, chunked(body, 700)]) {
        const got = await post('/logs', sent, headers);
        expect(got.status, got.text).to.equal(200);
        expect(JSON.parse(got.text)).to.deep.equal({ length: text.length, sha });
      }
    });
  }

  it('zstd', async () => {
    const body = readFileSync(new URL('../../fixtures/inflate/200-level19-checked.zst', import.meta.url));
    expect(JSON.parse((await post('/logs', body, { 'content-encoding': 'zstd' })).text)).to.include({ length: sampleLines(200).length });
  });

  const UNSUPPORTED: readonly (readonly [string, Buffer, string])[] = [
    ['deflate', deflateSync(text), 'deflate'],
    ['br', brotliCompressSync(text), 'br'],
    ['gzip,deflate', deflateSync(text), 'deflate'],
    ['gzip, gzip', gzipSync(gzipSync(text)), 'gzip, gzip'],
    ['compress', text, 'compress'],
    ['__proto__', text, '__proto__'],
    ['constructor', text, 'constructor'],
  ];
  for (const [encoding, body, named] of UNSUPPORTED) {
    it(`${encoding}: 400 unsupported_encoding that names it`, async () => {
      const got = await post('/logs', body, { 'content-encoding': encoding });
      expect(got.status).to.equal(400);
      const error = JSON.parse(got.text) as Record<string, unknown>;
      expect(error).to.include({ error: 'unsupported_encoding', request_id: got.id });
      expect(error['detail']).to.contain(`"${named}"`);
    });
  }

  for (const coding of ['gzip', 'zstd', 'snappy']) {
    it(`corrupt ${coding}: 400 invalid_body`, async () => {
      for (const body of [Buffer.from('{"_msg":"not compressed at all"}'), gzipSync(text).subarray(0, 40), Buffer.alloc(0)]) {
        const got = await post('/logs', body, { 'content-encoding': coding });
        expect(got.status, got.text).to.equal(400);
        expect(JSON.parse(got.text)).to.include({ error: 'invalid_body' });
      }
    });
  }

  it('the caps are inclusive, on the wire and decompressed', async () => {
    const full = Buffer.alloc(CAP, 97);
    expect((await post('/logs', full)).status).to.equal(200);
    expect((await post('/logs', chunked(full))).status).to.equal(200);
    expect((await post('/logs', gzipSync(full), { 'content-encoding': 'gzip' })).status).to.equal(200);
    expect((await post('/logs', compress(full), { 'content-encoding': 'snappy' })).status).to.equal(200);
  });

  it('one byte above the cap, uncompressed: 413 as plain text with both sizes', async () => {
    const got = await post('/logs', Buffer.alloc(CAP + 1, 97));
    expect(got).to.deep.include({
      status: 413,
      type: 'text/plain; charset=utf-8',
      text: `The body has ${CAP + 1} bytes; the cap is ${CAP} bytes.\n`,
    });
    expect(got.id).to.match(/^[0-9a-f-]{36}$/);
  });

  it('one byte above the cap, uncompressed and chunked: 413 as plain text', async () => {
    const got = await post('/logs', chunked(Buffer.alloc(CAP + 1, 97)));
    expect(got).to.deep.include({
      status: 413,
      type: 'text/plain; charset=utf-8',
      text: `The body has more than ${CAP} bytes; the cap is ${CAP} bytes.\n`,
    });
  });

  for (const [coding, body] of [
    ['gzip', gzipSync(Buffer.alloc(CAP + 1, 97))],
    ['snappy', compress(Buffer.alloc(CAP + 1, 97))],
  ] as const) {
    it(`one byte above the cap inside ${coding}: 413 as JSON with both sizes`, async () => {
      const got = await post('/logs', body, { 'content-encoding': coding });
      expect(got).to.include({ status: 413, type: 'application/json; charset=utf-8' });
      const error = JSON.parse(got.text) as Record<string, string>;
      expect(error).to.include({ error: 'payload_too_large', request_id: got.id });
      expect(error['detail']).to.match(
        new RegExp(coding === 'gzip' ? `more than ${CAP} bytes; the cap is ${CAP} bytes` : `has ${CAP + 1} bytes; the cap is ${CAP} bytes`),
      );
    });
  }

  it('a compressed body above the cap on the wire: 413 as JSON, before its encoding is looked at', async () => {
    for (const coding of ['gzip', 'br']) {
      const got = await post('/logs', Buffer.alloc(CAP + 1, 97), { 'content-encoding': coding });
      expect(got.status).to.equal(413);
      expect(JSON.parse(got.text)).to.include({
        error: 'payload_too_large',
        detail: `The body has ${CAP + 1} bytes; the cap is ${CAP} bytes.`,
      });
    }
  });

  it('a bomb: 413', async () => {
    expect((await post('/logs', gzipSync(Buffer.alloc(100_000_000)), { 'content-encoding': 'gzip' })).status).to.equal(413);
  });

  it('the app plane says 413 as JSON without a slug', async () => {
    const got = await post('/small', Buffer.alloc(101));
    expect(got.status).to.equal(413);
    expect(JSON.parse(got.text)).to.deep.equal({ detail: 'The body has 101 bytes; the cap is 100 bytes.', request_id: got.id });
  });

  it('in small chunks: the same bytes, but not in thousands of tiny ones', async () => {
    const send = async (chunks: number, text: string): Promise<{ status: number; body: string }> => {
      const client = new RawClient(host.port).send('POST /logs HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n');
      const answer = await client.send(`${`${text.length.toString(16)}\r\n${text}\r\n`.repeat(chunks)}0\r\n\r\n`).answer();
      client.destroy();
      return answer;
    };
    for (const [chunks, text] of [
      [2000, 'ab'],
      [20_000, 'a line of thirty bytes or more'],
    ] as const) {
      const sha = createHash('sha1').update(text.repeat(chunks)).digest('hex');
      expect(await send(chunks, text)).to.deep.include({ status: 200, body: JSON.stringify({ length: chunks * text.length, sha }) });
    }
    const refused = await send(2001, 'ab');
    expect(refused.status).to.equal(400);
    expect(refused.body).to.contain('fewer than 24 bytes');
  });

  it('with its length, in chunks of any size: the same bytes', async () => {
    const body = randomBytes(300_001).toString('latin1');
    const sha = createHash('sha1').update(body, 'latin1').digest('hex');
    for (const sizes of [[300_001], [1, 300_000], [10, 20, 299_971], [70_000, 5, 80_000, 149_996], [...Array<number>(300).fill(1000), 1]]) {
      const client = new RawClient(host.port).send(`POST /logs HTTP/1.1\r\nHost: x\r\nContent-Length: ${String(body.length)}\r\n\r\n`);
      let at = 0;
      for (const size of sizes) {
        client.send(Buffer.from(body.slice(at, at + size), 'latin1'));
        // so that each comes by itself
        await new Promise((resolve) => setImmediate(resolve));
        at += size;
      }
      expect(await client.answer()).to.deep.include({ status: 200, body: JSON.stringify({ length: body.length, sha }) });
      client.destroy();
    }
  });

  it('no body at all', async () => {
    expect(JSON.parse((await post('/logs', '')).text)).to.include({ length: 0 });
    const answer = await new RawClient(host.port).send('POST /logs HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n').answer();
    expect(JSON.parse(answer.body)).to.include({ length: 0 });
  });

  describe('JSON of the app plane', () => {
    const rows: readonly (readonly [string, string, number, unknown])[] = [
      ['an object', '{"a":[1,"é",null]}', 200, { got: { a: [1, 'é', null] } }],
      ['with a byte order mark', '\uFEFF{"a":1}', 200, { got: { a: 1 } }],
      ['nothing', '', 200, { got: 'nothing' }],
      ['blanks', ' \r\n', 200, { got: 'nothing' }],
      ['no JSON', '{"a":', 400, null],
      ['two values', '{} {}', 400, null],
      ['64 levels', `${'['.repeat(64)}${']'.repeat(64)}`, 200, null],
      ['many brackets inside a string, and many next to each other', `["${'['.repeat(100)}",${'[],'.repeat(100)}1]`, 200, null],
      ['65 levels', `${'['.repeat(65)}${']'.repeat(65)}`, 400, null],
      ['a million brackets', '['.repeat(1_000_000), 400, null],
      ['brackets in a string', JSON.stringify(`${'['.repeat(100)}\\"[[`), 200, null],
      ['__proto__', '{"__proto__":{"polluted":true}}', 200, null],
    ];
    for (const [name, body, status, answer] of rows) {
      it(`${name}: ${status}`, async () => {
        const got = await post('/json', body);
        expect(got.status, got.text).to.equal(status);
        if (answer !== null) expect(JSON.parse(got.text)).to.deep.equal(answer);
        if (status === 400) expect(JSON.parse(got.text)).to.have.all.keys('detail', 'request_id');
        expect(({} as Record<string, unknown>)['polluted']).to.equal(undefined);
      });
    }
    it('compressed, and above 1 MiB', async () => {
      expect(JSON.parse((await post('/json', gzipSync('{"a":1}'), { 'content-encoding': 'gzip' })).text)).to.deep.equal({ got: { a: 1 } });
      expect((await post('/json', `"${'x'.repeat(1_048_576)}"`)).status).to.equal(413);
    });
  });
});

describe('readCoding', () => {
  it('gives the coding or null', () => {
    expect(readCoding(undefined)).to.equal(null);
    expect(readCoding(' , identity,')).to.equal(null);
    expect(readCoding('X-GZIP')).to.equal('gzip');
    expect(() => readCoding('zlib')).to.throw(HttpError, '"zlib"');
  });
});
