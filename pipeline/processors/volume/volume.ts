import type { AbsoluteRecord } from '../../bus/producer/absolute-record.ts';
import { isOn } from '../../core/fault-points.ts';
import type { Configurable, Fold, Input } from '../base/processor.ts';
import { groupsOf } from '../base/record-groups.ts';
import { Segment } from './segment.ts';
import { segmentRecords } from './segment-records.ts';
import { restoreVolume, snapshotVolume } from './snapshot.ts';
import { checkVolumeSetting, MAX_GROUPS } from './volume-setting.ts';
import { MINUTE_SECONDS, OPEN_MS_PER_MINUTE, SPAN_MINUTES } from './spans.ts';
import { VolumeState } from './volume-state.ts';

const ENDS_BY_LOG = isOn('state-clock');

export type VolumeOptions = {
  /** When a segment has more groups, it drops single streams of the largest tenants, or is closed: a bound on each span. */
  readonly maxGroups?: number;
};

/**
 * Counts entries and bytes by tenant, class, stream, level and span of time, in segments (docs/adr/0023-one-reader-for-every-processor.md).
 * Only a record with entries opens a segment; each input may close some. With a segment those of shorter spans are closed, so that one of a
 * longer span is as long as some of the shorter one, and a reader that adds up goes from the one to the other where it ends. Each minute it
 * reports how far is counted.
 */
export const createVolume = ({ maxGroups: usual = 50_000 }: VolumeOptions = {}): Fold<VolumeState> & Configurable<VolumeState> => ({
  name: 'volume',
  init: () => new VolumeState(),
  fold(state, input) {
    const { segments } = state;
    const maxGroups = state.maxGroups ?? usual;
    const now = ENDS_BY_LOG ? input.appendedAt : Date.now();
    const outputs: AbsoluteRecord[] = [];
    const close = (longest: number, until: number, closedAt = input.appendedAt): void => {
      for (let span = 0; span <= longest; span++) outputs.push(...closed(state, span, { partition: input.partition, until, closedAt }));
      if (longest >= 0) state.publishedAt = closedAt;
    };
    if (state.isBehindGap(input)) {
      // what is missing came behind what has been counted
      close(segments.length - 1, state.next, state.lastAt);
      state.begin(input);
    }
    close(
      longestOf(segments, (segment, minutes) => now >= segment.since + minutes * OPEN_MS_PER_MINUTE),
      input.offset,
    );
    if (segments[0] === null && input.appendedAt >= state.publishedAt + OPEN_MS_PER_MINUTE) {
      outputs.push(...nothingSince(state, input));
      state.publishedAt = input.appendedAt;
    }
    add(segments, input);
    state.next = input.offset + 1;
    state.lastAt = input.appendedAt;
    for (const segment of segments) segment?.limit(maxGroups);
    close(
      longestOf(segments, (segment) => segment.isFull(maxGroups)),
      state.next,
    );
    return outputs;
  },
  settings: { [MAX_GROUPS]: [1000, 50_000, 200_000] },
  checkSetting: checkVolumeSetting,
  configure(state, setting) {
    if (setting.key === MAX_GROUPS && setting.tenantId === 0)
      state.maxGroups = checkVolumeSetting(setting) === null ? (setting.value as number) : null;
  },
  snapshot: snapshotVolume,
  restore: restoreVolume,
});

/** The longest span whose segment is like this; -1 where none is. */
const longestOf = (segments: VolumeState['segments'], isSo: (segment: Segment, minutes: number) => boolean): number =>
  segments.findLastIndex((segment, span) => segment !== null && isSo(segment, SPAN_MINUTES[span] as number));

/** Where a segment ends, and since when, by append time, comes what is behind it. */
type End = { readonly partition: number; readonly until: number; readonly closedAt: number };

/** The rows of a segment, which is open no more. */
function closed({ segments, base, run }: VolumeState, span: number, { partition, until, closedAt }: End): AbsoluteRecord[] {
  const segment = segments[span] ?? null;
  if (segment === null) return [];
  segments[span] = null;
  const minutes = SPAN_MINUTES[span] as number;
  const key = { partition, span: minutes * MINUTE_SECONDS, segment: segment.from, until, run };
  return segmentRecords(key, segment.rows(minutes), { base, closedAt });
}

/** Says each minute how far is counted, also where nothing comes. */
function nothingSince({ base, run }: VolumeState, { partition, offset, appendedAt }: Input): AbsoluteRecord[] {
  return segmentRecords({ partition, span: MINUTE_SECONDS, segment: offset, until: offset, run }, [], { base, closedAt: appendedAt });
}

function add(segments: VolumeState['segments'], input: Input): void {
  if (input.kind === 'tick' || input.columns === null || input.columns.count === 0) return;
  const record = groupsOf(input);
  SPAN_MINUTES.forEach((minutes, span) => {
    const segment = (segments[span] ??= new Segment(input.offset, input.appendedAt));
    segment.add(record, input.tenantId, input.retentionDays, minutes);
  });
}
