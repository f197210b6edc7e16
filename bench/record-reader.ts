/**
 * `npm run bench:reader`: what a reader of `logs.v1` costs that looks at time, stream, severity and message of every entry of a record, what
 * a sink's check of it costs, and what writing it costs. CPU µs an entry, of records of different sizes.
 */
import { benchLogs } from './wire/logs.ts';
import { checkColumns, readColumns } from '../pipeline/logs/columns/column-reader.ts';
import { EntryCodec, EntryWriter } from '../pipeline/logs/writer.ts';

const SIZES = [1, 20, 200, 2000];
const RECEIVED_AT = 1_795_269_600_000_000_000n;
const ENTRIES = 400_000;

const codec = new EntryCodec();
const lines = benchLogs(2000, Number(RECEIVED_AT / 1_000_000n)).map(({ ms, message, service, host, env, level, ...rest }) =>
  Buffer.from(
    JSON.stringify({
      ...{ _time: new Date(ms).toISOString(), _msg: message, service, host, env, level },
      ...{ status: rest.status, duration_ms: rest.durationMs, user_id: rest.userId, trace_id: rest.traceId, ip: rest.ip },
    }),
  ),
);

function writeRecord(size: number): Buffer {
  const writer = new EntryWriter(
    codec,
    { tenantId: 1, partitions: [0], retentionDays: 0, receivedAt: RECEIVED_AT, streamFields: null },
    size * 300,
  );
  for (const line of lines.slice(0, size)) writer.object(line, 0, line.length);
  return writer.chunks()[0]?.encode().value ?? Buffer.alloc(0);
}

/** Looks at each entry, so that nothing is left out. */
function lookAt(value: Buffer, size: number): number {
  const view = readColumns(value, size);
  if (typeof view === 'string') throw new Error(view);
  const { bytes, time, streamId, severity, message } = view;
  const { starts, ends } = message;
  let sum = 0;
  for (let row = 0; row < size; row++) {
    const ids = bytes.readUInt32LE(time + 8 * row) ^ bytes.readUInt32LE(streamId + 8 * row) ^ (bytes[severity + row] as number);
    sum = (sum + ids) | 0;
    for (let at = starts[row] as number, end = ends[row] as number; at < end; at++) sum = (sum + (bytes[at] as number)) | 0;
  }
  return sum;
}

function cpuPerEntry(size: number, run: () => void): number {
  const times = Math.ceil(ENTRIES / size);
  for (let i = 0; i < times / 4; i++) run();
  const before = process.cpuUsage();
  for (let i = 0; i < times; i++) run();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / (times * size);
}

console.log(
  '| entries in a record | bytes an entry | tokens to a compressed record, µs | reading and looking at it, µs | checking it, as a sink does, µs |',
);
console.log('|---|---|---|---|---|');
for (const size of SIZES) {
  const value = writeRecord(size);
  const write = cpuPerEntry(size, () => writeRecord(size));
  const read = cpuPerEntry(size, () => lookAt(value, size));
  const check = cpuPerEntry(size, () => checkColumns(value, size));
  console.log(`| ${String(size)} | ${(value.length / size).toFixed(0)} | ${write.toFixed(2)} | ${read.toFixed(2)} | ${check.toFixed(2)} |`);
}
