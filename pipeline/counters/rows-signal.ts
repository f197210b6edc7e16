import { faultOf, sharedHeaders } from '../bus/records/record.ts';
import type { SignalRecord } from '../bus/records/signal-record.ts';
import type { Signal } from '../bus/records/signal.ts';
import { MAX_MESSAGE_BYTES } from '../bus/records/topics.ts';
import { COLUMNS } from '../logs/record.ts';

const DAY_MS = 86_400_000;
const VERSION = 1;

/** When a row ends: it is about `span` seconds from `time` on (seconds since 1970), and it is kept for its class (days; 0: for ever). */
type TimedRow = { readonly retentionDays: number; readonly time: number; readonly span: number };

/** A signal whose records hold rows of many tenants as columns, on `<name>.v1`. `read` returns what is wrong as a string. */
export const rowsSignal = (name: string, read: (value: Buffer, count: number) => readonly TimedRow[] | string): Signal => ({
  name,
  topic: {
    name: `${name}.v1`,
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
    if (count === 0) return value.length === 0 ? null : wrong('it has a value, and its header count is 0');
    const rows = read(value, count);
    return typeof rows === 'string' ? wrong(rows) : null;
  },
  rowEnds({ value, count }: SignalRecord, now) {
    const rows = count === 0 ? [] : read(value, count);
    if (typeof rows === 'string') throw new Error(`BUG: a checked record cannot be read: ${rows}.`);
    const ends = rows.map(({ retentionDays, time, span }) =>
      retentionDays === 0 ? Infinity : (time + span) * 1000 + retentionDays * DAY_MS,
    );
    return ends.some((end) => end <= now) ? ends : null;
  },
});

const wrong = (what: string): ReturnType<typeof faultOf> => faultOf('rows', `The record cannot be read: ${what}.`);

/** The headers of a record of `count` rows. */
export const rowsHeaders = ({ name }: Pick<Signal, 'name'>, count: number): Record<string, string> =>
  sharedHeaders({ name, version: VERSION }, { tenantId: 0, retentionDays: 0, count, bytes: 0, encoding: COLUMNS });
