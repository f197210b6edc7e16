import { OVERFLOW_FINGERPRINT } from '../../clusterer/clusterer.ts';
import { ByteReader, ByteWriter, unlessCutOff } from '../../core/snapshot-bytes.ts';
import type { PartialOutput } from '../base/partial.ts';
import type { ErrorCount, PatternErrors, PatternSegment } from './pattern-segment.ts';

/** How such a partial begins; one of patterns that were seen begins with its version, which is less. */
const KIND = 100;
/** More than a partial ever has. */
const MOST = 1_000_000;
/** A partial is cut after this number of rows: each has 32 bytes at most. */
const MOST_ROWS = 10_000;
/** Patterns of a tenant that a segment reports: those with the smallest numbers, so that it is the same ones each time. */
const MOST_PATTERNS = 500;
/** Severities that are errors: error and fatal. */
const FIRST_ERROR = 5;
/** Errors that are older or newer than this when they come have no part in what is usual. Minutes. */
const OLDEST = 15 * 24 * 60;
const NEWEST = 60;
const MINUTE_MS = 60_000;
const OVERFLOW = OVERFLOW_FINGERPRINT.slice(0, 16);
const idBytes = Buffer.alloc(8);

/** The first 16 digits of a fingerprint by the halves of a pattern's number. */
export const digitsOf = (high: number, low: number): string =>
  (high >>> 0).toString(16).padStart(8, '0') + (low >>> 0).toString(16).padStart(8, '0');

/** The id of a stream as `rates` reports it, a character for each of its eight bytes; empty for none. */
export function streamIdOf({ streamHigh, streamLow }: ErrorCount): string {
  if (streamHigh === 0 && streamLow === 0) return '';
  idBytes.writeUInt32LE(streamHigh >>> 0, 0);
  idBytes.writeUInt32LE(streamLow >>> 0, 4);
  return idBytes.toString('latin1');
}

/** What a segment of minutes has of errors, as partials by tenant; those of the overflow have no part in it. */
export function errorPartials(segment: PatternSegment, appendedAt: number): PartialOutput[] {
  const now = Math.floor(appendedAt / MINUTE_MS);
  const isNear = ({ minute }: ErrorCount): boolean => minute >= now - OLDEST && minute <= now + NEWEST;
  return [...segment.errors(FIRST_ERROR)].flatMap(([tenantId, { retentionDays, patterns }]) => {
    const reported = [...patterns.values()]
      .filter(({ high, low }) => digitsOf(high, low) !== OVERFLOW)
      .sort((a, b) => a.high - b.high || a.low - b.low)
      .slice(0, MOST_PATTERNS)
      .map((pattern) => ({ ...pattern, counts: pattern.counts.filter(isNear) }));
    return encodeErrors(reported).map((value): PartialOutput => ({ kind: 'partial', tenantId, retentionDays, value }));
  });
}

/** The values of the partials that report these. */
export function encodeErrors(patterns: readonly PatternErrors[]): Buffer[] {
  const cuts: PatternErrors[][] = [];
  let budget = 0;
  for (const { high, low, counts } of patterns)
    for (let at = 0; at < counts.length;) {
      if (budget <= 0) {
        cuts.push([]);
        budget = MOST_ROWS;
      }
      const some = counts.slice(at, at + budget);
      cuts.at(-1)?.push({ high, low, counts: some });
      at += some.length;
      budget -= some.length;
    }
  return cuts.map((together) => {
    const to = new ByteWriter();
    for (const number of [KIND, together.length]) to.count(number);
    for (const { high, low, counts } of together) {
      to.word(high);
      to.word(low);
      to.count(counts.length);
      for (const { streamHigh, streamLow, minute, errors } of counts) {
        to.word(streamHigh);
        to.word(streamLow);
        to.signed(minute);
        to.count(errors);
      }
    }
    return to.finish();
  });
}

/** Reads a value; null where it is not such a partial. */
export function readErrors(value: Buffer): PatternErrors[] | null {
  const from = new ByteReader(value);
  return unlessCutOff(() => {
    if (from.count() !== KIND) return null;
    const patterns: PatternErrors[] = [];
    for (let left = from.count(MOST); left > 0; left--) {
      const pattern: PatternErrors = { high: from.word(), low: from.word(), counts: [] };
      for (let more = from.count(MOST); more > 0; more--)
        pattern.counts.push({ streamHigh: from.word(), streamLow: from.word(), minute: from.signed(), errors: from.count() });
      patterns.push(pattern);
    }
    return from.isAtEnd ? patterns : null;
  });
}
