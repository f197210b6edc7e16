import { OVERFLOW_FINGERPRINT } from '../../clusterer/clusterer.ts';
import { ByteReader, ByteWriter, CutOff } from '../../core/snapshot-bytes.ts';
import type { PartialOutput } from '../merge/partial.ts';
import type { PatternSegment } from './pattern-segment.ts';

/** How such a partial begins; one of patterns that were seen begins with its version, which is less. */
const KIND = 100;
/** More than a partial ever has. */
const MOST = 1_000_000;
/** A partial is cut after so many rows: each has 30 bytes at most. */
const MOST_ROWS = 10_000;
/** Patterns of a tenant that are told in a segment: those with the smallest numbers, so that it is the same ones each time. */
const MOST_PATTERNS = 500;
/** Severities that are errors: error and fatal. */
const FIRST_ERROR = 5;
/** Errors that are older or newer than this when they come have no part in what is usual. Minutes. */
const OLDEST = 15 * 24 * 60;
const NEWEST = 60;
const MINUTE_MS = 60_000;
const OVERFLOW = OVERFLOW_FINGERPRINT.slice(0, 16);
const idBytes = Buffer.alloc(8);

/** How many errors of a pattern came in a minute (since 1970, by their own time) in a stream. */
export type ErrorCount = {
  /** The stream's id, a character for each of its eight bytes; empty where streams are not told apart. */
  readonly stream: string;
  readonly minute: number;
  readonly errors: number;
};

/** The errors of a pattern, by the first 16 digits of its fingerprint. */
export type PatternErrors = { readonly pattern: string; readonly counts: readonly ErrorCount[] };

/** The first 16 digits of a fingerprint by the halves of a pattern's number. */
export const digitsOf = (high: number, low: number): string =>
  (high >>> 0).toString(16).padStart(8, '0') + (low >>> 0).toString(16).padStart(8, '0');

/** What a segment of minutes has of errors, as partials by tenant; those of the overflow have no part in it. */
export function errorPartials(segment: PatternSegment, appendedAt: number): PartialOutput[] {
  const now = Math.floor(appendedAt / MINUTE_MS);
  const tenants = new Map<number, { readonly retentionDays: number; readonly patterns: Map<string, ErrorCount[]> }>();
  for (const group of segment.groups(FIRST_ERROR)) {
    const { tenant, retentionDays, time: minute, entries: errors, streamHigh, streamLow } = group;
    const pattern = digitsOf(group.patternHigh, group.patternLow);
    if (pattern === OVERFLOW || minute < now - OLDEST || minute > now + NEWEST) continue;
    let own = tenants.get(tenant);
    if (own === undefined) tenants.set(tenant, (own = { retentionDays, patterns: new Map<string, ErrorCount[]>() }));
    const counts = own.patterns.get(pattern);
    const count = { stream: idOf(streamHigh, streamLow), minute, errors };
    if (counts === undefined) own.patterns.set(pattern, [count]);
    else counts.push(count);
  }
  return [...tenants].flatMap(([tenantId, { retentionDays, patterns }]) => {
    const told = [...patterns].sort(([a], [b]) => (a < b ? -1 : 1)).slice(0, MOST_PATTERNS);
    const values = encodeErrors(told.map(([pattern, counts]) => ({ pattern, counts })));
    return values.map((value): PartialOutput => ({ kind: 'partial', tenantId, retentionDays, value }));
  });
}

/** The id of a stream as `rates` tells it; empty for none. */
function idOf(high: number, low: number): string {
  if (high === 0 && low === 0) return '';
  idBytes.writeUInt32LE(high >>> 0, 0);
  idBytes.writeUInt32LE(low >>> 0, 4);
  return idBytes.toString('latin1');
}

/** The values of the partials that tell these. */
export function encodeErrors(patterns: readonly PatternErrors[]): Buffer[] {
  const cuts: PatternErrors[][] = [];
  let room = 0;
  for (const { pattern, counts } of patterns)
    for (let at = 0; at < counts.length;) {
      if (room <= 0) {
        cuts.push([]);
        room = MOST_ROWS;
      }
      const some = counts.slice(at, at + room);
      cuts.at(-1)?.push({ pattern, counts: some });
      at += some.length;
      room -= some.length;
    }
  return cuts.map((together) => {
    const to = new ByteWriter();
    for (const number of [KIND, together.length]) to.count(number);
    for (const { pattern, counts } of together) {
      to.text(pattern);
      to.count(counts.length);
      for (const { stream, minute, errors } of counts) {
        to.text(stream);
        to.signed(minute);
        to.count(errors);
      }
    }
    return to.finish();
  });
}

/** What a value says; null where it is no such partial. */
export function readErrors(value: Buffer): PatternErrors[] | null {
  const from = new ByteReader(value);
  try {
    if (from.count() !== KIND) return null;
    const patterns: PatternErrors[] = [];
    for (let left = from.count(MOST); left > 0; left--) {
      const [pattern, counts] = [from.text(), [] as ErrorCount[]];
      for (let more = from.count(MOST); more > 0; more--) counts.push({ stream: from.text(), minute: from.signed(), errors: from.count() });
      patterns.push({ pattern, counts });
    }
    return from.isAtEnd ? patterns : null;
  } catch (error) {
    if (error instanceof CutOff) return null;
    throw error;
  }
}
