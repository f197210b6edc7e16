import { expect } from 'chai';
import { randomBytes } from 'node:crypto';
import http, { type IncomingMessage } from 'node:http';
import type { Transform } from 'node:stream';
import { createGunzip, createZstdDecompress, gunzipSync } from 'node:zlib';
import { CODINGS, type AnswerCoding } from '../../../api/http/answer-coding.ts';
import { AnswerCompression } from '../../../api/http/answer-compression.ts';
import type { Endpoint } from '../../../api/http/endpoint.ts';
import type { RouteAnswer } from '../../../api/http/route.ts';
import { eventually } from '../../fakes/eventually.ts';
import { startHost } from '../../fakes/test-host.ts';

const app = (path: string, answer: () => RouteAnswer, plane: 'app' | 'ingest' = 'app'): Endpoint => ({
  methods: ['GET'],
  path,
  errors: 'query',
  access: { plane, scope: 'read' },
  handle: () => Promise.resolve(answer()),
});

const LARGE = JSON.stringify({ logs: Array.from({ length: 20_000 }, (_, i) => ({ n: i, _msg: `message number ${String(i)}` })) });
/** The headers of requests by which answers vary: those of a host with allowed origins. */
const VARY = 'Origin, Accept-Encoding';
const NEVER = new AbortController().signal;
/** Six such answers fit into what may wait of one tenant, however slow the machine is. */
const NOISE = 4_000_000;

const DECODERS: Readonly<Record<AnswerCoding, () => Transform>> = { gzip: () => createGunzip(), zstd: () => createZstdDecompress() };

async function decoded(bytes: Buffer, coding: AnswerCoding): Promise<string> {
  const decoder = DECODERS[coding]();
  decoder.end(bytes);
  return Buffer.concat(await decoder.toArray()).toString();
}

/** Lines that the test lets come one by one. */
class Lines {
  #give: (line: string | null) => void = () => undefined;
  #next = new Promise<string | null>((resolve) => (this.#give = resolve));
  isEnded = false;

  push(line: string | null): void {
    const give = this.#give;
    const next = new Promise<string | null>((resolve) => (this.#give = resolve));
    give(line);
    this.#after = next;
  }
  #after: Promise<string | null> | null = null;

  async *stream(): AsyncGenerator<string> {
    try {
      for (;;) {
        const line = await this.#next;
        if (line === null) return;
        if (this.#after !== null) this.#next = this.#after;
        yield line;
      }
    } finally {
      this.isEnded = true;
    }
  }
}

describe('compressed answers', () => {
  let lines = new Lines();
  let host: Awaited<ReturnType<typeof startHost>>;
  before(async () => {
    host = await startHost({
      corsOrigins: ['https://ui.example'],
      endpoints: [
        app('/large', () => ({ status: 200, body: LARGE })),
        app('/bytes', () => ({ status: 200, body: Buffer.from(LARGE) })),
        app('/small', () => ({ status: 200, body: { text: 'x'.repeat(1000) } })),
        app('/edge', () => ({ status: 200, body: `"${'x'.repeat(1022)}"` })),
        app('/ingest', () => ({ status: 200, body: LARGE }), 'ingest'),
        app('/lines', () => ({ status: 200, stream: lines.stream() })),
        app('/many', () => ({ status: 200, stream: Array.from({ length: 5000 }, (_, i) => `{"n":${String(i)}}\n`) })),
        app('/noise', () => ({ status: 200, body: randomBytes(NOISE) })),
      ],
    });
  });
  after(() => host.stop());
  beforeEach(() => (lines = new Lines()));

  type Got = { readonly headers: IncomingMessage['headers']; readonly bytes: Buffer };
  const get = (path: string, coding: string, method = 'GET'): Promise<Got> =>
    new Promise((resolve, reject) => {
      const headers = { Authorization: 'Bearer all', ...(coding === '' ? {} : { 'Accept-Encoding': coding }) };
      http
        .request(`${host.url}${path}`, { agent: false, method, headers }, (response) => {
          const parts: Buffer[] = [];
          response.on('data', (part: Buffer) => parts.push(part)).on('error', reject);
          response.on('end', () => resolve({ headers: response.headers, bytes: Buffer.concat(parts) }));
        })
        .on('error', reject)
        .end();
    });

  for (const [path, coding] of CODINGS.flatMap((one) => [['/large', one] as const, ['/bytes', one] as const]))
    it(`a body is sent as the client accepts it: ${path}, ${coding}`, async () => {
      const [plain, coded] = [await get(path, ''), await get(path, `br, ${coding}`)];
      expect([plain.headers['content-encoding'], plain.headers['vary']]).to.deep.equal([undefined, VARY]);
      expect(String(plain.bytes)).to.equal(LARGE);
      expect([coded.headers['content-encoding'], coded.headers['vary']]).to.deep.equal([coding, VARY]);
      expect(coded.headers['content-length']).to.equal(String(coded.bytes.length));
      expect(coded.headers['content-type']).to.equal(plain.headers['content-type']);
      expect(coded.bytes.length).to.be.below(LARGE.length / 4);
      expect(await decoded(coded.bytes, coding)).to.equal(LARGE);
    });

  it('from 1 KiB on; smaller ones, and those of the ingest plane, are as without the header', async () => {
    const edge = await get('/edge', 'gzip');
    expect([edge.headers['content-encoding'], String(gunzipSync(edge.bytes)).length]).to.deep.equal(['gzip', 1024]);
    for (const path of ['/small', '/ingest']) {
      const [plain, asked] = [await get(path, ''), await get(path, 'gzip')];
      const own = ({ headers, bytes }: Got): unknown => [bytes, { ...headers, date: '', 'x-request-id': '' }];
      expect(own(asked)).to.deep.equal(own(plain));
      expect(asked.headers['vary']).to.equal('Origin');
    }
  });

  it('HEAD has no body, and the length of the answer as it is', async () => {
    const { headers, bytes } = await get('/large', 'gzip', 'HEAD');
    expect([bytes.length, headers['content-length'], headers['content-encoding'], headers['vary']]).to.deep.equal([
      0,
      String(LARGE.length),
      undefined,
      VARY,
    ]);
  });

  it('a stream is whole', async () => {
    const { headers, bytes } = await get('/many', 'gzip');
    expect([headers['content-encoding'], headers['content-type']]).to.deep.equal(['gzip', 'application/x-ndjson; charset=utf-8']);
    const all = String(gunzipSync(bytes)).trim().split('\n');
    expect([all.length, all[0], all.at(-1)]).to.deep.equal([5000, '{"n":0}', '{"n":4999}']);
    expect(bytes.length).to.be.below(30_000);
  });

  for (const coding of CODINGS)
    it(`each line of a stream arrives before the next one is found, and its end ends it: ${coding}`, async () => {
      let text = '';
      let ended = false;
      const request = http.get(`${host.url}/lines`, { agent: false, headers: { Authorization: 'Bearer all', 'Accept-Encoding': coding } });
      request.on('response', (response) => {
        const plain = response.pipe(DECODERS[coding]());
        plain.on('data', (part: Buffer) => (text += part.toString())).on('end', () => (ended = true));
      });
      for (const line of ['one\n', 'two\n', `${'three'.repeat(100_000)}\n`]) {
        const before = text;
        lines.push(line);
        await eventually('the line', () => text, (got) => got === before + line); // prettier-ignore
      }
      lines.push(null);
      await eventually('the end', () => ended, Boolean);
    });

  it('a client that leaves ends the stream, and what compresses it', async () => {
    let got = 0;
    const request = http.get(`${host.url}/lines`, { agent: false, headers: { Authorization: 'Bearer all', 'Accept-Encoding': 'gzip' } });
    request.on('error', () => undefined).on('response', (response) => response.on('data', (part: Buffer) => (got += part.length)));
    lines.push('one\n');
    await eventually('the first line', () => got, (bytes) => bytes > 0); // prettier-ignore
    request.destroy();
    const own = lines;
    // noticed at the next line at the latest; what waits for more is told by its signal
    await eventually('the end', () => (own.push('more\n'), own.isEnded), Boolean);
  });

  it('go as the client takes them, beside others', async () => {
    const all = await Promise.all(Array.from({ length: 6 }, () => get('/noise', 'gzip')));
    expect(all.map(({ bytes }) => gunzipSync(bytes).length)).to.deep.equal(Array.from({ length: 6 }, () => NOISE));
  });
});

describe('the compression of answers', () => {
  it('has bounds: what comes beyond is not compressed', async () => {
    const compression = new AnswerCompression({ maxCoders: 2, maxBodyBytes: 1_000_000 });
    const body = Buffer.alloc(900_000, 'x');
    const [first, second] = await Promise.all([compression.body(body, 'gzip', NEVER), compression.body(body, 'gzip', NEVER)]);
    expect([first?.equals(Buffer.alloc(0)), second]).to.deep.equal([false, null]);
    expect(gunzipSync(first as Buffer).equals(body)).to.equal(true);
    // one alone may be of any size
    expect(await compression.body(Buffer.alloc(3_000_000), 'gzip', NEVER)).to.be.instanceOf(Buffer);
    await eventually('both ended', () => compression.running, (running) => running === 0); // prettier-ignore
    const streams = [compression.stream('gzip'), compression.stream('gzip'), compression.stream('gzip')];
    expect(streams.map((one) => one !== null)).to.deep.equal([true, true, false]);
    expect(await compression.body(body, 'gzip', NEVER)).to.equal(null);
    for (const one of streams) one?.coder.destroy();
    await eventually('both ended', () => compression.running, (running) => running === 0); // prettier-ignore
  });

  it('ends with the signal', async () => {
    const compression = new AnswerCompression();
    const leave = new AbortController();
    const coded = compression.body(randomBytes(30_000_000), 'gzip', leave.signal).then(
      () => 'whole',
      () => 'ended',
    );
    leave.abort();
    expect(await coded).to.equal('ended');
    await eventually('it ended', () => compression.running, (running) => running === 0); // prettier-ignore
  });

  it('compresses a body that is the same for every request once, and again where the memory budget was used up', async () => {
    const bytes = Buffer.from(LARGE);
    const compression = new AnswerCompression({ maxCoders: 1 });
    const both = await Promise.all([compression.constantBody(bytes, 'gzip'), compression.constantBody(bytes, 'zstd')]);
    expect(await decoded(both[0] as Buffer, 'gzip')).to.equal(LARGE);
    expect(both[1]).to.equal(null);
    await eventually(
      'the end of the coder',
      () => compression.running,
      (running) => running === 0,
    );
    expect(await compression.constantBody(bytes, 'gzip')).to.equal(both[0]);
    expect(compression.running).to.equal(0);
    expect(await decoded((await compression.constantBody(bytes, 'zstd')) as Buffer, 'zstd')).to.equal(LARGE);
  });
});
