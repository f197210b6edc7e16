/**
 * `npm run bench:spans`: spans in, as OTLP protobuf bodies of 500.   npm run bench:spans -- [--spans 500000] [--connections 4] [--only parts|whole]
 * Parts: CPU µs a span of one core, from the decoded body to a record, of a record's check in a sink, and of counting what is derived. Whole: an instance of its own; spans
 * acknowledged and searchable a second, CPU µs a span by process, with the merges that follow, and bytes a span on disk once merged.
 */
import { parseArgs } from 'node:util';
import { otlpTraces } from '../pipeline/normalizers/otlp-traces.ts';
import { spanProcessors } from '../pipeline/processors/index.ts';
import type { SpanProcessor } from '../pipeline/processors/spans/span-input.ts';
import { spanCounts } from '../pipeline/processors/spans/span-counts.ts';
import { spanView } from '../pipeline/traces/span-view.ts';
import { spanLayout } from '../pipeline/traces/span.ts';
import { SpanCodec, SpansWriter } from '../pipeline/traces/spans-writer.ts';
import { startInstance } from '../test/e2e/instance.ts';
import { ask, merged, newTenant } from './instance-load.ts';
import { cpuSeconds } from './processes.ts';
import { spanBodies } from './wire/spans.ts';

const { values: flags } = parseArgs({
  options: {
    spans: { type: 'string', default: '500000' },
    connections: { type: 'string', default: '4' },
    only: { type: 'string', default: '' },
  },
});
const PER_BODY = 500;
const BODIES = 40;
const out = (line: string): void => void process.stdout.write(`${line}\n`);

/** CPU µs for each span of what is done over again for two seconds. */
function cpuOf(run: () => number): number {
  for (const until = performance.now() + 500; performance.now() < until;) run();
  let spans = 0;
  const before = process.cpuUsage();
  for (const until = performance.now() + 2000; performance.now() < until;) spans += run();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / spans;
}

function parts(): void {
  const bodies = spanBodies(BODIES, PER_BODY, 1);
  const codec = new SpanCodec();
  const receivedAt = BigInt(Date.now()) * 1_000_000n;
  const writer = (): SpansWriter =>
    new SpansWriter(codec, { tenantId: 1, partitions: [0], retentionDays: 14, receivedAt, maxRowBytes: Infinity });
  const written = (body: Buffer): SpansWriter => {
    const own = writer();
    const request = { path: '/v1/traces', contentType: 'application/x-protobuf', query: new URLSearchParams(), header: () => '' };
    otlpTraces.normalize({ ...request, body, maxBytes: body.length, receivedAt }, own);
    if (own.accepted !== PER_BODY) throw new Error(own.rejected.first[0]?.reason);
    return own;
  };
  let turn = 0;
  const next = (): Buffer => bodies[turn++ % BODIES] as Buffer;
  const rows = cpuOf(() => written(next()).accepted);
  const records = cpuOf(() => {
    const chunks = written(next()).chunks();
    for (const chunk of chunks) chunk.encode();
    return PER_BODY;
  });
  const values = bodies.map((body) => written(body).chunks()[0]?.encode().value ?? Buffer.alloc(0));
  const checked = cpuOf(() => {
    if (spanLayout.check(values[turn++ % BODIES] as Buffer, PER_BODY) !== null) throw new Error('BUG: a record is wrong.');
    return PER_BODY;
  });
  const size = (all: readonly Buffer[]): string => (all.reduce((sum, one) => sum + one.length, 0) / BODIES / PER_BODY).toFixed(0);
  out(`bytes a span: body ${size(bodies)}, record ${size(values)}`);
  const derived = [PER_BODY, 20].map((perRecord) =>
    derivedOf(
      bodies.flatMap((body) => recordsOf(body, perRecord, written)),
      perRecord,
    ),
  );
  out(`CPU, µs a span: body to rows ${rows.toFixed(2)}, to a record ${records.toFixed(2)}, a sink's check ${checked.toFixed(2)}`);
  derived.forEach(({ read, counted, all }, index) => {
    out(
      `CPU, µs a span, in records of ${index === 0 ? String(PER_BODY) : '20'}: read to be counted ${read.toFixed(2)}, read and counted ${counted.toFixed(2)}, and watched ${all.toFixed(2)}`,
    );
  });
}

/** The spans of a body in records of so many. */
function recordsOf(body: Buffer, perRecord: number, written: (body: Buffer) => SpansWriter): Buffer[] {
  const rows = written(body)
    .chunks()
    .flatMap((chunk) => {
      const read = spanLayout.read(chunk.encode().value, chunk.count);
      if (typeof read === 'string') throw new Error(read);
      return read;
    });
  return Array.from({ length: rows.length / perRecord }, (_none, at) =>
    spanLayout.encode(rows.slice(at * perRecord, (at + 1) * perRecord)),
  );
}

/** What it costs to read what is counted, and to count it: of a partition with 5,000 spans a second, for each body again under other trace ids. */
function derivedOf(
  values: readonly Buffer[],
  perRecord: number,
): { readonly read: number; readonly counted: number; readonly all: number } {
  let turn = 0;
  const read = cpuOf(() => spanView(values[turn++ % values.length] as Buffer, perRecord)?.count ?? 0);
  const folded = (processors: readonly SpanProcessor[]): number => {
    const states = processors.map((processor) => processor.init());
    let offset = 0;
    return cpuOf(() => {
      const spans = spanView(values[offset % values.length] as Buffer, perRecord);
      if (spans === null) throw new Error('BUG: a record is wrong.');
      // what comes again is of another trace
      const again = Math.floor(offset / values.length);
      for (let row = 0; row < spans.count; row++) spans.data.setUint32(spans.traceId + 16 * row, again, true);
      const at = { partition: 0, offset, appendedAt: START_MS + (offset * perRecord) / 5 };
      offset += 1;
      const batch = { kind: 'batch', ...at, tenantId: 1, retentionDays: 14, bytes: 0, spans } as const;
      processors.forEach((processor, index) => processor.fold(states[index], batch));
      return perRecord;
    });
  };
  const [counted, all] = [folded([spanCounts]), folded(spanProcessors.members)];
  return { read, counted, all };
}

const START_MS = Date.now();

async function whole(): Promise<void> {
  const total = Number(flags.spans);
  const bodies = spanBodies(total / PER_BODY, PER_BODY, 2);
  const instance = await startInstance();
  try {
    const { id, key } = await newTenant(instance);
    const post = (body: Buffer): Promise<{ readonly status: number }> =>
      instance.call('POST', `${instance.ingest}/v1/traces`, body, {
        Authorization: `Bearer ${key}`,
        'Content-Type': 'application/x-protobuf',
      });
    const cpu = (): Map<string, number> => new Map([...instance.processes()].map(([role, { pid }]) => [role, cpuSeconds(pid)]));
    const stored = async (): Promise<number> => Number(await ask(instance, `SELECT count() FROM spans WHERE tenant_id = ${String(id)}`));
    for (const body of spanBodies(20, PER_BODY, 3)) await post(body);
    while ((await stored()) < 20 * PER_BODY) await merged(instance);
    const before = cpu();
    const began = performance.now();
    let at = 0;
    const send = async (): Promise<void> => {
      while (at < bodies.length) {
        const body = bodies[at++] as Buffer;
        while ((await post(body)).status === 429);
      }
    };
    await Promise.all(Array.from({ length: Number(flags.connections) }, send));
    const acknowledged = performance.now() - began;
    while ((await stored()) < total + 20 * PER_BODY) await new Promise((resolve) => setTimeout(resolve, 50));
    const searchable = performance.now() - began;
    await merged(instance);
    const after = cpu();
    const used = [...after].map(([role, seconds]) => [role, ((seconds - (before.get(role) ?? 0)) * 1e6) / total] as const);
    const sum = used.reduce((all, [, one]) => all + one, 0);
    out(`spans/s: acknowledged ${((total / acknowledged) * 1000).toFixed(0)}, searchable ${((total / searchable) * 1000).toFixed(0)}`);
    out(`CPU, µs a span: all ${sum.toFixed(1)}; ${used.map(([role, one]) => `${role} ${one.toFixed(1)}`).join(', ')}`);
    await ask(instance, 'OPTIMIZE TABLE spans FINAL');
    out(
      `bytes a span on disk: ${await ask(instance, "SELECT sum(bytes_on_disk) / sum(rows) FROM system.parts WHERE active AND table = 'spans'")}`,
    );
    out(
      await ask(
        instance,
        "SELECT column, round(sum(column_data_compressed_bytes) / sum(rows), 2) AS b FROM system.parts_columns WHERE active AND table = 'spans' GROUP BY column HAVING b > 0.3 ORDER BY b DESC",
      ),
    );
  } finally {
    await instance.stop();
  }
}

if (flags.only !== 'whole') parts();
if (flags.only !== 'parts') await whole();
