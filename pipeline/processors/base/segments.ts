import { isOn } from '../../core/fault-points.ts';
import type { Position } from './position.ts';
import { OPEN_MS_PER_MINUTE, SPAN_MINUTES } from './spans.ts';

const ENDS_BY_LOG = isOn('state-clock');

/** What is counted of a part of a partition: from which record on, and when that was appended, milliseconds. */
export interface Segment {
  readonly from: number;
  readonly since: number;
}

/**
 * A segment that is open no more: which span it counts by (an index of SPAN_MINUTES), where it ends, since when, by append time, comes what is
 * behind it, and the counting without a gap that it is of.
 */
export type Closed<Own> = {
  readonly segment: Own;
  readonly span: number;
  readonly until: number;
  readonly closedAt: number;
  /** When the last record before its end was appended, milliseconds. */
  readonly lastAt: number;
  readonly base: number;
  readonly run: number;
};

/**
 * The segments of a partition in which something is counted by spans of time (docs/adr/0023-one-reader-for-every-processor.md): where they
 * end follows from the log alone. With a segment those of shorter spans are closed, so that one of a longer span is as long as some of the
 * shorter one, and a reader that adds up goes from the one to the other where it ends.
 */
export class Segments<Own extends Segment> {
  /** The open segment of each span; null where nothing came since the last one was closed. */
  readonly segments: (Own | null)[] = SPAN_MINUTES.map(() => null);
  /** The offset of the record that comes next, and when the one before it was appended, milliseconds. */
  next = 0;
  lastAt = 0;
  /** What is counted without a gap: the offset of its first record, and when that was appended (milliseconds; 0 with the first record of all). */
  base = 0;
  run = 0;

  /** Before a record is counted: closes what ends there. `hasBegun`: records are missing before it, or it has an offset that was given before. */
  pass({ offset, appendedAt }: Position): { readonly closed: Closed<Own>[]; readonly hasBegun: boolean } {
    const hasBegun = offset !== this.next;
    // what is missing came behind what has been counted
    const before = hasBegun ? this.close(SPAN_MINUTES.length - 1, this.next, this.lastAt) : [];
    if (hasBegun) [this.base, this.run] = [offset, appendedAt];
    const now = ENDS_BY_LOG ? appendedAt : Date.now();
    const isDue = (segment: Own, span: number): boolean => now >= segment.since + (SPAN_MINUTES[span] as number) * OPEN_MS_PER_MINUTE;
    return { closed: [...before, ...this.close(this.longest(isDue), offset, appendedAt)], hasBegun };
  }

  /** After a record was counted. */
  took({ offset, appendedAt }: Position): void {
    this.next = offset + 1;
    this.lastAt = appendedAt;
  }

  /** The longest span whose segment is like this; -1 where none is. */
  longest(isSo: (segment: Own, span: number) => boolean): number {
    return this.segments.findLastIndex((segment, span) => segment !== null && isSo(segment, span));
  }

  /** Closes the segments of the spans up to this one. */
  close(longest: number, until: number, closedAt: number): Closed<Own>[] {
    const { base, run, lastAt } = this;
    const closed: Closed<Own>[] = [];
    for (let span = 0; span <= longest; span++) {
      const segment = this.segments[span] ?? null;
      this.segments[span] = null;
      if (segment !== null) closed.push({ segment, span, until, closedAt, lastAt, base, run });
    }
    return closed;
  }
}
