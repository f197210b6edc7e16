import { faultOf, sharedHeaders, type SignalRecord } from '../bus/record.ts';
import type { Signal } from '../bus/signal.ts';
import { MAX_MESSAGE_BYTES } from '../bus/topics.ts';
import { COLUMNS } from '../logs/record.ts';
import { readVolume } from './volume-reader.ts';

const DAY_MS = 86_400_000;
const NAME = 'counters';
const VERSION = 1;

/** What is counted of the log: records of rows of many tenants on `counters.v1`. */
export const countersSignal: Signal = {
  name: NAME,
  topic: {
    name: 'counters.v1',
    partitions: 'configured',
    cleanup: 'delete',
    retentionMs: 7 * DAY_MS,
    maxMessageBytes: MAX_MESSAGE_BYTES,
    timestamps: 'append',
  },
  version: VERSION,
  encodings: [COLUMNS],
  hasNoTenant: true,
  decode: (record) => record,
  check({ value, count }) {
    if (count === 0) return value.length === 0 ? null : wrong('it has a value, and its header count says 0');
    const rows = readVolume(value, count);
    return typeof rows === 'string' ? wrong(rows) : null;
  },
  rowEnds({ value, count }: SignalRecord, now) {
    const rows = count === 0 ? [] : readVolume(value, count);
    if (typeof rows === 'string') throw new Error(`BUG: a checked record cannot be read: ${rows}.`);
    const ends = rows.map(({ retentionDays, time, span }) =>
      retentionDays === 0 ? Infinity : (time + span) * 1000 + retentionDays * DAY_MS,
    );
    return ends.some((end) => end <= now) ? ends : null;
  },
};

const wrong = (what: string): ReturnType<typeof faultOf> => faultOf('rows', `The record cannot be read: ${what}.`);

/** The headers of a record of so many rows. */
export const counterHeaders = (count: number): Record<string, string> =>
  sharedHeaders({ name: NAME, version: VERSION }, { tenantId: 0, retentionDays: 0, count, bytes: 0, encoding: COLUMNS });
