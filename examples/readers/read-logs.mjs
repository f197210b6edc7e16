// Prints time (ns), stream and message of each entry on logs.v1, a JSON array a line: node read-logs.mjs HOST:PORT
// npm install kafkajs lz4js; docs/topics.md has the form of a record.
import { Kafka, logLevel } from 'kafkajs';
import lz4 from 'lz4js';

/** What frames hold, which is at most 32 MiB. */
const data = Buffer.alloc(2 ** 25);

/** Reads frames: gives a function for the next column. They hold `count` rows, or as many as their head declares. */
function columnsIn(frames, count) {
  let [at, end] = [0, 0];
  // a frame: a checksum (16 bytes), 0x82, the size from there on, the size unpacked, an LZ4 block
  for (let from = 0; from < frames.length; from += 16 + frames.readUInt32LE(from + 17))
    end = lz4.decompressBlock(frames, data, from + 25, frames.readUInt32LE(from + 17) - 9, end);
  const take = (size) => data.subarray(at, (at += size));
  const length = (byte = take(1)[0]) => (byte < 128 ? byte : byte - 128 + 128 * length());
  const rows = count ?? [length(), length()][1];
  const texts = (size = rows) => Array.from({ length: size }, () => take(length()).toString());
  const numbers = (type) => Array.from({ length: rows }, () => (type === 'UInt8' ? take(1)[0] : take(8).readBigInt64LE()));
  // version, width of the numbers, how many words; these; how many numbers, and these
  const words = (head = take(24)) => [texts(head.readUInt32LE(16)), take(8 + rows * 2 ** head[8])];
  return (type = texts(2)[1]) => (type === 'String' ? texts() : type.startsWith('LowCardinality') ? words() : numbers(type));
}

const plain = (lines, streams) => lines.map(JSON.parse).map((row) => [row._time, streams.get(row._stream_id), row._msg ?? '']);

/** Time, stream and message of each row of a record. What stands behind the messages (fields) is not read. */
export function entries({ value, headers }) {
  if (String(headers.count) === '0') return [];
  if (String(headers.encoding) === 'ndjson') return plain(String(value).trim().split('\n'), new Map(JSON.parse(headers.streams)));
  const stream = columnsIn(headers.streams);
  const [known, labels] = [stream(), stream()];
  const [times, ids, , , , , , , messages] = Array.from({ length: 9 }, columnsIn(value, Number(headers.count)));
  return messages.map((message, row) => [String(times[row]), labels[known.indexOf(ids[row])], message]);
}

if (process.argv[1] === import.meta.filename) {
  const consumer = new Kafka({ brokers: [process.argv[2]], logLevel: logLevel.ERROR }).consumer({ groupId: `read-logs-${process.pid}` });
  await consumer.connect();
  await consumer.subscribe({ topic: 'logs.v1', fromBeginning: true });
  await consumer.run({ eachMessage: async ({ message }) => entries(message).forEach((entry) => console.log(JSON.stringify(entry))) });
}
