import { expect } from 'chai';
import { EventEmitter } from 'node:events';
import type { Duplex } from 'node:stream';
import type { WebSocket } from 'ws';
import { BodiesInFlight } from '../../../api/http/bodies-in-flight.ts';
import { meterReceived } from '../../../api/live/sockets/receive-meter.ts';

describe('what is held of what a client sends', () => {
  let held: BodiesInFlight;
  let [now, ends]: [number, number[]] = [0, []];
  let [socket, connection]: [EventEmitter, EventEmitter] = [new EventEmitter(), new EventEmitter()];
  beforeEach(() => {
    [held, now, ends] = [new BodiesInFlight({ maxBytes: 40_000 }), 0, []];
    [socket, connection] = [new EventEmitter(), Object.assign(new EventEmitter(), { pause: () => undefined })];
    const close = ({ code }: { readonly code: number }): unknown => ends.push(code);
    meterReceived({ ...{ tenantId: 1, close }, socket: socket as WebSocket, connection: connection as Duplex }, held, () => now);
  });
  /** A piece of so many bytes, with which these frames became whole: a message, or a pong of so many bytes. */
  const piece = (bytes: number, ...whole: readonly ('message' | number)[]): void => {
    for (const one of whole) socket.emit(one === 'message' ? 'message' : 'pong', Buffer.alloc(one === 'message' ? 0 : one));
    connection.emit('data', Buffer.alloc(bytes));
  };

  it('is nothing of pongs, however long the client answers pings', () => {
    for (let round = 0; round < 10_000; round++, now += 20_000) piece(6 + (round % 3), round % 3);
    expect([held.bytes, ends]).to.deep.equal([0, []]);
  });

  it('is nothing of a pong that comes in two pieces', () => {
    for (let round = 0; round < 1000; round++, now += 20_000) {
      piece(2);
      expect(held.bytes).to.be.above(0);
      piece(4, 0);
      expect(held.bytes).to.equal(0);
    }
    expect(ends).to.deep.equal([]);
  });

  it('is the part of a message, also with a pong in between, until it is whole', () => {
    piece(1000);
    piece(6, 0);
    expect(held.bytes).to.be.within(1000, 1600);
    piece(500, 'message');
    expect(held.bytes).to.equal(0);
  });

  it('ends the connection where it is more than may be held', () => {
    held.enter(2).add(35_000);
    for (let count = 0; count < 100; count++) piece(1);
    expect(ends).to.deep.equal([1013]);
    socket.emit('close');
    expect(held.bytes).to.equal(35_000);
  });
});
