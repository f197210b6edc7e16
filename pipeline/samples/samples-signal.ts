import type { Fault } from '../bus/records/dead-letter.ts';
import { faultOf } from '../bus/records/record.ts';
import type { HeaderText, SignalRecord } from '../bus/records/signal-record.ts';
import type { Signal } from '../bus/records/signal.ts';
import { COLUMNS } from '../rows/native.ts';
import { rowsTopic, wrongRows } from '../rows/rows-signal.ts';
import { definitionsFault } from './record-definitions.ts';
import { sampleLayout, SAMPLES } from './sample.ts';
import { DEFINITION_PAGES, DEFINITIONS_AT, numbersOf, type SamplesRecord } from './samples-record.ts';

const DAY_MS = 86_400_000;

function decode(record: SignalRecord, header: HeaderText): SamplesRecord | Fault {
  const text = header(DEFINITIONS_AT) || '0';
  const definitionsAt = /^\d{1,9}$/.test(text) ? Number(text) : -1;
  if (definitionsAt < 0 || definitionsAt > record.value.length)
    return faultOf('headers', `The header ${DEFINITIONS_AT} is not a place in the value.`);
  const cut = header(DEFINITION_PAGES) || null;
  const parts = cut === null ? null : /^(\d{1,5}),(\d{1,5})$/.exec(cut);
  if (cut !== null && parts === null) return faultOf('headers', `The header ${DEFINITION_PAGES} is not two numbers.`);
  return { ...record, definitionsAt, cut: parts === null ? null : { pages: Number(parts[1]), loose: Number(parts[2]) } };
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
    const fault = sampleLayout.check(numbersOf(record), count) ?? definitionsFault(record);
    return fault === null ? null : wrongRows(fault);
  },
  rowEnds(record, now) {
    const { count, retentionDays } = record;
    if (count === 0 || retentionDays === 0) return null;
    const view = sampleLayout.view(numbersOf(record), count);
    if (typeof view === 'string') throw new Error(`BUG: a checked record cannot be read: ${view}.`);
    // the table drops by whole seconds
    const endOf = (row: number): number => Math.floor(view.time(row) / 1000) * 1000 + retentionDays * DAY_MS;
    let row = 0;
    while (row < count && endOf(row) > now) row += 1;
    return row === count ? null : Array.from({ length: count }, (_none, at) => endOf(at));
  },
};
