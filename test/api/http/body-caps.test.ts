import { expect } from 'chai';
import { gzipSync } from 'node:zlib';
import { compress } from 'snappyjs';
import { appHostEndpoints, ingestHostEndpoints } from '../../../api/http/host-lists.ts';
import { ingestEndpoints } from '../../../api/ingest/ingest-endpoints.ts';
import { loadConfig } from '../../../pipeline/core/config.ts';
import { crc32c } from '../../../pipeline/compression/crc32c.ts';
import { Metrics } from '../../../pipeline/core/metrics.ts';
import { FakeLogPublisher } from '../../fakes/log-publisher.ts';
import { linesFormat } from '../../fakes/normalizers.ts';
import { startHost } from '../../fakes/test-host.ts';

/** The cap of a deployment with this `LOGWEIR_MAX_BODY_SIZE_MB`. */
function capOf(megabytes: string | undefined): number {
  const env = { LOGWEIR_KEY_PEPPER: 'a pepper for the tests', ...(megabytes === undefined ? {} : { LOGWEIR_MAX_BODY_SIZE_MB: megabytes }) };
  return loadConfig({ LOGWEIR_KAFKA_BROKERS: 'k:1', LOGWEIR_CLICKHOUSE_URL: 'http://c', ...env }).http.maxBodyBytes;
}

const littleEndian = (value: number, bytes: number): Buffer => {
  const buffer = Buffer.alloc(bytes);
  buffer.writeUIntLE(value, 0, bytes);
  return buffer;
};

/** A text as literals of a snappy block alone: 5 bytes more than the text, and its length. */
function snappyLiterals(text: Buffer): Buffer {
  const size: number[] = [];
  for (let rest = text.length; ; rest = Math.floor(rest / 128)) {
    size.push(rest < 128 ? rest : (rest % 128) + 128);
    if (rest < 128) break;
  }
  return Buffer.concat([Buffer.from(size), Buffer.from([63 << 2]), littleEndian(text.length - 1, 4), text]);
}

const snappyChunk = (type: number, content: Buffer): Buffer =>
  Buffer.concat([Buffer.from([type]), littleEndian(content.length, 3), content]);
const IDENTIFIER = Buffer.from('ff060000734e61507059', 'hex');

/** The framing format: chunks of 64 KiB, compressed or not. */
function snappyFramed(text: Buffer, compressed: boolean): Buffer {
  const parts: Buffer[] = [IDENTIFIER];
  for (let at = 0; at < text.length; at += 65_536) {
    const part = text.subarray(at, at + 65_536);
    const crc = crc32c(part);
    const masked = littleEndian((((crc >>> 15) | (crc << 17)) + 0xa282ead8) >>> 0, 4);
    parts.push(snappyChunk(compressed ? 0 : 1, Buffer.concat([masked, compressed ? compress(part) : part])));
  }
  return Buffer.concat(parts);
}

/** A zstd frame of blocks that repeat one byte, or of raw blocks; without a content size, as a streaming encoder writes it. */
function zstd(text: Buffer, repeated: boolean): Buffer {
  const parts: Buffer[] = [Buffer.from([0x28, 0xb5, 0x2f, 0xfd, 0x00, 0x58])];
  for (let at = 0; at < text.length; at += 131_072) {
    const part = text.subarray(at, at + 131_072);
    const isLast = at + 131_072 >= text.length;
    parts.push(littleEndian((part.length << 3) | (repeated ? 2 : 0) | (isLast ? 1 : 0), 3), repeated ? part.subarray(0, 1) : part);
  }
  return Buffer.concat(parts);
}

const zeros = (size: number): Buffer => Buffer.alloc(size, 97);

/** The same bodies go to each host, with their length and in chunks: each is made once. */
const madeOnce = (makers: Readonly<Record<string, (size: number) => Buffer>>): typeof makers => {
  const made = new Map<string, Buffer>();
  const once =
    (coding: string, make: (size: number) => Buffer) =>
    (size: number): Buffer => {
      const key = `${coding} ${String(size)}`;
      const body = made.get(key) ?? make(size);
      made.set(key, body);
      return body;
    };
  return Object.fromEntries(Object.entries(makers).map(([coding, make]) => [coding, once(coding, make)]));
};

/** A compressed body of exactly this size on the wire, whose text is a little shorter. */
const WIRE = madeOnce({
  gzip: (size) => {
    // stored blocks: what comes on top of a text is about as much for one that is a little shorter
    const most = 2 * size - gzipSync(zeros(size), { level: 0 }).length + 100;
    for (let text = most; text > most - 1000; text--) {
      const body = gzipSync(zeros(text), { level: 0 });
      if (body.length === size) return body;
    }
    throw new Error('No text has this size.');
  },
  zstd: (size) => {
    const frame = zstd(zeros(1000), true);
    const padding = size - frame.length - 8;
    return Buffer.concat([frame, littleEndian(0x184d2a50, 4), littleEndian(padding, 4), Buffer.alloc(padding)]);
  },
  'snappy block': (size) => snappyLiterals(zeros(size - 8)),
  'snappy framed': (size) => {
    const stream = snappyFramed(zeros(1000), true);
    return Buffer.concat([stream, snappyChunk(0xfe, Buffer.alloc(size - stream.length - 4))]);
  },
});

/** A small body whose text has exactly this size. */
const INFLATED = madeOnce({
  gzip: (size) => gzipSync(zeros(size)),
  'gzip of two members': (size) => Buffer.concat([gzipSync(zeros(size - 1000)), gzipSync(zeros(1000))]),
  zstd: (size) => zstd(zeros(size), true),
  'snappy block': (size) => compress(zeros(size)),
  'snappy framed': (size) => snappyFramed(zeros(size), true),
});

type Answer = { readonly status: number; readonly type: string; readonly text: string; readonly id: string };

describe('caps of bodies on the logs paths', () => {
  it('max_body_size_mb is in binary megabytes, 2 unless set', () => {
    expect(capOf(undefined)).to.equal(2_097_152);
    expect(capOf('2')).to.equal(2_097_152);
    expect(capOf('0.25')).to.equal(262_144);
    expect(capOf('8')).to.equal(8_388_608);
    for (const bad of ['0', '-1', '65', 'two']) expect(() => capOf(bad), bad).to.throw();
  });

  for (const megabytes of ['2', '0.25']) {
    const cap = capOf(megabytes);
    for (const name of ['app', 'ingest'] as const) {
      describe(`${megabytes} MB on the ${name} host`, () => {
        let host: Awaited<ReturnType<typeof startHost>>;
        before(async () => {
          const endpoints = ingestEndpoints({
            normalizers: [linesFormat],
            publisher: new FakeLogPublisher(),
            limits: [],
            maxBodyBytes: cap,
            metrics: new Metrics('test'),
          });
          host = await startHost({ endpoints: name === 'app' ? appHostEndpoints(endpoints, []) : ingestHostEndpoints(endpoints, []) });
        });
        after(() => host.stop());

        /** With a Content-Length, or in chunks. */
        async function post(body: Buffer, coding: string | null, isChunked: boolean): Promise<Answer> {
          const response = await fetch(`${host.url}/lines`, {
            method: 'POST',
            headers: { authorization: 'Bearer all', ...(coding === null ? {} : { 'content-encoding': coding.split(' ')[0] ?? '' }) },
            ...(isChunked ? { body: new Blob([new Uint8Array(body)]).stream(), duplex: 'half' } : { body }),
          });
          const type = response.headers.get('content-type') ?? '';
          return { status: response.status, type, text: await response.text(), id: response.headers.get('x-request-id') ?? '' };
        }

        /** The 413 of the logs paths as JSON: both sizes in bytes. */
        function expectJson({ status, type, text, id }: Answer, received: RegExp): void {
          expect(status).to.equal(413);
          expect(type).to.equal('application/json; charset=utf-8');
          const body = JSON.parse(text) as Record<string, string>;
          expect(body).to.have.all.keys('error', 'detail', 'request_id');
          expect(body).to.include({ error: 'payload_too_large', request_id: id });
          expect(body['detail'])
            .to.match(received)
            .and.to.contain(`the cap is ${String(cap)} bytes`);
        }

        for (const isChunked of [false, true]) {
          const how = isChunked ? 'in chunks' : 'with its length';

          it(`uncompressed ${how}: the cap passes, one byte more is a 413 as plain text`, async () => {
            expect((await post(zeros(cap), null, isChunked)).status).to.equal(200);
            const { status, type, text, id } = await post(zeros(cap + 1), null, isChunked);
            expect(status).to.equal(413);
            expect(type).to.equal('text/plain; charset=utf-8');
            const received = isChunked ? `more than ${String(cap)}` : String(cap + 1);
            expect(text).to.equal(
              `The body has ${received} bytes; the cap is ${String(cap)} bytes. Send smaller batches. Operators raise the cap with LOGWEIR_MAX_BODY_SIZE_MB.\n`,
            );
            expect(id).to.match(/^[0-9a-f-]{36}$/);
          });

          for (const [coding, make] of Object.entries(WIRE)) {
            it(`${coding} ${how}: the cap as received passes, one byte more is a 413 as JSON`, async () => {
              const [fits, over] = [make(cap), make(cap + 1)];
              expect([fits.length, over.length]).to.deep.equal([cap, cap + 1]);
              const answer = await post(fits, coding, isChunked);
              expect(answer.status, answer.text).to.equal(200);
              expectJson(
                await post(over, coding, isChunked),
                new RegExp(`has ${isChunked ? `more than ${String(cap)}` : String(cap + 1)} bytes`),
              );
            });
          }

          for (const [coding, make] of Object.entries(INFLATED)) {
            it(`${coding} ${how}: the cap decompressed passes, one byte more is a 413 as JSON`, async () => {
              const answer = await post(make(cap), coding, isChunked);
              expect(answer.status, answer.text).to.equal(200);
              expectJson(
                await post(make(cap + 1), coding, isChunked),
                new RegExp(`has (?:more than ${String(cap)}|${String(cap + 1)}) bytes`),
              );
            });
          }
        }

        for (const coding of ['deflate', 'br', 'compress', 'zlib']) {
          it(`${coding} is refused by its name, whatever the body`, async () => {
            for (const body of [zeros(10), Buffer.alloc(0), gzipSync(zeros(10))]) {
              const { status, text } = await post(body, coding, false);
              expect(status).to.equal(400);
              expect(JSON.parse(text)).to.include({ error: 'unsupported_encoding' });
              expect((JSON.parse(text) as { detail: string }).detail).to.contain(`"${coding}"`);
            }
          });
        }
      });
    }
  }
});
