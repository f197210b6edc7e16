/**
 * `npm run bench:volume`: what the volume and patterns cost a processor. CPU µs an entry, of records of 1,000 entries: decoding a record into the view
 * of its columns, and folding that; and what a snapshot takes.
 */
import { readColumns, type ColumnsView } from '../pipeline/logs/columns/column-reader.ts';
import { encodeColumns } from '../pipeline/logs/columns/column-encoder.ts';
import { LogColumns } from '../pipeline/logs/columns/log-columns.ts';
import { addPlainRow } from '../pipeline/logs/columns/plain-rows.ts';
import { WordTable } from '../pipeline/rows/words.ts';
import { Names } from '../pipeline/logs/names.ts';
import { RecordStreams } from '../pipeline/logs/record-streams.ts';
import { StreamList } from '../pipeline/logs/stream-list.ts';
import type { Batch, Processor } from '../pipeline/processors/base/processor.ts';
import { createPatterns } from '../pipeline/processors/patterns/patterns.ts';
import { createVolume } from '../pipeline/processors/volume/volume.ts';
import { benchLogs } from './wire/logs.ts';

const ROWS = 1000;
const RECORDS = 200;
const ROUNDS = 5;
/** Append time between two records: 10,000 entries a second in a partition. Milliseconds. */
const STEP_MS = 100;
const START_MS = 1_795_269_600_000;

const names = new Names();
const words = { names, levels: new WordTable(), services: new WordTable() };
const streams = RecordStreams.read(new StreamList().encode());
if (streams === null) throw new Error('BUG: an empty list of streams cannot be read.');
const noStreams = streams;

/** Records whose entries are of so many streams, one after the other. */
function recordsOf(streamCount: number): Buffer[] {
  const lines = benchLogs(ROWS, START_MS);
  return Array.from({ length: RECORDS }, (_, record) => {
    const columns = new LogColumns({ names: names.ids, levels: words.levels, services: words.services }, ROWS);
    lines.forEach(({ message, service, host, env, level, traceId, status, ip }, row) => {
      const stream = BigInt((record * ROWS + row * 7919) % streamCount);
      addPlainRow(
        columns,
        {
          ...{ time: BigInt(START_MS + record * STEP_MS) * 1_000_000n + BigInt(row), severity: 3, message, level, service },
          ...{ trace_id: traceId, span_id: '', streamId: (stream * 0x9e3779b97f4a7c15n) % 2n ** 64n },
          fields: [
            ['host', host],
            ['env', env],
            ['ip', ip],
            ['status', String(status)],
          ],
        },
        words,
      );
    });
    return encodeColumns(columns);
  });
}

const viewOf = (value: Buffer): ColumnsView => {
  const view = readColumns(value, ROWS);
  if (typeof view === 'string') throw new Error(view);
  return view;
};

const cpuMs = (): number => {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
};

/** CPU µs an entry, of the rounds after the first one. */
function perEntry(run: (round: number) => void): number {
  run(0);
  const before = cpuMs();
  for (let round = 1; round <= ROUNDS; round++) run(round);
  return ((cpuMs() - before) * 1000) / (ROUNDS * RECORDS * ROWS);
}

/** The processors, and how many groups a state has. */
const volume = createVolume();
const patterns = createPatterns();
const subjects: readonly { readonly processor: Processor; readonly groupsOf: (state: unknown) => number }[] = [
  {
    processor: volume,
    groupsOf: (state) => (state as ReturnType<typeof volume.init>).segments.reduce((sum, segment) => sum + (segment?.groups.size ?? 0), 0),
  },
  {
    processor: patterns,
    groupsOf: (state) => (state as ReturnType<typeof patterns.init>).segments.reduce((sum, segment) => sum + (segment?.size ?? 0), 0),
  },
];

console.log('| processor | streams | decoding | decoding and folding | folding | rows written an entry | snapshot, MB | snapshot, ms | bytes of it a group |'); // prettier-ignore
console.log('|---|---|---|---|---|---|---|---|---|');
for (const streamCount of [10, 100_000]) {
  const values = recordsOf(streamCount);
  const decode = perEntry(() => values.forEach((value) => viewOf(value)));
  for (const { processor, groupsOf } of subjects) {
    const state = processor.init();
    let rows = 0;
    const both = perEntry((round) =>
      values.forEach((value, record) => {
        const offset = round * RECORDS + record;
        const batch: Batch = {
          ...{ kind: 'batch', partition: 0, offset, appendedAt: START_MS + offset * STEP_MS, tenantId: 1, retentionDays: 30, bytes: 0 },
          ...{ columns: viewOf(value), streams: noStreams },
        };
        for (const output of processor.fold(state, batch)) if ('headers' in output) rows += Number(output.headers['count']);
      }),
    );
    const before = cpuMs();
    const snapshot = processor.snapshot(state);
    const snapshotMs = cpuMs() - before;
    const cells = [decode, both, both - decode, rows / ((ROUNDS + 1) * RECORDS * ROWS), snapshot.length / 1e6, snapshotMs, snapshot.length / groupsOf(state)]; // prettier-ignore
    console.log(`| ${processor.name} | ${String(streamCount)} | ${cells.map((cell) => cell.toFixed(3)).join(' | ')} |`);
  }
}
