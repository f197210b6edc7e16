import net from 'node:net';

const METADATA = 3;
const VERSION = 2;
const CORRELATION_ID = 1;
const TIMEOUT_MS = 2000;

// A whole Metadata request (version 2) without topics: size, api key, version, correlation id, client id, topic count.
const REQUEST = Buffer.alloc(4 + 2 + 2 + 4 + 2 + 4);
REQUEST.writeInt32BE(REQUEST.length - 4, 0);
REQUEST.writeInt16BE(METADATA, 4);
REQUEST.writeInt16BE(VERSION, 6);
REQUEST.writeInt32BE(CORRELATION_ID, 8);
REQUEST.writeInt16BE(-1, 12); // no client id
REQUEST.writeInt32BE(0, 14);

/**
 * Whether a Kafka broker on 127.0.0.1:PORT takes requests and counts itself as alive. An open port is not enough:
 * until the controller has let the broker in, topics cannot be created; and the port may be another cluster's.
 * https://kafka.apache.org/protocol#The_Messages_Metadata
 */
export function answersMetadata(port: number, clusterId: string): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = net.connect(port, '127.0.0.1', () => socket.write(REQUEST));
    let answer = Buffer.alloc(0);
    const finish = (alive: boolean): void => {
      socket.destroy();
      resolve(alive);
    };
    socket.setTimeout(TIMEOUT_MS, () => finish(false));
    socket.on('error', () => finish(false));
    socket.on('close', () => finish(false));
    socket.on('data', (part: Buffer) => {
      answer = Buffer.concat([answer, part]);
      if (answer.length < 4 || answer.length < 4 + answer.readInt32BE(0)) return;
      // Behind the size: correlation id, number of live brokers, the brokers, the cluster's id.
      const isAlive = answer.readInt32BE(4) === CORRELATION_ID && answer.readInt32BE(8) > 0;
      finish(isAlive && answer.includes(clusterId));
    });
  });
}
