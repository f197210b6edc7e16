import { ByteReader, ByteWriter, CutOff, unlessCutOff } from '../../core/snapshot-bytes.ts';
import { KnownPatterns } from './known-patterns.ts';
import { PatternSegment } from './pattern-segment.ts';

const VERSION = 2;
const MAX_WORD = 0xffff_ffff;
const MOST_GROUPS = 10_000_000;

/**
 * The segments that count at a time, from the shortest on: by spans of `minutes`, open for `openMs` of append time. The short one makes
 * counts fresh, the long one makes them few.
 */
export const SEGMENTS = [
  { minutes: 1, openMs: 10_000 },
  { minutes: 60, openMs: 3_600_000 },
] as const;

/** What a partition has counted of patterns and not reported, and which it has reported. */
export class PatternsState {
  /** The open segment of each length; null where no entry came since the last one was closed. */
  readonly segments: (PatternSegment | null)[] = SEGMENTS.map(() => null);
  known = new KnownPatterns();
  /** The offset of the record that comes next, and when the one before it was appended, milliseconds. */
  next = 0;
  lastAt = 0;
  /** When the first record was appended of what is counted without a gap, milliseconds; 0 with the first record of all. */
  run = 0;
  /** The day (since 1970, by append time) on which patterns were forgotten last. */
  day = 0;

  snapshot(): Buffer {
    const to = new ByteWriter();
    for (const number of [VERSION, this.next, this.lastAt, this.run, this.day]) to.count(number);
    this.known.write(to);
    for (const segment of this.segments) {
      to.count(segment === null ? 0 : 1);
      if (segment !== null) writeSegment(to, segment);
    }
    return to.finish();
  }

  /** What `snapshot` made; null where the bytes are anything else. */
  static restored(bytes: Buffer): PatternsState | null {
    const from = new ByteReader(bytes);
    return unlessCutOff(() => {
      if (from.count() !== VERSION) return null;
      const state = new PatternsState();
      [state.next, state.lastAt, state.run, state.day] = [from.count(), from.count(), from.count(), from.count()];
      state.known = KnownPatterns.read(from);
      SEGMENTS.forEach(({ minutes }, index) => {
        if (from.count(1) === 1) state.segments[index] = readSegment(from, minutes);
      });
      return from.isAtEnd ? state : null;
    });
  }
}

function writeSegment(to: ByteWriter, segment: PatternSegment): void {
  for (const number of [segment.from, segment.since]) to.count(number);
  for (const tenants of [segment.alone, segment.folded]) for (const number of [tenants.size, ...tenants]) to.count(number);
  to.count(segment.size);
  for (const group of segment.groups()) {
    for (const number of [group.tenant, group.retentionDays, group.scope, group.severity, group.entries, group.first, group.last])
      to.count(number);
    for (const word of [group.patternHigh, group.patternLow, group.streamHigh, group.streamLow]) to.word(word);
    to.signed(group.time);
  }
}

function readSegment(from: ByteReader, minutes: number): PatternSegment {
  const segment = new PatternSegment(from.count(), from.count(), minutes);
  for (const tenants of [segment.alone, segment.folded])
    for (let left = from.count(MAX_WORD); left > 0; left--) tenants.add(from.count(MAX_WORD));
  for (let left = from.count(MOST_GROUPS); left > 0; left--) {
    const { size } = segment;
    const [tenant, retentionDays, scope, severity] = [from.count(MAX_WORD), from.count(0xffff), from.count(1), from.count(7)];
    const [entries, first, last] = [from.count(), from.count(), from.count()];
    const [patternHigh, patternLow, streamHigh, streamLow] = [from.word(), from.word(), from.word(), from.word()];
    const ids = { patternHigh, patternLow, streamHigh, streamLow };
    segment.put({ tenant, retentionDays, scope, severity, entries, first, last, ...ids, time: from.signed() });
    // each group stands there once, and has entries
    if (tenant === 0 || entries === 0 || segment.size !== size + 1) throw new CutOff();
  }
  if (segment.size === 0) throw new CutOff();
  return segment;
}
