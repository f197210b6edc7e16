import type { Signal } from '../bus/signal.ts';
import { MAX_MESSAGE_BYTES } from '../bus/topics.ts';
import { decodeLog, LOGS, LOGS_TOPIC, NDJSON, type LogRecord } from './record.ts';
import { ROW_VERSION } from './row.ts';
import { rowsFault } from './row-lines.ts';

const DAY_MS = 86_400_000;

/** Log entries: records of rows on `logs.v1`. */
export const logsSignal: Signal<LogRecord> = {
  name: LOGS,
  topic: {
    name: LOGS_TOPIC,
    partitions: 'configured',
    cleanup: 'delete',
    retentionMs: 7 * DAY_MS,
    maxMessageBytes: MAX_MESSAGE_BYTES,
    timestamps: 'append',
  },
  version: ROW_VERSION,
  encodings: [NDJSON],
  decode: decodeLog,
  check: rowsFault,
  entryTimes: ({ streams, value }, before) => {
    let first = Infinity;
    for (const { days } of streams.values()) for (const day of days) first = Math.min(first, day);
    if (first * DAY_MS > before) return null;
    return value
      .toString()
      .trimEnd()
      .split('\n')
      .map((line) => Number(/^\{"_time":"(-?\d{1,19})\d{9}"/.exec(line)?.[1] ?? NaN) * 1000);
  },
};
