/**
 * `npm run bench:samples`: samples in, by remote write 1.0.   npm run bench:samples -- [--series 10000] [--samples 5000000] [--connections 4] [--only parts|otlp|whole]
 * Parts: CPU µs a sample of one core, from the body to a record, and of a record's check and its definitions in a sink. Otlp: CPU µs a data point of OTLP,
 * from the body to rows, of series that are known. Whole: an instance of its own;
 * samples acknowledged and readable a second, CPU µs a sample by process, with the merges that follow, and bytes a sample and a series on disk once merged.
 */
import { parseArgs } from 'node:util';
import { inflateSnappy } from '../pipeline/wasm/snappy.ts';
import type { Normalizer } from '../pipeline/normalizers/normalizer.ts';
import { otlpMetrics as otlpFormat } from '../pipeline/normalizers/otlp-metrics.ts';
import { remoteWrite } from '../pipeline/normalizers/remote-write.ts';
import { samplesSignal } from '../pipeline/samples/samples-signal.ts';
import type { SamplesRecord } from '../pipeline/samples/samples-record.ts';
import { eachDefinition } from '../pipeline/samples/record-definitions.ts';
import { SamplesCodec } from '../pipeline/samples/sample-chunk.ts';
import { SamplesWriter } from '../pipeline/samples/samples-writer.ts';
import { startInstance } from '../test/e2e/instance.ts';
import { ask, merged, newTenant } from './instance-load.ts';
import { cpuSeconds } from './processes.ts';
import { otlpMetrics } from './wire/otlp-metrics.ts';
import { Scrapes, STEP_MS } from './wire/samples.ts';

const { values: flags } = parseArgs({
  options: {
    series: { type: 'string', default: '10000' },
    samples: { type: 'string', default: '5000000' },
    connections: { type: 'string', default: '4' },
    only: { type: 'string', default: '' },
  },
});
const PER_BODY = 2000;
const SERIES = Number(flags.series);
const out = (line: string): void => void process.stdout.write(`${line}\n`);

/** CPU µs for each sample of what is done over again for two seconds. */
function cpuOf(run: () => number): number {
  for (const until = performance.now() + 500; performance.now() < until;) run();
  let samples = 0;
  const before = process.cpuUsage();
  for (const until = performance.now() + 2000; performance.now() < until;) samples += run();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / samples;
}

const receivedAt = BigInt(Date.now()) * 1_000_000n;

/** What a normalizer makes of bodies, decompressed, each time with a writer of its own. */
function writer(format: Normalizer<SamplesWriter>, contentType: string): (body: Buffer) => SamplesWriter {
  const codec = new SamplesCodec();
  const bounds = { maxRowBytes: Infinity, seriesPerDay: Infinity };
  const owner = { tenantId: 1, partitions: [0], retentionDays: 14, receivedAt, ...bounds, utf8Names: false };
  return (body) => {
    const own = new SamplesWriter(codec, owner);
    const request = { path: format.paths[0] ?? '', contentType, query: new URLSearchParams(), header: () => '' };
    format.normalize({ ...request, body, maxBytes: body.length, receivedAt }, own);
    if (own.rejected.count > 0) throw new Error(own.rejected.first[0]?.reason);
    return own;
  };
}

function otlp(): void {
  for (const kind of ['numbers', 'histograms'] as const) {
    const { json, protobuf, points } = otlpMetrics(kind, 1, Date.now());
    for (const [contentType, body] of [
      ['application/json', json],
      ['application/x-protobuf', protobuf],
    ] as const) {
      // prettier-ignore
      const write = writer(otlpFormat, contentType);
      const { accepted } = write(body);
      const cpu = cpuOf(() => {
        write(body);
        return points;
      });
      const size = (body.length / points).toFixed(0);
      out(
        `OTLP ${kind}, ${contentType}: ${size} bytes and ${(accepted / points).toFixed(0)} samples a point, CPU ${cpu.toFixed(2)} µs a point`,
      );
    }
  }
}

function parts(): void {
  const bodies = new Scrapes({ series: SERIES, perBody: PER_BODY, seed: 1, from: Date.now() - STEP_MS }).next();
  const inflate = (body: Buffer): Buffer => inflateSnappy(body, 64 << 20, () => new Error('too large'));
  const written = writer(remoteWrite, 'application/x-protobuf');
  let turn = 0;
  const next = (): Buffer => bodies[turn++ % bodies.length] as Buffer;
  const snappy = cpuOf(() => {
    inflate(next());
    return PER_BODY;
  });
  const plain = bodies.map(inflate);
  const rows = cpuOf(() => written(plain[turn++ % plain.length] as Buffer).accepted);
  const records = cpuOf(() => {
    const own = written(plain[turn++ % plain.length] as Buffer);
    for (const chunk of own.chunks()) chunk.encode();
    return own.accepted;
  });
  const encoded = plain.map((body) => {
    const own = written(body);
    const chunk = own.chunks()[0]?.encode();
    const info = {
      tenantId: 1,
      retentionDays: 14,
      count: own.accepted,
      bytes: 0,
      encoding: 'columns',
      partition: 0,
      offset: 0,
      timestamp: Date.now(),
    };
    const original = { key: null, value: null, headers: {}, timestamp: '' };
    const record = { ...info, value: chunk?.value ?? Buffer.alloc(0), replayOf: null, fault: null, original };
    return samplesSignal.decode(record, (name) => String(chunk?.headers[name] ?? '')) as SamplesRecord;
  });
  const checked = cpuOf(() => {
    const record = encoded[turn++ % encoded.length] as SamplesRecord;
    if (samplesSignal.check(record) !== null) throw new Error('BUG: a record is wrong.');
    return record.count;
  });
  const seen = cpuOf(() => {
    const record = encoded[turn++ % encoded.length] as SamplesRecord;
    eachDefinition(
      record,
      () => undefined,
      () => true,
    );
    return record.count;
  });
  const size = (all: readonly Buffer[]): string => (all.reduce((sum, one) => sum + one.length, 0) / SERIES).toFixed(1);
  const numbers = encoded.map(({ value, definitionsAt }) => value.subarray(0, definitionsAt));
  out(
    `bytes a sample: snappy ${size(bodies)}, body ${size(plain)}, record ${size(encoded.map(({ value }) => value))}, of it numbers ${size(numbers)}`,
  );
  out(`CPU, µs a sample: snappy ${snappy.toFixed(2)}, body to rows ${rows.toFixed(2)}, to a record ${records.toFixed(2)}, a sink's check ${checked.toFixed(2)}, its definitions ${seen.toFixed(2)}`); // prettier-ignore
}

async function whole(): Promise<void> {
  const scrapes = Math.ceil(Number(flags.samples) / SERIES);
  const total = scrapes * SERIES;
  const instance = await startInstance();
  try {
    const { id, key } = await newTenant(instance);
    const post = (body: Buffer): Promise<{ readonly status: number; readonly body: unknown }> =>
      instance.call('POST', `${instance.app}/api/v1/write`, body, {
        Authorization: `Bearer ${key}`,
        'Content-Type': 'application/x-protobuf',
        'Content-Encoding': 'snappy',
      });
    const cpu = (): Map<string, number> => new Map([...instance.processes()].map(([role, { pid }]) => [role, cpuSeconds(pid)]));
    const stored = async (): Promise<number> => Number(await ask(instance, `SELECT count() FROM samples WHERE tenant_id = ${String(id)}`));
    const wire = new Scrapes({ series: SERIES, perBody: PER_BODY, seed: 2, from: Date.now() - (scrapes + 3) * STEP_MS });
    for (const body of wire.next()) await post(body);
    while ((await stored()) < SERIES) await merged(instance);
    // bodies are made beforehand: the generator is no part of what is measured
    const bodies = Array.from({ length: scrapes }, () => wire.next()).flat();
    const before = cpu();
    const began = performance.now();
    let at = 0;
    let waits = 0;
    const send = async (): Promise<void> => {
      while (at < bodies.length) {
        const body = bodies[at++] as Buffer;
        for (;;) {
          const answer = await post(body);
          if (answer.status === 204) break;
          if (answer.status !== 503) throw new Error(`${String(answer.status)} ${JSON.stringify(answer.body)}`);
          waits += 1;
        }
      }
    };
    await Promise.all(Array.from({ length: Number(flags.connections) }, send));
    const acknowledged = performance.now() - began;
    while ((await stored()) < total + SERIES) await new Promise((resolve) => setTimeout(resolve, 50));
    const readable = performance.now() - began;
    await merged(instance);
    const after = cpu();
    const used = [...after].map(([role, seconds]) => [role, ((seconds - (before.get(role) ?? 0)) * 1e6) / total] as const);
    const sum = used.reduce((all, [, one]) => all + one, 0);
    out(
      `samples/s: acknowledged ${((total / acknowledged) * 1000).toFixed(0)}, readable ${((total / readable) * 1000).toFixed(0)}; 503: ${String(waits)}`,
    );
    out(`CPU, µs a sample: all ${sum.toFixed(2)}; ${used.map(([role, one]) => `${role} ${one.toFixed(2)}`).join(', ')}`);
    for (const table of ['samples', 'series', 'series_labels']) {
      await ask(instance, `OPTIMIZE TABLE ${table} FINAL`);
      out(
        `bytes a row of ${table}: ${await ask(instance, `SELECT round(sum(bytes_on_disk) / sum(rows), 2), sum(rows) FROM system.parts WHERE active AND table = '${table}'`)}`,
      );
    }
    out(
      await ask(
        instance,
        "SELECT column, round(sum(column_data_compressed_bytes) / sum(rows), 3) AS b FROM system.parts_columns WHERE active AND table = 'samples' GROUP BY column ORDER BY b DESC",
      ),
    );
  } finally {
    await instance.stop();
  }
}

if (['', 'parts'].includes(flags.only)) parts();
if (['', 'otlp'].includes(flags.only)) otlp();
if (['', 'whole'].includes(flags.only)) await whole();
