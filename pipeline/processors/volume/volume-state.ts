import { Segments } from '../base/segments.ts';
import type { Segment } from './segment.ts';

/** What the volume knows of a partition. */
export class VolumeState extends Segments<Segment> {
  /** When it last reported how far is counted, by append time, milliseconds. */
  publishedAt = 0;
  /** What operators say a segment may have of groups; null where they say nothing. */
  maxGroups: number | null = null;
}
