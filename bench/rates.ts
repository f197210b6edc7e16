/**
 * `npm run bench:rates`: what rates and alerting cost. CPU µs an entry of live entries in records of 1,000: the volume, and rates beside it, which
 * share the groups of a record; and CPU µs of a stream and minute of what watches them, over the last of five hours (a stream is learned
 * for three), with the bytes of a stream. `npm run bench:rates -- size`: what the state of 100,000 streams takes.
 */
import { readColumns, type ColumnsView } from '../pipeline/logs/columns/column-reader.ts';
import { encodeColumns } from '../pipeline/logs/columns/column-encoder.ts';
import { LogColumns } from '../pipeline/logs/columns/log-columns.ts';
import { addPlainRow } from '../pipeline/logs/columns/plain-rows.ts';
import { WordTable } from '../pipeline/logs/columns/words.ts';
import { Names } from '../pipeline/logs/names.ts';
import { RecordStreams } from '../pipeline/logs/record-streams.ts';
import { StreamList } from '../pipeline/logs/stream-list.ts';
import { alerting } from '../pipeline/processors/alerting/alerts-merger.ts';
import type { PartialInput } from '../pipeline/processors/merge/partial.ts';
import type { Batch } from '../pipeline/processors/processor.ts';
import { encodeRates } from '../pipeline/processors/rates/rates-partial.ts';
import { rates } from '../pipeline/processors/rates/rates.ts';
import { createVolume } from '../pipeline/processors/volume/volume.ts';
import { benchLogs } from './wire/logs.ts';

const ROWS = 1000;
const RECORDS = 600;
/** Append time between two records: 10,000 entries a second in a partition. Milliseconds. */
const STEP_MS = 100;
const START_MS = 1_795_269_600_000;
const MINUTE_MS = 60_000;
const HOURS = 5;
const MOST_WATCHED = 10_000;

const names = new Names();
const words = { names, levels: new WordTable(), services: new WordTable() };
const idOf = (stream: number): bigint => (BigInt(stream + 1) * 0x9e3779b97f4a7c15n) % 2n ** 64n;
const textOf = (stream: number): string => `{host="h${String(stream)}",service="s${String(stream % 20)}"}`;

const cpuUs = (): number => {
  const { user, system } = process.cpuUsage();
  return user + system;
};

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

/** What `rates` tells of so many streams, each with some entries in a minute. */
function toldAt(offset: number, appendedAt: number, streamCount: number): PartialInput {
  const told = Array.from({ length: streamCount }, (_none, stream) => {
    const bySeverity = [0, 0, 0, 5 + ((stream + offset) % 7), 0, 0, 0];
    return {
      id: Buffer.from(idOf(stream).toString(16).padStart(16, '0'), 'hex').toString('latin1'),
      stream: offset === 0 ? textOf(stream) : null,
      minutes: [{ minute: Math.floor(appendedAt / MINUTE_MS), bySeverity }],
    };
  });
  const source = { partition: 0, offset, number: 0, appendedAt };
  return { kind: 'partial', partition: 0, offset, appendedAt, tenantId: 1, retentionDays: 30, processor: 'rates', source, value: encodeRates(told) }; // prettier-ignore
}

/** CPU µs of a stream and minute, and bytes of a stream, where each has entries in each minute and is asked each ten seconds. */
function watch(streamCount: number): { readonly perMinute: number; readonly bytes: number } {
  const state = alerting.init();
  let spent = 0;
  for (let tell = 0; tell < HOURS * 360; tell++) {
    const input = toldAt(tell, START_MS + tell * 10_000, streamCount);
    const before = cpuUs();
    alerting.fold(state, input);
    if (tell >= (HOURS - 1) * 360) spent += cpuUs() - before;
  }
  return { perMinute: spent / (streamCount * 60), bytes: alerting.snapshot(state).length / streamCount };
}

/** What the state of so many streams takes: partitions of 10,000, each stream with entries in each of five hours' minutes. */
function size(streamCount: number): void {
  const heldBytes = (): number => {
    globalThis.gc?.();
    const { heapUsed, arrayBuffers } = process.memoryUsage();
    return heapUsed + arrayBuffers;
  };
  const before = heldBytes();
  const states = Array.from({ length: streamCount / MOST_WATCHED }, () => alerting.init());
  for (const [index, state] of states.entries()) {
    for (let minute = 0; minute < HOURS * 60; minute++) alerting.fold(state, toldAt(minute, START_MS + minute * MINUTE_MS, MOST_WATCHED));
    process.stderr.write(`${String((index + 1) * MOST_WATCHED)} streams\n`);
  }
  const held = (heldBytes() - before) / streamCount;
  const began = cpuUs();
  const bytes = states.reduce((sum, state) => sum + alerting.snapshot(state).length, 0) / streamCount;
  const us = (cpuUs() - began) / streamCount;
  console.log('| streams | bytes of memory each | bytes of snapshot each | µs of CPU to take it |\n|---|---|---|---|');
  console.log(`| ${String(streamCount)} | ${held.toFixed(0)} | ${bytes.toFixed(0)} | ${us.toFixed(1)} |`);
}

function costs(): void {
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
    const { perMinute, bytes } = watch(Math.min(streamCount, MOST_WATCHED));
    console.log(`| ${String(streamCount)} | ${[...cells, perMinute.toFixed(1), bytes.toFixed(0)].join(' | ')} |`);
  }
}

if (process.argv.includes('size')) size(100_000);
else costs();
