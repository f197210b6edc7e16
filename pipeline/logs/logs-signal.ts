import type { Signal } from '../bus/records/signal.ts';
import { rowsTopic } from '../rows/rows-signal.ts';
import { checkLog, entryTimes } from './record-check.ts';
import { decodeLog, LOGS, LOGS_TOPIC, NDJSON, type LogRecord } from './record.ts';
import { COLUMNS } from '../rows/native.ts';
import { ROW_VERSION } from './row.ts';

const DAY_MS = 86_400_000;

/** Log entries: records of rows on `logs.v1`. */
export const logsSignal: Signal<LogRecord> = {
  name: LOGS,
  topic: rowsTopic(LOGS_TOPIC),
  version: ROW_VERSION,
  encodings: [COLUMNS, NDJSON],
  decode: decodeLog,
  check: checkLog,
  rowEnds(record, now) {
    const kept = record.retentionDays * DAY_MS;
    if (kept === 0 || record.streams.firstDay * DAY_MS > now - kept) return null;
    // the table drops by whole seconds
    return entryTimes(record).map((time) => Math.floor(time / 1000) * 1000 + kept);
  },
};
