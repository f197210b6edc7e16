import { expect } from 'chai';
import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib';
import { logBody } from '../../../api/http/body.ts';
import type { Endpoint } from '../../../api/http/endpoint.ts';
import { compress } from 'snappyjs';
import { startHost } from '../../fakes/test-host.ts';

/** On the wire and decompressed. */
const CAP = 1000;
const TEXT = '{"a":1}';
const GZIP = gzipSync(TEXT);
const TAKEN = `200 ${TEXT}`;
/** A frame of Zstandard with the text as it is. */
const ZSTD = Buffer.concat([Buffer.from([0x28, 0xb5, 0x2f, 0xfd, 0x20, TEXT.length, (TEXT.length << 3) | 1, 0, 0]), Buffer.from(TEXT)]);
const OVER = /^413 .*1000/;

type Corner = {
  readonly about: string;
  /** Of the request; text/plain without one. */
  readonly type?: string | null;
  readonly coding?: string;
  readonly body: Buffer | string;
  /**
   * What koa-body 8.0.1 answers in a Koa app that returns the body, with the options that come nearest: every type is text, as bytes
   * (`textTypes` of all, `encoding: ''`), and `textLimit: 1000`. Recorded from a run.
   */
  readonly koaBody: string;
  /** The option by which it can be brought to our answer; null: none. */
  readonly closedBy: string | null;
  readonly ours: string | RegExp;
};

/** Where koa-body answers otherwise than we must (docs/adr/0005-own-readers.md). */
const CORNERS: readonly Corner[] = [
  {
    ...{ about: 'deflate, which no path offers', coding: 'deflate', body: deflateSync(TEXT) },
    ...{ koaBody: TAKEN, closedBy: null, ours: /^400 .*deflate/ },
  },
  {
    ...{ about: 'Brotli, which no path offers', coding: 'br', body: brotliCompressSync(TEXT) },
    ...{ koaBody: TAKEN, closedBy: null, ours: /^400 .*br/ },
  },
  {
    ...{ about: 'deflate that is said to be gzip', coding: 'gzip', body: deflateSync(TEXT) },
    ...{ koaBody: TAKEN, closedBy: null, ours: /^400 .*gzip/ },
  },
  { about: 'Zstandard', coding: 'zstd', body: ZSTD, koaBody: '415 Unsupported Media Type', closedBy: null, ours: TAKEN },
  {
    ...{ about: 'snappy', coding: 'snappy', body: Buffer.from(compress(Buffer.from(TEXT))) },
    ...{ koaBody: '415 Unsupported Media Type', closedBy: null, ours: TAKEN },
  },
  { about: 'gzip in capitals', coding: 'GZIP', body: GZIP, koaBody: '415 Unsupported Media Type', closedBy: null, ours: TAKEN },
  { about: 'gzip by its old name', coding: 'x-gzip', body: GZIP, koaBody: '415 Unsupported Media Type', closedBy: null, ours: TAKEN },
  { about: 'gzip and identity', coding: 'gzip, identity', body: GZIP, koaBody: '415 Unsupported Media Type', closedBy: null, ours: TAKEN },
  { about: 'identity in capitals', coding: 'Identity', body: TEXT, koaBody: '415 Unsupported Media Type', closedBy: null, ours: TAKEN },
  {
    ...{ about: '2.9 MB on the wire that give nothing: the limit counts what is decompressed', coding: 'gzip' },
    ...{ body: Buffer.concat(Array<Buffer>(147_000).fill(gzipSync(''))), koaBody: '200 ', closedBy: null, ours: OVER },
  },
  {
    ...{ about: 'NUL bytes behind the end of gzip', coding: 'gzip', body: Buffer.concat([GZIP, Buffer.alloc(100)]) },
    ...{ koaBody: TAKEN, closedBy: null, ours: /^400 .*something follows its end/ },
  },
  { about: 'a body of no type: it is not read', type: null, body: TEXT, koaBody: '200 undefined', closedBy: null, ours: TAKEN },
  {
    ...{ about: 'gzip that is none', coding: 'gzip', body: 'no gzip at all' },
    ...{ koaBody: '500 Internal Server Error', closedBy: 'onError', ours: /^400 .*gzip/ },
  },
  {
    ...{ about: 'gzip with another checksum', coding: 'gzip' },
    ...{ body: Buffer.concat([GZIP.subarray(0, -8), Buffer.from([1, 2, 3, 4]), GZIP.subarray(-4)]) },
    ...{ koaBody: '500 Internal Server Error', closedBy: 'onError', ours: /^400 .*gzip/ },
  },
  {
    ...{ about: 'gzip that is cut off', coding: 'gzip', body: GZIP.subarray(0, -6) },
    ...{ koaBody: '500 Internal Server Error', closedBy: 'onError', ours: /^400 .*gzip/ },
  },
  {
    ...{ about: 'text behind the end of gzip', coding: 'gzip', body: Buffer.concat([GZIP, Buffer.from('more')]) },
    ...{ koaBody: '500 Internal Server Error', closedBy: 'onError', ours: /^400 .*gzip/ },
  },
  {
    ...{ about: 'no bytes, said to be gzip', coding: 'gzip', body: '' },
    ...{ koaBody: '500 Internal Server Error', closedBy: 'onError', ours: /^400 .*gzip/ },
  },
  {
    ...{ about: 'two codings', coding: 'gzip, gzip', body: gzipSync(GZIP) },
    ...{ koaBody: '415 Unsupported Media Type', closedBy: 'onError', ours: /^400 .*gzip, gzip/ },
  },
];

/** Where koa-body with these options answers as we do: no reason to read bodies ourselves. */
const ALIKE: readonly Pick<Corner, 'about' | 'type' | 'coding' | 'body' | 'ours'>[] = [
  { about: 'gzip', coding: 'gzip', body: GZIP, ours: TAKEN },
  { about: 'JSON, as bytes', type: 'application/json', body: '{"__proto__":{"a":1}}', ours: '200 {"__proto__":{"a":1}}' },
  { about: 'JSON of any depth, as bytes', type: 'application/json', body: '['.repeat(400), ours: `200 ${'['.repeat(400)}` },
  { about: 'a form, as bytes', type: 'application/x-www-form-urlencoded', body: 'a=1&b.c=2', ours: '200 a=1&b.c=2' },
  { about: 'a multipart body, as bytes', type: 'multipart/form-data; boundary=X', body: '--X--', ours: '200 --X--' },
  { about: 'a type of no text', type: 'application/x-protobuf', body: Buffer.from([0, 255, 1]), ours: '200 \0\xff\x01' },
  { about: 'a charset, which changes nothing', type: 'text/plain; charset=utf-16le', body: 'a\0b\0', ours: '200 a\0b\0' },
  { about: 'no bytes', body: '', ours: '200 ' },
  { about: 'too many bytes', body: 'x'.repeat(CAP + 1), ours: OVER },
  { about: 'a bomb of 30 MB', coding: 'gzip', body: gzipSync(Buffer.alloc(30_000_000)), ours: OVER },
];

const ENDPOINT: Endpoint = {
  methods: ['POST'],
  path: '/body',
  errors: 'query',
  access: null,
  handle: async (exchange) => ({ status: 200, body: (await exchange.bytes(logBody(CAP))).toString('latin1') }),
};

describe('corners of koa-body', () => {
  let host: Awaited<ReturnType<typeof startHost>>;
  before(async () => {
    host = await startHost({ endpoints: [ENDPOINT] });
  });
  after(() => host.stop());

  async function answer({ type = 'text/plain', coding, body }: Pick<Corner, 'type' | 'coding' | 'body'>): Promise<string> {
    const headers = { ...(type === null ? {} : { 'Content-Type': type }), ...(coding === undefined ? {} : { 'Content-Encoding': coding }) };
    // a string would get a type of its own
    const response = await fetch(`${host.url}/body`, { method: 'POST', body: Buffer.from(body), headers });
    const text = await response.text();
    return `${String(response.status)} ${text}`;
  }

  for (const corner of CORNERS)
    it(`${corner.about}: ${corner.closedBy === null ? 'no option closes it' : `${corner.closedBy} closes it`}`, async () => {
      const ours = await answer(corner);
      if (typeof corner.ours === 'string') expect(ours).to.equal(corner.ours);
      else expect(ours).to.match(corner.ours);
      // else it is none
      expect(ours.slice(0, 3) === corner.koaBody.slice(0, 3) && ours === corner.koaBody).to.equal(false);
    });

  for (const same of ALIKE)
    it(`${same.about}: none`, async () => {
      const ours = await answer(same);
      if (typeof same.ours === 'string') expect(ours).to.equal(same.ours);
      else expect(ours).to.match(same.ours);
    });
});
