import { createRequire } from 'node:module';

/**
 * Exchanges two steps of kafkajs' connections, whose version is pinned:
 * - a response that comes whole, as `kafka-socket.ts` gives it, is not copied: kafkajs would put it behind the empty rest of the one before;
 * - requests that wait are looked for while any does: kafkajs does so every millisecond, on every connection, for ever.
 */
const require = createRequire(import.meta.url);

type Connection = { processData(data: Buffer): void; chunks: Buffer[]; bytesBuffered: number };
type RequestQueue = {
  scheduleCheckPendingRequests(): void;
  readonly pending: readonly unknown[];
};

const connection = (require('kafkajs/src/network/connection.js') as { readonly prototype: Connection }).prototype;
const processData: unknown = Reflect.get(connection, 'processData');
connection.processData = function (this: Connection, data: Buffer): void {
  if (this.bytesBuffered === 0) this.chunks = [];
  (processData as Connection['processData']).call(this, data);
};

const queue = (require('kafkajs/src/network/requestQueue/index.js') as { readonly prototype: RequestQueue }).prototype;
const schedule: unknown = Reflect.get(queue, 'scheduleCheckPendingRequests');
queue.scheduleCheckPendingRequests = function (this: RequestQueue): void {
  if (this.pending.length > 0) (schedule as () => void).call(this);
};
