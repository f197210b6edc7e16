/**
 * `npm run bench:normalizers`: CPU of one core for each entry, from the decoded body to the rows of the Kafka record, for every format
 * over the same 2,000 logs.   npm run bench:normalizers -- [--seconds 2] [--only NAME]
 * Formats are measured in turns, several rounds over, so that a machine that drifts does not favour one; the median round is shown.
 */
import { parseArgs } from 'node:util';
import { EntryCodec, EntryWriter } from '../pipeline/logs/writer.ts';
import { normalizers } from '../pipeline/normalizers/index.ts';
import type { IngestRequest } from '../pipeline/normalizers/normalizer.ts';
import { wireBodies, type WireBody } from './wire/bodies.ts';
import { benchLogs } from './wire/logs.ts';

const { values: flags } = parseArgs({ options: { seconds: { type: 'string', default: '2' }, only: { type: 'string', default: '' } } });
const ROUNDS = 5;
const now = Date.now();
const receivedAt = BigInt(now) * 1_000_000n;
const logs = benchLogs(2000, now);
/** The one that ingest has, and one that reads JSON objects in TypeScript. */
const [scanning, plain] = [new EntryCodec(), new EntryCodec(null)];

/** Runs a body through its normalizer once; gives the entries taken. */
function once(codec: EntryCodec, { normalizer, body, envelope }: WireBody): number {
  const format = normalizers.find(normalizer);
  if (format === undefined) throw new Error(`There is no normalizer ${normalizer}.`);
  const writer = new EntryWriter(
    codec,
    { tenantId: 1, partitions: [0, 1], retentionDays: 14, receivedAt, streamFields: null },
    body.length,
  );
  const request: IngestRequest = {
    path: format.paths[0] ?? '',
    contentType: envelope?.contentType ?? '',
    query: new URLSearchParams(envelope?.query),
    header: (name) => envelope?.headers?.[name] ?? '',
    body,
    maxBytes: 8 * 1024 * 1024,
    receivedAt,
  };
  format.normalize(request, writer);
  const { accepted } = writer;
  if (accepted !== logs.length)
    throw new Error(`${normalizer} took ${String(accepted)} of ${String(logs.length)}: ${JSON.stringify(writer.rejected.first[0])}`);
  for (const chunk of writer.chunks()) chunk.discard();
  return accepted;
}

/** µs of CPU for each entry, over some seconds. */
function measure(codec: EntryCodec, wire: WireBody, seconds: number): number {
  const before = process.cpuUsage();
  const end = performance.now() + seconds * 1000;
  let entries = 0;
  while (performance.now() < end) entries += once(codec, wire);
  const { user, system } = process.cpuUsage(before);
  return (user + system) / entries;
}

const wires = wireBodies(logs).filter(({ normalizer, label }) => `${normalizer} ${label}`.includes(flags.only));
const jobs = wires.flatMap((wire) => [scanning, plain].map((codec) => ({ wire, codec, figures: [] as number[] })));
for (const { codec, wire } of jobs) measure(codec, wire, 0.5);
for (let round = 0; round < ROUNDS; round++) {
  for (const { codec, wire, figures } of jobs) figures.push(measure(codec, wire, Number(flags.seconds) / ROUNDS));
  process.stderr.write(`round ${String(round + 1)} of ${String(ROUNDS)}\n`);
}
const medianOf = (wire: WireBody, codec: EntryCodec): number =>
  jobs.find((job) => job.wire === wire && job.codec === codec)?.figures.sort((a, b) => a - b)[Math.floor(ROUNDS / 2)] ?? NaN;
process.stdout.write('| format | bytes an entry | CPU µs an entry | MB/s of one core | without the scanner, µs |\n|---|---|---|---|---|\n');
for (const wire of wires) {
  const [median, without] = [medianOf(wire, scanning), medianOf(wire, plain)];
  const bytes = wire.body.length / logs.length;
  process.stdout.write(
    `| ${wire.label} | ${bytes.toFixed(0)} | ${median.toFixed(2)} | ${(bytes / median).toFixed(0)} | ${without.toFixed(2)} |\n`,
  );
}
