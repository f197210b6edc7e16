import type { Fault } from '../bus/records/dead-letter.ts';
import { faultOf } from '../bus/records/record.ts';
import type { HeaderText, SignalRecord } from '../bus/records/signal-record.ts';
import type { Signal } from '../bus/records/signal.ts';
import { COLUMNS } from '../rows/native.ts';
import { rowsTopic, wrongRows } from '../rows/rows-signal.ts';
import { definitionLayout, sampleLayout, SAMPLES } from './sample.ts';

const DAY_MS = 86_400_000;

/** The header that states where the second part of a value begins, bytes. */
export const DEFINITIONS_AT = 'definitions_at';

/** A record of `samples.v1`: its value is two parts, each a list of columns in frames of its own. */
export type SamplesRecord = SignalRecord & { readonly definitionsAt: number };

/** The part that the table takes. */
export const numbersOf = ({ value, definitionsAt }: SamplesRecord): Buffer => value.subarray(0, definitionsAt);
/** The part that has what the series of the rows are. */
export const definitionsOf = ({ value, definitionsAt }: SamplesRecord): Buffer => value.subarray(definitionsAt);

function decode(record: SignalRecord, header: HeaderText): SamplesRecord | Fault {
  const text = header(DEFINITIONS_AT) || '0';
  const definitionsAt = /^\d{1,9}$/.test(text) ? Number(text) : -1;
  if (definitionsAt < 0 || definitionsAt > record.value.length)
    return faultOf('headers', `The header ${DEFINITIONS_AT} is not a place in the value.`);
  return { ...record, definitionsAt };
}

/** Samples of metrics, exemplars, and what is known of metrics: records of rows of one tenant each on `samples.v1`. */
export const samplesSignal: Signal<SamplesRecord> = {
  name: SAMPLES,
  topic: rowsTopic(`${SAMPLES}.v1`),
  version: 1,
  encodings: [COLUMNS],
  decode,
  check(record) {
    const { count, value } = record;
    if (count === 0) return value.length === 0 ? null : wrongRows('it has a value, and its header count is 0');
    const fault = sampleLayout.check(numbersOf(record), count) ?? definitionLayout.check(definitionsOf(record), count);
    return fault === null ? null : wrongRows(fault);
  },
  rowEnds(record, now) {
    const { count, retentionDays } = record;
    if (count === 0 || retentionDays === 0) return null;
    const view = sampleLayout.view(numbersOf(record), count);
    if (typeof view === 'string') throw new Error(`BUG: a checked record cannot be read: ${view}.`);
    // the table drops by whole seconds
    const ends = Array.from({ length: count }, (_none, row) => Math.floor(view.time(row) / 1000) * 1000 + retentionDays * DAY_MS);
    return ends.some((end) => end <= now) ? ends : null;
  },
};
