import type { Range } from '../../pipeline/bus/range.ts';
import type { LogRecord, RecordStreams } from '../../pipeline/logs/record.ts';

/** One stream, with entries of these days. */
export const streamOf = (id: string, text: string, ...days: readonly number[]): RecordStreams => new Map([[id, { text, days }]]);

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
  value: Buffer.from('{"_time":"1795000000000000000","_msg":"m"}\n'),
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
