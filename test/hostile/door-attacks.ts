import type { Socket } from 'node:net';
import type { Arena, SocketAttack } from './attack.ts';
import { frameWithKey } from './doors.ts';
import {
  CONTINUATION,
  DATA,
  END_HEADERS,
  exportHeaders,
  HEADERS,
  hpack,
  http2Frame,
  http2Start,
  messageStart,
  RST_STREAM,
} from './http2-bytes.ts';

const MIB = 1024 * 1024;
/** An address may have 64 connections of a door. */
const OF_ADDRESS = 60;

const door = (name: string, open: (arena: Arena) => void): SocketAttack => ({ name, kind: 'ingest', open });
const times = (count: number, work: (index: number) => void): void => {
  for (let index = 0; index < count; index++) work(index);
};
/** The loopback has 2^24 addresses; the quiet tenant's is another one. */
const address = (index: number): string => `127.0.1.${String((index % 200) + 1)}`;

/** Connections to the door of syslog from four addresses, to which bytes are written again and again. */
function flood(
  arena: Arena,
  { first = '', then, everyMs }: { first?: string; then: (index: number) => string | Buffer; everyMs: number },
): void {
  const sockets: Socket[] = [];
  times(4 * OF_ADDRESS, (index) => {
    const socket = arena.connect('syslog', { from: address(index % 4) });
    socket.setNoDelay(true);
    socket.write(first);
    sockets.push(socket);
  });
  arena.every(everyMs, () => {
    for (const [index, socket] of sockets.entries()) if (!socket.destroyed && socket.writableLength < MIB) socket.write(then(index));
  });
}

/** Connections that are opened anew, so many each time. */
function again(arena: Arena, host: 'syslog' | 'otlp', count: number, { bytes, lifeMs }: { bytes: string | Buffer; lifeMs: number }): void {
  let opened = 0;
  const open = (): void => {
    times(count, () => arena.connect(host, { lifeMs, from: address(opened++) }).write(bytes));
  };
  open();
  arena.every(lifeMs, open);
}

const line = 'x'.repeat(65_536);

/** What strangers and a tenant do at the doors. */
export const DOOR_ATTACKS: readonly SocketAttack[] = [
  // connections that say nothing, from many addresses: ten thousand in five seconds
  door('door-connections', (arena) => {
    let opened = 0;
    arena.every(50, () => {
      times(100, () => arena.connect('syslog', { from: address(opened++) }));
    });
  }),
  door('door-new-connections', (arena) => {
    again(arena, 'syslog', 100, { bytes: frameWithKey(arena.target.key, 'bad', 'hello'), lifeMs: 100 });
  }),
  door('door-unknown-keys', (arena) => {
    again(arena, 'syslog', 100, { bytes: frameWithKey('not-a-key_0123456789', 'bad', 'hello').repeat(100), lifeMs: 100 });
  }),

  // frames that do not end
  door('door-slow-bytes', (arena) => {
    flood(arena, { first: `<13>${line.slice(0, 60_000)}`, then: () => 'x', everyMs: 5 });
  }),
  door('door-octet-counts', (arena) => {
    const counts = ['2147483648', '99999999', '65536', '00000000'];
    flood(arena, { then: (index) => `${counts[index % counts.length] ?? ''} <13>${line}`, everyMs: 20 });
  }),
  door('door-endless-lines', (arena) => {
    flood(arena, { first: '<13>', then: () => line, everyMs: 20 });
  }),
  door('door-frames', (arena) => {
    const frames = frameWithKey(arena.target.key, 'bad', 'a frame of many').repeat(600);
    flood(arena, { then: () => frames, everyMs: 20 });
  }),

  // gRPC
  door('grpc-resets', (arena) => {
    const headers = exportHeaders(arena.target.key);
    const cancel = Buffer.from([0, 0, 0, 8]);
    const streams = Array.from({ length: 2000 }, (_none, index) => [
      http2Frame(HEADERS, END_HEADERS, 2 * index + 1, headers),
      http2Frame(RST_STREAM, 0, 2 * index + 1, cancel),
    ]);
    again(arena, 'otlp', 20, { bytes: Buffer.concat([http2Start(), ...streams.flat()]), lifeMs: 200 });
  }),
  door('grpc-headers', (arena) => {
    const part = hpack(Array.from({ length: 100 }, (_none, index) => [`x-${String(index)}`, 'v'.repeat(150)] as const)).subarray(0, 16_384);
    const whole = Array.from({ length: 60 }, (_none, index) =>
      http2Frame(HEADERS, END_HEADERS, 2 * index + 1, exportHeaders(arena.target.key, [['x', 'v'.repeat(16_000)]])),
    );
    const endless = [http2Frame(HEADERS, 0, 1, part), ...Array.from({ length: 200 }, () => http2Frame(CONTINUATION, 0, 1, part))];
    again(arena, 'otlp', 10, { bytes: Buffer.concat([http2Start(), ...whole]), lifeMs: 200 });
    again(arena, 'otlp', 10, { bytes: Buffer.concat([http2Start(), ...endless]), lifeMs: 200 });
  }),
  door('grpc-long-messages', (arena) => {
    const lengths = [2_000_000, 0xffff_ffff, 1_000_000_000];
    const headers = exportHeaders(arena.target.key);
    const sockets: Socket[] = [];
    times(2 * OF_ADDRESS, (index) => {
      const socket = arena.connect('otlp', { from: address(index % 2) });
      socket.write(http2Start());
      times(32, (call) => {
        socket.write(http2Frame(HEADERS, END_HEADERS, 2 * call + 1, headers));
        socket.write(http2Frame(DATA, 0, 2 * call + 1, messageStart(lengths[call % lengths.length] ?? 0)));
      });
      sockets.push(socket);
    });
    arena.every(100, () => {
      for (const socket of sockets)
        if (!socket.destroyed && socket.writableLength < MIB)
          times(32, (call) => socket.write(http2Frame(DATA, 0, 2 * call + 1, Buffer.from('x'))));
    });
  }),
];
