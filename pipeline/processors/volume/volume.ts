import type { AbsoluteRecord } from '../../bus/absolute-record.ts';
import type { Fold, Input } from '../processor.ts';
import { RecordGroups } from './record-groups.ts';
import { Segment } from './segment.ts';
import { segmentRecords } from './segment-records.ts';
import { restoreSegments, snapshotSegments } from './snapshot.ts';
import { MINUTE_MS, MINUTE_SECONDS, SPAN_MINUTES } from './spans.ts';

/** The open segment of each span; null where no entry came since the last one was closed. */
export type VolumeState = (Segment | null)[];

export type VolumeOptions = {
  /** When a segment has more groups, it forgets those of single streams, or is closed: this bounds what a partition holds for each span. */
  readonly maxGroups?: number;
};

/** What is counted of the record that is folded just now. */
const record = new RecordGroups();

/**
 * Counts entries and bytes by tenant, class, stream, level and span of time, in segments (docs/adr/0023-one-reader-for-every-processor.md).
 * Only a record with entries opens a segment; each input may close some.
 */
export const createVolume = ({ maxGroups = 50_000 }: VolumeOptions = {}): Fold<VolumeState> => ({
  name: 'volume',
  init: () => SPAN_MINUTES.map(() => null),
  fold(state, input) {
    const outputs: AbsoluteRecord[] = [];
    const close = (span: number, until: number): void => {
      const segment = state[span] ?? null;
      const minutes = SPAN_MINUTES[span] as number;
      if (segment === null) return;
      const key = { partition: input.partition, span: minutes * MINUTE_SECONDS, segment: segment.from, until };
      for (const output of segmentRecords(key, segment.rows(minutes))) outputs.push(output);
      state[span] = null;
    };
    SPAN_MINUTES.forEach((minutes, span) => {
      const segment = state[span] ?? null;
      if (segment !== null && input.appendedAt >= segment.since + minutes * MINUTE_MS) close(span, input.offset);
    });
    add(state, input);
    state.forEach((segment, span) => {
      segment?.limit(maxGroups);
      if (segment?.isFull(maxGroups) === true) close(span, input.offset + 1);
    });
    return outputs;
  },
  snapshot: snapshotSegments,
  restore: restoreSegments,
});

function add(state: VolumeState, input: Input): void {
  if (input.kind === 'tick' || input.columns === null || input.columns.count === 0) return;
  record.count(input.columns);
  SPAN_MINUTES.forEach((minutes, span) => {
    const segment = (state[span] ??= new Segment(input.offset, input.appendedAt));
    segment.add(record, input.tenantId, input.retentionDays, minutes);
  });
}
