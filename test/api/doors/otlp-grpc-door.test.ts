import { Client, credentials, Metadata, status as Status, type ServiceError } from '@grpc/grpc-js';
import { expect } from 'chai';
import { mkdtempSync, readFileSync, rmSync, copyFileSync } from 'node:fs';
import { connect } from 'node:http2';
import os from 'node:os';
import path from 'node:path';
import { gzipSync } from 'node:zlib';
import { HttpError } from '../../../pipeline/core/errors.ts';
import type { OtlpGrpcDoor } from '../../../api/doors/doors-file.ts';
import { OtlpGrpcListener } from '../../../api/doors/otlp-grpc-door.ts';
import { ListenerTls } from '../../../api/http/listener-tls.ts';
import { Authority } from '../../e2e/certificates.ts';
import { doorWorld, type DoorWorld } from '../../fakes/door-world.ts';
import { otlpRecord } from '../../fakes/otlp-record.ts';
import { eventually } from '../../fakes/eventually.ts';

const LOGS = '/opentelemetry.proto.collector.logs.v1.LogsService/Export';
const asIs = (bytes: Buffer): Buffer => bytes;
describe('the door of OTLP over gRPC', () => {
  const folder = mkdtempSync(path.join(os.tmpdir(), 'logweir-grpc-'));
  after(() => rmSync(folder, { recursive: true }));
  let world: DoorWorld;
  let door: OtlpGrpcListener;
  const clients: Client[] = [];
  const open = async (
    change: Partial<OtlpGrpcDoor> = {},
    more: { readonly tls?: ListenerTls; readonly messageMs?: number; readonly limits?: Parameters<typeof doorWorld>[0] } = {},
  ): Promise<void> => {
    const { limits, tls = null, ...options } = more;
    world = doorWorld(limits);
    const own: OtlpGrpcDoor = {
      ...{ name: 'otlp', kind: 'otlp_grpc', host: '127.0.0.1', port: 0, key: null, parameters: {} },
      ...{ tls: null, clients: [], maxConnections: 50, maxConnectionsOfAddress: 50, maxConnectionsOfTenant: 50, ...change },
    };
    door = new OtlpGrpcListener({ ...world.context, door: own, tls, ...options });
    await door.start();
  };
  const dial = (how = credentials.createInsecure(), options = {}): Client => {
    const client = new Client(`127.0.0.1:${String(door.port)}`, how, options);
    clients.push(client);
    return client;
  };
  const call = (client: Client, body: Buffer, key: string | null = 'one', method = LOGS): Promise<Buffer | ServiceError> =>
    new Promise((resolve) => {
      const metadata = new Metadata();
      if (key !== null) metadata.set('authorization', `Bearer ${key}`);
      client.makeUnaryRequest(method, asIs, asIs, body, metadata, (error, answer) => resolve(error ?? answer ?? Buffer.alloc(0)));
    });
  afterEach(async () => {
    for (const client of clients.splice(0)) client.close();
    await door.stop();
  });

  it('answers once what came is published, with the key of the call', async () => {
    await open();
    const answer = await call(dial(), otlpRecord('hello'));
    expect(answer).to.deep.equal(Buffer.alloc(0));
    expect(world.published()).to.deep.equal(['1 hello']);
    await call(dial(), otlpRecord('of two'), 'two');
    expect(world.published()[1]).to.equal('2 of two');
  });

  it('reads what is compressed, and refuses what would be too large then', async () => {
    await open();
    const gzip = { 'grpc.default_compression_algorithm': 2 };
    expect(await call(dial(undefined, gzip), otlpRecord('packed '.repeat(100)))).to.deep.equal(Buffer.alloc(0));
    const bomb = await call(dial(undefined, gzip), otlpRecord('x'.repeat(3_000_000)));
    expect(bomb).to.include({ code: Status.RESOURCE_EXHAUSTED });
    expect((bomb as ServiceError).metadata.get('grpc-status-details-bin')).to.deep.equal([]);
    const large = await call(dial(), otlpRecord('x'.repeat(3_000_000)));
    expect(large).to.include({ code: Status.RESOURCE_EXHAUSTED });
    expect(world.published()).to.have.length(1);
  });

  it('refuses calls without a key, with one that is not known, or that may not send', async () => {
    await open();
    expect(await call(dial(), otlpRecord('a'), null)).to.include({ code: Status.UNAUTHENTICATED });
    expect(await call(dial(), otlpRecord('a'), 'unknown')).to.include({ code: Status.PERMISSION_DENIED });
    expect(await call(dial(), otlpRecord('a'), 'reader')).to.include({ code: Status.PERMISSION_DENIED });
    expect(world.rejections.of(3)[0]).to.include({ status: 403, path: 'otlp_grpc:otlp' });
    expect(await call(dial(), otlpRecord('a'), 'one', '/some.other.Service/Export')).to.include({ code: Status.UNIMPLEMENTED });
    expect(world.published()).to.deep.equal([]);
  });

  it('refuses for a while with RetryInfo', async () => {
    const limit = {
      name: 'never',
      admit: () => {
        throw new HttpError(429, 'rate_limited', 'Later.', { retryAfter: 7 });
      },
    };
    await open({}, { limits: [limit] });
    const error = (await call(dial(), otlpRecord('a'))) as ServiceError;
    expect(error).to.include({ code: Status.RESOURCE_EXHAUSTED, details: 'Later.' });
    const [details] = error.metadata.get('grpc-status-details-bin');
    expect((details as Buffer).toString('latin1')).to.include('type.googleapis.com/google.rpc.RetryInfo');
    expect((details as Buffer).subarray(-6)).to.deep.equal(Buffer.from([0x12, 4, 0x0a, 2, 0x08, 7]));
    expect(error.metadata.get('google.rpc.retryinfo-bin')).to.deep.equal([Buffer.from([0x0a, 2, 0x08, 7])]);
    expect(world.rejections.of(1)[0]).to.include({ status: 429, format: 'otlp_logs' });
    expect(world.refused(1)[0]).to.include({ signal: 'logs', status: 429, error: 'rate_limited', requests: 1 });
  });

  it('has no more connections of a tenant than it may, and tells the others to try again', async () => {
    await open({ maxConnectionsOfTenant: 1 });
    const own = { 'grpc.use_local_subchannel_pool': 1 };
    const [first, second] = [dial(undefined, own), dial(undefined, own)];
    expect(await call(first, otlpRecord('a'))).to.deep.equal(Buffer.alloc(0));
    expect(await call(first, otlpRecord('of another'), 'two'), 'it stays that of the first').to.deep.equal(Buffer.alloc(0));
    const error = (await call(second, otlpRecord('b'))) as ServiceError;
    expect(error).to.include({ code: Status.RESOURCE_EXHAUSTED });
    expect(error.metadata.get('grpc-status-details-bin')).to.have.length(1);
    expect(world.rejections.of(1)[0]).to.include({ status: 429, path: 'otlp_grpc:otlp' });
    expect(await call(second, otlpRecord('c'), 'two')).to.deep.equal(Buffer.alloc(0));
  });

  it('refuses bytes that are no protobuf of OTLP, and goes on', async () => {
    await open();
    const client = dial();
    for (const body of [Buffer.from([0x0a, 0xff]), Buffer.alloc(100, 0xff), otlpRecord('x').subarray(0, 5)])
      expect(await call(client, body), body.toString('hex')).to.include({ code: Status.INVALID_ARGUMENT });
    expect(world.rejections.of(1)[0]).to.include({ status: 400 });
    expect(await call(client, otlpRecord('after'))).to.deep.equal(Buffer.alloc(0));
  });

  it('ends a call whose message does not come, and does not keep what it was counted for', async () => {
    await open({ key: 'one' }, { messageMs: 50 });
    const session = connect(`http://127.0.0.1:${String(door.port)}`);
    const headers = { ':method': 'POST', ':path': LOGS, 'content-type': 'application/grpc', te: 'trailers' };
    const streams = Array.from({ length: 20 }, () => session.request(headers));
    const codes: unknown[] = [];
    for (const stream of streams) {
      stream.on('response', (answer) => codes.push(answer['grpc-status']));
      stream.on('error', () => undefined);
      stream.write(Buffer.from([0, 0, 0, 1]));
    }
    await eventually(
      'all answers',
      () => codes,
      ({ length }) => length === streams.length,
    );
    // a quarter of 128 MiB is 16 messages of 2 MiB; those above were refused at once
    const count = (code: Status): number => codes.filter((one) => String(one) === String(code)).length;
    expect(count(Status.RESOURCE_EXHAUSTED) + count(Status.DEADLINE_EXCEEDED)).to.equal(streams.length);
    expect(count(Status.RESOURCE_EXHAUSTED)).to.be.above(0);
    expect(count(Status.DEADLINE_EXCEEDED)).to.be.above(0);
    session.destroy();
    expect(await call(dial(), otlpRecord('after'), null)).to.deep.equal(Buffer.alloc(0));
  });

  it('survives what is no gRPC', async () => {
    await open();
    const session = connect(`http://127.0.0.1:${String(door.port)}`);
    session.on('error', () => undefined);
    const statuses: unknown[] = [];
    for (const headers of [
      { ':method': 'GET', ':path': '/' },
      { ':method': 'POST', ':path': LOGS, 'content-type': 'text/plain' },
    ]) {
      const stream = session.request(headers);
      stream.on('response', (answer) => statuses.push(answer[':status']));
      stream.on('error', () => undefined).end();
    }
    await eventually(
      'answers',
      () => statuses,
      ({ length }) => length === 2,
    );
    expect(statuses).to.satisfy((all: number[]) => all.every((one) => one >= 400));
    session.destroy();
    const raw = await import('node:net').then(({ connect: dialRaw }) => dialRaw(door.port, '127.0.0.1'));
    raw.on('error', () => undefined).end(Buffer.concat([Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'), gzipSync(Buffer.alloc(10_000))]));
    expect(await call(dial(), otlpRecord('after'))).to.deep.equal(Buffer.alloc(0));
    raw.destroy();
  });

  it('knows clients by their certificates, and takes a new certificate of its own without a restart', async () => {
    const authority = new Authority(path.join(folder, 'ca'));
    const own = authority.issue('localhost');
    const later = authority.issue('localhost-later');
    const client = authority.issue('web-1');
    const [cert, key] = [path.join(folder, 'own.crt'), path.join(folder, 'own.key')];
    copyFileSync(own.cert, cert);
    copyFileSync(own.key, key);
    const tls = new ListenerTls({ certFile: cert, keyFile: key, caFile: authority.ca, name: 'the door', log: doorWorld().context.log });
    await open({ clients: [{ name: 'web-1', key: 'two' }] }, { tls });
    const files = [authority.ca, client.key, client.cert].map((file) => readFileSync(file)) as [Buffer, Buffer, Buffer];
    const named = (name: string) => ({ 'grpc.ssl_target_name_override': name });
    expect(await call(dial(credentials.createSsl(...files), named('localhost')), otlpRecord('by certificate'), null)).to.deep.equal(
      Buffer.alloc(0),
    );
    expect(world.published()).to.deep.equal(['2 by certificate']);
    const stranger = await call(dial(credentials.createSsl(files[0]), named('localhost')), otlpRecord('x'), null);
    expect(stranger).to.include({ code: Status.UNAVAILABLE });
    copyFileSync(later.cert, cert);
    tls.look();
    expect(await call(dial(credentials.createSsl(...files), named('localhost')), otlpRecord('half'), null), 'half a change').to.deep.equal(
      Buffer.alloc(0),
    );
    copyFileSync(later.key, key);
    tls.look();
    expect(await call(dial(credentials.createSsl(...files), named('localhost-later')), otlpRecord('new'), null)).to.deep.equal(
      Buffer.alloc(0),
    );
    expect(world.published()).to.deep.equal(['2 by certificate', '2 half', '2 new']);
  });
});
