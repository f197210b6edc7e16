import type { Range } from '../../pipeline/bus/consumer/range.ts';
import { encodeHeaders } from '../../pipeline/bus/records/record.ts';
import { logsSignal } from '../../pipeline/logs/logs-signal.ts';
import { encodeColumns } from '../../pipeline/logs/columns/column-encoder.ts';
import { LogColumns } from '../../pipeline/logs/columns/log-columns.ts';
import { addPlainRow, readPlainRow } from '../../pipeline/logs/columns/plain-rows.ts';
import { WordTable } from '../../pipeline/rows/words.ts';
import { Names } from '../../pipeline/logs/names.ts';
import type { RecordInfo } from '../../pipeline/bus/records/signal-record.ts';
import type { IHeaders } from '../../pipeline/bus/connection/kafka.ts';
import { NDJSON, type LogRecord } from '../../pipeline/logs/record.ts';
import { RecordStreams } from '../../pipeline/logs/record-streams.ts';
import { StreamList } from '../../pipeline/logs/stream-list.ts';

/** A stream as the header of a record with the encoding `ndjson` has it: its id, its label set, and days. */
export type PlainStream = readonly [id: string, text: string, ...days: number[]];

/** The streams of a record. */
export function streamsOf(...streams: readonly PlainStream[]): RecordStreams {
  const list = new StreamList();
  for (const [id, text, ...days] of streams) {
    const number = BigInt.asIntN(64, BigInt(id));
    list.addText(Number(number >> 32n), Number(BigInt.asIntN(32, number)), Buffer.from(text), days);
  }
  return readStreams(list);
}

/** One stream, with entries of these days. */
export const streamOf = (...stream: PlainStream): RecordStreams => streamsOf(stream);

/** What a list of streams becomes in a record's header, read again. */
export function readStreams(list: StreamList): RecordStreams {
  const streams = RecordStreams.read(list.encode());
  if (streams === null) throw new Error('The header cannot be read.');
  return streams;
}

/** A value of rows that are told apart by their times, as small numbers; and what they are. */
export const timedValue = (times: readonly number[], message = 'm'): Buffer =>
  Buffer.from(times.map((time) => `{"_time":"${String(time)}","_msg":${JSON.stringify(message)}}\n`).join(''));
export const timesIn = (value: Buffer): number[] => Array.from(value.toString().matchAll(/"_time":"(\d+)"/g), ([, time]) => Number(time));

/** The headers of a record of another producer, with the encoding `ndjson`. */
export const plainHeaders = (info: Omit<RecordInfo, 'encoding'>, ...streams: readonly PlainStream[]): IHeaders =>
  encodeHeaders(logsSignal, { ...info, encoding: NDJSON }, { streams: JSON.stringify(streams) });

const words = { names: new Names(), levels: new WordTable(), services: new WordTable() };

const line = (message: string): string => `{"_time":"1795000000000000000","_stream_id":"5","_msg":${JSON.stringify(message)}}\n`;

/** Rows with these messages, as lines. */
export const plainValue = (...messages: readonly string[]): Buffer => Buffer.from(messages.map(line).join(''));

/** Rows with these messages, as columns. */
export function columnsValue(...messages: readonly string[]): Buffer {
  const columns = new LogColumns({ ...words, names: words.names.ids }, 1);
  for (const message of messages) {
    const row = readPlainRow(line(message));
    if (typeof row === 'string') throw new Error(row);
    addPlainRow(columns, row, words);
  }
  return encodeColumns(columns);
}

/** A record of one row, but for what is said of it. */
export const logRecord = (more: Partial<LogRecord> = {}): LogRecord => ({
  partition: 0,
  offset: 0,
  count: 1,
  tenantId: 1,
  retentionDays: 0,
  bytes: 10,
  encoding: 'ndjson',
  streams: streamOf('5', '{}', 20_777),
  timestamp: 1_795_000_000_000,
  value: plainValue(...Array.from({ length: more.count ?? 1 }, () => 'm')),
  replayOf: null,
  fault: null,
  original: { key: null, value: null, headers: {}, timestamp: '0' },
  ...more,
});

/** The range of these records. */
export const rangeOf = (...records: readonly LogRecord[]): Range<LogRecord> => ({
  topic: 'logs.v1',
  partition: records[0]?.partition ?? 0,
  start: records[0]?.offset ?? 0,
  end: records.at(-1)?.offset ?? 0,
  rows: records.reduce((sum, { count }) => sum + count, 0),
  records,
});
