import { createRequire } from 'node:module';
import path from 'node:path';
import { createClient } from '@clickhouse/client';
import Router from '@koa/router';
import { RouteTable } from '../../api/http/route-table.ts';
import { snappyCodec } from '../../pipeline/bus/connection/snappy-codec.ts';
import { inflateLz4 } from '../../pipeline/compression/lz4.ts';
import { inflateSnappy } from '../../pipeline/compression/snappy.ts';
import type { Param } from '../../pipeline/core/sql.ts';
import type { Draft } from '../../pipeline/logs/draft.ts';
import { putValue, type Value } from '../../pipeline/logs/values.ts';
import { EntryCodec, EntryWriter } from '../../pipeline/logs/writer.ts';
import { normalizers } from '../../pipeline/normalizers/index.ts';
import { PARSED, SelectClient } from '../../pipeline/store/select.ts';
import { pack } from '../../test/pipeline/normalizers/pack.ts';
import { LogsqlStore } from '../../test/e2e/logsql-store.ts';
import { wireBodies } from '../wire/bodies.ts';
import { benchLogs } from '../wire/logs.ts';

/** Runs a piece of work of so many units. `wall`: its wall time counts, in ms, not its CPU. */
export type Work = { readonly run: () => unknown; readonly units: number; readonly finish?: () => unknown; readonly wall?: boolean };
type Side = 'own' | 'library';

const require = createRequire(path.join(import.meta.dirname, '../../.bench/libraries/package.json'));
const COUNT = 2000;
const now = Date.now();
const receivedAt = BigInt(now) * 1_000_000n;
const logs = benchLogs(COUNT, now);
const codec = new EntryCodec();
const MOST = 64 * 1024 * 1024;
const tooLarge = (): never => {
  throw new Error('too large');
};

const writerOf = (use: EntryCodec, body: Buffer): EntryWriter =>
  new EntryWriter(use, { tenantId: 1, partitions: [0, 1], retentionDays: 14, receivedAt, streamFields: null }, body.length);

function taken(writer: EntryWriter): void {
  if (writer.accepted !== COUNT) throw new Error(`took ${String(writer.accepted)}: ${JSON.stringify(writer.rejected.first[0])}`);
  for (const chunk of writer.chunks()) chunk.discard();
}

/** Each member of an object that a library has made goes into the draft, which makes the same row of it. */
function putObject(draft: Draft, entry: object): void {
  for (const [name, value] of Object.entries(entry)) putValue(draft, draft.names.of(name), value as Value);
}

const lines = logs.map((log) => ({
  ...{ _time: new Date(log.ms).toISOString(), _msg: log.message, service: log.service, host: log.host, env: log.env, level: log.level },
  ...{ status: log.status, duration_ms: log.durationMs, user_id: log.userId, trace_id: log.traceId, ip: log.ip },
}));

function json(use: EntryCodec, side: Side): Work {
  const body = Buffer.from(lines.map((line) => `${JSON.stringify(line)}\n`).join(''));
  const own = (writer: EntryWriter, at: number, end: number): void => {
    writer.object(body, at, end);
  };
  const library = (writer: EntryWriter, at: number, end: number): void => {
    putObject(writer.begin(body, at, end), JSON.parse(body.toString('utf8', at, end)) as object);
    writer.end();
  };
  const take = side === 'own' ? own : library;
  return {
    units: COUNT,
    run: () => {
      const writer = writerOf(use, body);
      for (let at = 0; at < body.length;) {
        const end = body.indexOf(10, at);
        take(writer, at, end);
        at = end + 1;
      }
      taken(writer);
    },
  };
}

/** Fluent Bit's records, `[time, record]`, one after the other. */
function messagePack(side: Side): Work {
  const body = Buffer.concat(
    lines.map(({ _time, ...fields }, i) => pack([Math.floor(Date.parse(_time) / 1000) + i / COUNT, new Map(Object.entries(fields))])),
  );
  const format = normalizers.find('fluent');
  const { decodeMulti } = require('@msgpack/msgpack') as { decodeMulti: (bytes: Buffer, options: object) => Generator };
  const request = {
    ...{ path: '/api/v1/fluent', contentType: 'application/msgpack', query: new URLSearchParams(), header: () => '' },
    ...{ body, maxBytes: 8 * 1024 * 1024, receivedAt },
  };
  const library = (writer: EntryWriter): void => {
    for (const value of decodeMulti(body, { useBigInt64: true })) {
      const [time, record] = value as [number, object];
      const draft = writer.begin(body);
      writer.timeIs(Math.floor(time), Math.round((time % 1) * 1e9));
      putObject(draft, record);
      writer.end('');
    }
  };
  const read = side === 'own' ? (writer: EntryWriter) => format?.normalize(request, writer) : library;
  return {
    units: COUNT,
    run: () => {
      const writer = writerOf(codec, body);
      read(writer);
      taken(writer);
    },
  };
}

/** The rows of a record, as they are before Kafka compresses them. */
function record(): Buffer {
  const body = Buffer.from(lines.map((line) => `${JSON.stringify(line)}\n`).join(''));
  const writer = writerOf(codec, body);
  for (let at = 0; at < body.length;) {
    const end = body.indexOf(10, at);
    writer.object(body, at, end);
    at = end + 1;
  }
  return Buffer.concat(writer.chunks().map((chunk) => Buffer.from(chunk.encode().value)));
}

function snappyBody(side: Side): Work {
  const { compress, uncompress } = require('snappyjs') as Record<'compress' | 'uncompress', (bytes: Buffer) => Buffer>;
  const loki = wireBodies(logs).find(({ label }) => label.startsWith('Loki') && label.includes('protobuf'));
  const packed = compress(loki?.body ?? Buffer.alloc(0));
  return { units: COUNT, run: side === 'own' ? () => inflateSnappy(packed, MOST, tooLarge) : () => uncompress(packed) };
}

async function snappyBatch(side: Side): Promise<Work> {
  type Codec = { compress(encoder: { buffer: Buffer }): Promise<Buffer>; decompress(buffer: Buffer): Promise<Buffer> };
  const library = (require('kafkajs-snappy') as () => Codec)();
  const packed = await library.compress({ buffer: record() });
  const use = side === 'own' ? snappyCodec : library;
  return { units: COUNT, run: () => use.decompress(packed) };
}

function lz4(side: Side): Work {
  type Library = { compress(bytes: Uint8Array): Uint8Array; decompress(bytes: Uint8Array): Uint8Array };
  const library = require('lz4js') as Library;
  const packed = Buffer.from(library.compress(record()));
  return { units: COUNT, run: side === 'own' ? () => inflateLz4(packed, MOST, tooLarge) : () => library.decompress(packed) };
}

function routes(side: Side): Work {
  const paths = normalizers.members.flatMap((one) => one.paths);
  const table = new RouteTable<string>();
  const router = new Router({ sensitive: true, strict: true });
  for (const one of paths) {
    table.add(['POST'], one, one);
    router.register(one.replace(/\{(\w+)\}/g, ':$1').replace(/\*$/, '{*rest}'), [], () => undefined, { name: one });
  }
  const asked = ['/api/v1/ingest', '/loki/api/v1/push', '/v1/logs', '/_bulk', '/services/collector/event'];
  const find = side === 'own' ? (one: string) => table.find(one) !== null : (one: string) => router.match(one, '').path.length > 0;
  if (!asked.every(find)) throw new Error('A path is not found.');
  return {
    units: asked.length * 100,
    run: () => {
      for (let i = 0; i < 100; i++) for (const one of asked) find(one);
    },
  };
}

async function select(side: Side): Promise<Work> {
  const store = await LogsqlStore.start();
  const { url, database, readerUser, readerPassword } = store.config;
  const text = 'SELECT number, toString(number) FROM numbers({count:UInt64})';
  const finish = (): Promise<void> => store.stop();
  if (side === 'own') {
    const client = new SelectClient({ url, database, user: readerUser, password: readerPassword });
    const statement = { text, params: new Map<string, Param>([['count', { type: 'UInt64', value: 10 }]]), settings: {} };
    return {
      ...{ units: 1, finish, wall: true },
      run: async () => {
        const asked = { ...statement, queryId: crypto.randomUUID() };
        for await (const rows of client.rows(client.path(asked, PARSED) ?? '', asked, PARSED))
          if (rows.length === 0) throw new Error('no rows');
      },
    };
  }
  const client = createClient({ url, database, username: readerUser, password: readerPassword });
  return {
    ...{ units: 1, finish, wall: true },
    run: async () => {
      const result = await client.query({
        query: text,
        query_params: { count: 10 },
        format: 'JSONCompactEachRow',
        query_id: crypto.randomUUID(),
      });
      for await (const rows of result.stream()) for (const row of rows) row.json();
    },
  };
}

/** What is to be measured of one side of a row. */
export async function prepare(row: string, side: Side): Promise<Work> {
  switch (row) {
    case 'JSON object to a row':
      return json(codec, side);
    case 'JSON object to a row, without the scanner':
      return json(new EntryCodec(null), side);
    case 'MessagePack':
      return messagePack(side);
    case 'snappy body':
      return snappyBody(side);
    case 'snappy batch':
      return await snappyBatch(side);
    case 'LZ4 batch':
      return lz4(side);
    case 'route table':
      return routes(side);
    case 'SELECT client':
      return await select(side);
    default:
      throw new Error(`There is no row ${row}.`);
  }
}
