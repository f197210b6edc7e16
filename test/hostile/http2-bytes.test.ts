import { expect } from 'chai';
import { connect, type Socket } from 'node:net';
import { OtlpGrpcListener } from '../../api/doors/otlp-grpc-door.ts';
import { doorWorld, type DoorWorld } from '../fakes/door-world.ts';
import { eventually } from '../fakes/eventually.ts';
import { otlpRecord } from '../fakes/otlp-record.ts';
import {
  CONTINUATION,
  DATA,
  END_HEADERS,
  exportHeaders,
  HEADERS,
  http2Frame,
  http2Start,
  messageStart,
  RST_STREAM,
} from './http2-bytes.ts';

const END_STREAM = 0x01;

describe('the bytes of attacks by HTTP/2', () => {
  let world: DoorWorld;
  let door: OtlpGrpcListener;
  const sockets: Socket[] = [];
  beforeEach(async () => {
    world = doorWorld();
    const bounds = { maxConnections: 50, maxConnectionsOfAddress: 50, maxConnectionsOfTenant: 50 };
    door = new OtlpGrpcListener({
      ...world.context,
      door: { name: 'otlp', kind: 'otlp_grpc', host: '127.0.0.1', port: 0, key: null, parameters: {}, tls: null, clients: [], ...bounds },
      tls: null,
    });
    await door.start();
  });
  afterEach(async () => {
    for (const socket of sockets.splice(0)) socket.destroy();
    await door.stop();
  });
  const send = (...frames: readonly Buffer[]): { readonly isClosed: () => boolean } => {
    let isClosed = false;
    const socket = connect(door.port, '127.0.0.1');
    sockets.push(socket);
    socket.on('error', () => undefined).resume();
    socket.once('close', () => (isClosed = true));
    socket.write(Buffer.concat([http2Start(), ...frames]));
    return { isClosed: () => isClosed };
  };
  const call = (text: string, stream = 1): Buffer[] => {
    const message = otlpRecord(text);
    return [
      http2Frame(HEADERS, END_HEADERS, stream, exportHeaders('one', [['x', 'v'.repeat(300)]])),
      http2Frame(DATA, END_STREAM, stream, Buffer.concat([messageStart(message.length), message])),
    ];
  };
  const published = (count: number): Promise<string[]> => eventually('the messages', world.published, ({ length }) => length >= count);

  it('are calls as clients make them, with headers in parts too', async () => {
    send(...call('whole'));
    expect(await published(1)).to.deep.equal(['1 whole']);
    const [, data] = call('in parts') as [Buffer, Buffer];
    const headers = exportHeaders('two');
    send(http2Frame(HEADERS, 0, 1, headers.subarray(0, 40)), http2Frame(CONTINUATION, END_HEADERS, 1, headers.subarray(40)), data);
    expect((await published(2))[1]).to.equal('2 in parts');
  });

  it('end the connection where streams are begun and reset by the thousand, or headers do not end; others go on', async () => {
    const cancel = Buffer.from([0, 0, 0, 8]);
    const resets = Array.from({ length: 4000 }, (_, index) => [
      http2Frame(HEADERS, END_HEADERS, 2 * index + 1, exportHeaders('one')),
      http2Frame(RST_STREAM, 0, 2 * index + 1, cancel),
    ]);
    const reset = send(...resets.flat());
    const part = Buffer.alloc(16_384, 'x');
    const endless = send(http2Frame(HEADERS, 0, 1, part), ...Array.from({ length: 100 }, () => http2Frame(CONTINUATION, 0, 1, part)));
    await eventually(
      'both ends',
      () => [reset.isClosed(), endless.isClosed()],
      (all) => all.every(Boolean),
    );
    send(...call('afterwards'));
    expect(await published(1)).to.deep.equal(['1 afterwards']);
  });
});
