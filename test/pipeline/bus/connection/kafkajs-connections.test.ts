import { expect } from 'chai';
import { createRequire } from 'node:module';
import { kafkajs } from '../../../../pipeline/bus/connection/kafkajs.ts';

const require = createRequire(import.meta.url);

type Response = { readonly correlationId: number; readonly payload: Buffer };
type Queue = {
  pending: unknown[];
  throttledUntil: number;
  throttleCheckTimeoutId: NodeJS.Timeout | null;
  checkPendingRequests(): void;
  destroy(): void;
};
type Connection = { requestQueue: Queue & { fulfillRequest(response: Response): void }; processData(bytes: Buffer): void };

/** A connection of kafkajs that was never opened. */
function connection(): { readonly one: Connection; readonly responses: Response[] } {
  expect(kafkajs.Kafka).to.be.a('function');
  const logger = { namespace: () => logger, debug: () => undefined };
  const Made = require('kafkajs/src/network/connection.js') as new (options: object) => Connection;
  const one = new Made({ host: '127.0.0.1', port: 1, logger, requestTimeout: 1000, connectionTimeout: 1000 });
  const responses: Response[] = [];
  one.requestQueue.fulfillRequest = (response) => responses.push(response);
  return { one, responses };
}

/** The response with this number, and so many bytes. */
function response(number: number, length: number): Buffer {
  const bytes = Buffer.alloc(8 + length, number);
  bytes.writeInt32BE(4 + length, 0);
  bytes.writeInt32BE(number, 4);
  return bytes;
}

describe("kafkajs' connections", () => {
  it('do not copy responses that come whole', () => {
    const { one, responses } = connection();
    const sent = [response(1, 10), response(2, 100_000), response(3, 0)];
    for (const bytes of sent) one.processData(bytes);
    expect(responses.map(({ correlationId, payload }) => [correlationId, payload.length])).to.deep.equal([
      [1, 10],
      [2, 100_000],
      [3, 0],
    ]);
    for (const [index, { payload }] of responses.entries()) expect(payload.buffer).to.equal(sent[index]?.buffer);
  });

  it('put together what comes in pieces, as before', () => {
    const { one, responses } = connection();
    const sent = Buffer.concat([response(1, 10), response(2, 1000), response(3, 5)]);
    for (let at = 0; at < sent.length; at += 7) one.processData(sent.subarray(at, at + 7));
    expect(responses.map(({ correlationId, payload }) => [correlationId, payload.length])).to.deep.equal([
      [1, 10],
      [2, 1000],
      [3, 5],
    ]);
  });

  it('look for requests that wait only while any does', () => {
    const { requestQueue } = connection().one;
    requestQueue.checkPendingRequests();
    expect(requestQueue.throttleCheckTimeoutId).to.equal(null);
    requestQueue.throttledUntil = Date.now() + 60_000;
    requestQueue.pending.push({});
    requestQueue.checkPendingRequests();
    expect(requestQueue.throttleCheckTimeoutId).not.to.equal(null);
    requestQueue.destroy();
  });
});
