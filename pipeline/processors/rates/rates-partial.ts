import { SEVERITIES } from '../../core/severity.ts';
import { ByteReader, ByteWriter, CutOff } from '../../core/snapshot-bytes.ts';

const VERSION = 1;
/** More than a partial ever has. */
const MOST = 1_000_000;
const KINDS = SEVERITIES.length;
/** More kinds at once than there are. */
const MOST_MASK = 2 ** KINDS - 1;
/** Severities that are errors: error and fatal. */
const FIRST_ERROR = 5;

/** The entries of a minute (since 1970, by their own time), by severity. */
export type MinuteCounts = { readonly minute: number; readonly bySeverity: readonly number[] };

/** What a partition has counted of a stream since its last report. */
export type StreamCounts = {
  /** Its id, a character for each of its eight bytes; empty for all others together. */
  readonly id: string;
  /** Its label set, reported once an hour; null in between. */
  readonly stream: string | null;
  /** In the order of their minutes, each once. */
  readonly minutes: readonly MinuteCounts[];
};

/** The value of a partial: what was counted of a tenant, stream by stream. Without streams it states that nothing came. */
export function encodeRates(streams: readonly StreamCounts[]): Buffer {
  const to = new ByteWriter();
  to.count(VERSION);
  to.count(streams.length);
  for (const { id, stream, minutes } of streams) {
    to.text(id);
    to.text(stream === null ? '' : Buffer.from(stream).toString('latin1'));
    to.count(minutes.length);
    let before = 0;
    for (const { minute, bySeverity } of minutes) {
      to.signed(minute - before);
      before = minute;
      to.count(bySeverity.reduce((mask, count, kind) => (count > 0 ? mask | (1 << kind) : mask), 0));
      for (const count of bySeverity) if (count > 0) to.count(count);
    }
  }
  return to.finish();
}

/** The content of a partial, column by column. Stream `n` has the minutes from `ends[n - 1]` (0 of the first one) to before `ends[n]`. */
export type Rates = {
  readonly ids: string[];
  /** Label sets; null where it is not reported. */
  readonly streams: (string | null)[];
  readonly ends: number[];
  readonly minutes: number[];
  readonly entries: number[];
  /** Those of the entries that are errors. */
  readonly errors: number[];
};

/** Reads a value; null where it is not such a partial. */
export function readRates(value: Buffer): Rates | null {
  const from = new ByteReader(value);
  try {
    if (from.count() !== VERSION) return null;
    const read: Rates = { ids: [], streams: [], ends: [], minutes: [], entries: [], errors: [] };
    for (let left = from.count(MOST); left > 0; left--) {
      read.ids.push(from.text());
      const text = from.text();
      read.streams.push(text === '' ? null : Buffer.from(text, 'latin1').toString());
      readMinutes(from, read);
      read.ends.push(read.minutes.length);
    }
    return from.isAtEnd ? read : null;
  } catch (error) {
    if (error instanceof CutOff) return null;
    throw error;
  }
}

function readMinutes(from: ByteReader, { minutes, entries, errors }: Rates): void {
  let minute = 0;
  for (let left = from.count(MOST); left > 0; left--) {
    minute += from.signed();
    let [all, wrong] = [0, 0];
    const mask = from.count(MOST_MASK);
    for (let kind = 0; kind < KINDS; kind++) {
      if ((mask & (1 << kind)) === 0) continue;
      const count = from.count();
      all += count;
      if (kind >= FIRST_ERROR) wrong += count;
    }
    minutes.push(minute);
    entries.push(all);
    errors.push(wrong);
  }
}
