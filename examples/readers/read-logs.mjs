// Prints time (ns), stream and message of each entry on logs.v1, a JSON array a line: node read-logs.mjs HOST:PORT
// npm install kafkajs lz4js; docs/topics.md has the form of a record.
import { Kafka, logLevel } from 'kafkajs';
import lz4 from 'lz4js';

/** What the frames of a record hold, which is at most 32 MiB. */
const data = Buffer.alloc(2 ** 25);

/** Time, stream and message of each row of a record. What stands behind the messages (fields) is not read. */
export function entries({ value, headers }) {
  const [count, streams] = [Number(headers.count), new Map(JSON.parse(headers.streams))];
  if (count === 0) return [];
  const entryOf = ({ _time, _stream_id, _msg = '' }) => [String(_time), streams.get(String(_stream_id)), _msg];
  if (String(headers.encoding) === 'ndjson') return String(value).trim().split('\n').map(JSON.parse).map(entryOf);
  let [at, end] = [0, 0];
  // a frame: a checksum (16 bytes), 0x82, the size from there on, the size unpacked, an LZ4 block
  for (let from = 0; from < value.length; from += 16 + value.readUInt32LE(from + 17))
    end = lz4.decompressBlock(value, data, from + 25, value.readUInt32LE(from + 17) - 9, end);
  const take = (size) => data.subarray(at, (at += size));
  const length = (byte) => (byte < 128 ? byte : byte - 128 + 128 * length(take(1)[0]));
  const texts = (size) => Array.from({ length: size }, () => take(length(take(1)[0])).toString());
  const column = () => {
    const [, type] = texts(2);
    if (type === 'String') return texts(count);
    if (!type.startsWith('LowCardinality')) return Array.from({ length: count }, () => take(type === 'UInt8' ? 1 : 8));
    // version, width of the numbers, how many words; these; how many numbers, and these
    const head = take(24);
    return [texts(head.readUInt32LE(16)), take(8 + count * 2 ** head[8])];
  };
  const [times, ids, , , , , , , messages] = Array.from({ length: 9 }, column);
  return messages.map((_msg, row) => entryOf({ _time: times[row].readBigInt64LE(), _stream_id: ids[row].readBigUInt64LE(), _msg }));
}

if (process.argv[1] === import.meta.filename) {
  const consumer = new Kafka({ brokers: [process.argv[2]], logLevel: logLevel.ERROR }).consumer({ groupId: `read-logs-${process.pid}` });
  await consumer.connect();
  await consumer.subscribe({ topic: 'logs.v1', fromBeginning: true });
  await consumer.run({ eachMessage: async ({ message }) => entries(message).forEach((entry) => console.log(JSON.stringify(entry))) });
}
