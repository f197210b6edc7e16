import type { Input } from '../base/processor.ts';
import type { Segment } from './segment.ts';
import { SPAN_MINUTES } from './spans.ts';

/** What the volume knows of a partition. */
export class VolumeState {
  /** The open segment of each span; null where no entry came since the last one was closed. */
  readonly segments: (Segment | null)[] = SPAN_MINUTES.map(() => null);
  /** The offset of the record that comes next, and when the one before it was appended, milliseconds. */
  next = 0;
  lastAt = 0;
  /** What is counted without a gap: the offset of its first record, and when that was appended (milliseconds; 0 with the first record of all). */
  base = 0;
  run = 0;
  /** When it last reported how far is counted, by append time, milliseconds. */
  publishedAt = 0;
  /** What operators say a segment may have of groups; null where they say nothing. */
  maxGroups: number | null = null;

  /** True where records are missing before this one, or where it has an offset that was given before. */
  isBehindGap({ offset }: Input): boolean {
    return offset !== this.next;
  }

  /** Counts from this record on. */
  begin({ offset, appendedAt }: Input): void {
    this.base = offset;
    this.run = appendedAt;
    this.publishedAt = 0;
  }
}
