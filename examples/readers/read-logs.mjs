// Prints time (ns), stream and message of each entry on logs.v1, a JSON array a line: node read-logs.mjs HOST:PORT
// npm install kafkajs kafkajs-snappy; docs/topics.md has the form of a record.
import kafkajs from 'kafkajs';
import snappy from 'kafkajs-snappy';

/** An LZ4 block: literals, then a copy of what stands `offset` bytes back, and so on; the last literals end it. */
function unpack(block, out) {
  let [at, to] = [0, 0];
  const length = (nibble) => {
    for (let byte = nibble < 15 ? 0 : 255; byte === 255; nibble += byte) byte = block[at++];
    return nibble;
  };
  for (;;) {
    const token = block[at++];
    const literals = length(token >> 4);
    to += block.copy(out, to, at, (at += literals));
    if (at >= block.length) return out;
    const offset = block.readUInt16LE((at += 2) - 2);
    for (const end = to + length(token & 15) + 4; to < end; to++) out[to] = out[to - offset];
  }
}

/** Time, stream id and message of each row. What stands behind the messages (fields) is not read. */
function* rows(value, count) {
  const parts = [];
  // frames: a checksum (16 bytes), 0x82, the size from there on, the size unpacked, an LZ4 block
  for (let at = 0, end; at < value.length; at = end) {
    end = at + 16 + value.readUInt32LE(at + 17);
    parts.push(unpack(value.subarray(at + 25, end), Buffer.alloc(value.readUInt32LE(at + 21))));
  }
  const data = Buffer.concat(parts);
  let at = 0;
  const text = () => {
    let length = 0;
    for (let shift = 0; ; shift += 7) {
      length += (data[at] & 127) << shift;
      if (data[at++] < 128) return data.toString('utf8', at, (at += length));
    }
  };
  const found = {};
  while (found._msg === undefined) {
    const [name, type] = [text(), text()];
    found[name] = at;
    if (type === 'String') found[name] = Array.from({ length: count }, text);
    else if (type.startsWith('LowCardinality')) {
      // version, width of the numbers, how many words; then how many numbers
      const [width, words] = [1 << data[at + 8], Number(data.readBigUInt64LE(at + 16))];
      at += 24;
      for (let word = 0; word < words; word++) text();
      at += 8 + width * count;
    } else at += count * (type === 'UInt8' ? 1 : 8);
  }
  for (let row = 0; row < count; row++)
    yield [data.readBigInt64LE(found._time + 8 * row), data.readBigUInt64LE(found.stream_id + 8 * row), found._msg[row]];
}

/** The entries of a record in either encoding. */
export function entries({ value, headers }) {
  const streams = new Map(JSON.parse(headers.streams).map(([id, labels]) => [id, labels]));
  if (value.length === 0) return [];
  const lines = (text) => text.trim().split('\n').map(JSON.parse);
  const found =
    String(headers.encoding) === 'columns'
      ? [...rows(value, Number(headers.count))]
      : lines(String(value)).map((row) => [row._time, row._stream_id, row._msg ?? '']);
  return found.map(([time, id, message]) => [String(time), streams.get(String(id)), message]);
}

if (process.argv[1] === import.meta.filename) {
  kafkajs.CompressionCodecs[kafkajs.CompressionTypes.Snappy] = snappy;
  const kafka = new kafkajs.Kafka({ brokers: [process.argv[2]], logLevel: kafkajs.logLevel.ERROR });
  const consumer = kafka.consumer({ groupId: `read-logs-${process.pid}` });
  await consumer.connect();
  await consumer.subscribe({ topic: 'logs.v1', fromBeginning: true });
  await consumer.run({ eachMessage: async ({ message }) => entries(message).forEach((entry) => console.log(JSON.stringify(entry))) });
}
