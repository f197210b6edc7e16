/**
 * `npm run bench:rates`: what rates and alerting cost. CPU µs an entry of live entries in records of 1,000: the volume, and rates beside it, which
 * share the groups of a record; and CPU µs of a stream and minute of what watches them, over the last of five hours (a stream is learned
 * for three), with the bytes of a stream.
 */
import { readColumns, type ColumnsView } from '../pipeline/logs/columns/column-reader.ts';
import { encodeColumns } from '../pipeline/logs/columns/column-encoder.ts';
import { LogColumns } from '../pipeline/logs/columns/log-columns.ts';
import { addPlainRow } from '../pipeline/logs/columns/plain-rows.ts';
import { WordTable } from '../pipeline/rows/words.ts';
import { Names } from '../pipeline/logs/names.ts';
import { RecordStreams } from '../pipeline/logs/record-streams.ts';
import { StreamList } from '../pipeline/logs/stream-list.ts';
import type { Batch } from '../pipeline/processors/base/processor.ts';
import { rates } from '../pipeline/processors/rates/rates.ts';
import { createVolume } from '../pipeline/processors/volume/volume.ts';
import { cpuUs, idOf, START_MS, textOf, watched } from './service/watched.ts';
import { benchLogs } from './wire/logs.ts';

const ROWS = 1000;
const RECORDS = 600;
/** Append time between two records: 10,000 entries a second in a partition. Milliseconds. */
const STEP_MS = 100;
const MOST_WATCHED = 10_000;

const names = new Names();
const words = { names, levels: new WordTable(), services: new WordTable() };

/** Records of entries of now, of so many streams in turn, as processors see them. */
function batchesOf(streamCount: number): (() => Batch)[] {
  const lines = benchLogs(ROWS, START_MS);
  return Array.from({ length: RECORDS }, (_, record) => {
    const columns = new LogColumns({ names: names.ids, levels: words.levels, services: words.services }, ROWS);
    const list = new StreamList();
    const appendedAt = START_MS + record * STEP_MS;
    lines.forEach(({ message, service, level, traceId }, row) => {
      const stream = (record * ROWS + row * 7919) % streamCount;
      const streamId = idOf(stream);
      list.addText(Number(streamId >> 32n), Number(streamId & 0xffff_ffffn), Buffer.from(textOf(stream)), [
        Math.floor(appendedAt / 86_400_000),
      ]);
      const time = BigInt(appendedAt) * 1_000_000n + BigInt(row);
      addPlainRow(columns, { time, severity: 3, message, level, service, trace_id: traceId, span_id: '', streamId, fields: [] }, words);
    });
    const [value, streams] = [encodeColumns(columns), list.encode()];
    return () => ({
      ...{ kind: 'batch', partition: 0, offset: record, appendedAt, tenantId: 1, retentionDays: 30, bytes: 0 },
      ...{ columns: viewOf(value), streams: RecordStreams.read(streams) ?? RecordStreams.none },
    });
  });
}

function viewOf(value: Buffer): ColumnsView {
  const view = readColumns(value, ROWS);
  if (typeof view === 'string') throw new Error(view);
  return view;
}

/** CPU µs an entry of decoding and of these folds, the least of some rounds. */
function perEntry(batches: readonly (() => Batch)[], fold: () => (batch: Batch) => unknown): number {
  const rounds = Array.from({ length: 5 }, () => {
    const run = fold();
    const before = cpuUs();
    for (const batch of batches) run(batch());
    return (cpuUs() - before) / (RECORDS * ROWS);
  });
  return Math.min(...rounds);
}

console.log('| streams | decoding and volume, µs an entry | with rates | a stream and minute of alerting, µs | bytes of a stream |');
console.log('|---|---|---|---|---|');
for (const streamCount of [200, 10_000]) {
  const batches = batchesOf(streamCount);
  const volumeAlone = (): ((batch: Batch) => unknown) => {
    const volume = createVolume();
    const state = volume.init();
    return (batch) => volume.fold(state, batch);
  };
  const both = (): ((batch: Batch) => unknown) => {
    const [volume, state] = [volumeAlone(), rates.init()];
    return (batch) => [volume(batch), rates.fold(state, batch)];
  };
  const cells = [perEntry(batches, volumeAlone), perEntry(batches, both)].map((value) => value.toFixed(3));
  const { perMinute, bytes } = watched(Math.min(streamCount, MOST_WATCHED));
  console.log(`| ${String(streamCount)} | ${[...cells, perMinute.toFixed(1), bytes.toFixed(0)].join(' | ')} |`);
}
