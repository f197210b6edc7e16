import type { AbsoluteRecord } from '../../bus/producer/absolute-record.ts';
import type { Configurable, Fold, Input } from '../base/processor.ts';
import { groupsOf } from '../base/record-groups.ts';
import type { Closed } from '../base/segments.ts';
import { Segment } from './segment.ts';
import { segmentRecords } from './segment-records.ts';
import { restoreVolume, snapshotVolume } from './snapshot.ts';
import { checkVolumeSetting, MAX_GROUPS } from './volume-setting.ts';
import { MINUTE_SECONDS, OPEN_MS_PER_MINUTE, SPAN_MINUTES } from '../base/spans.ts';
import { VolumeState } from './volume-state.ts';

export type VolumeOptions = {
  /** When a segment has more groups, it drops single streams of the largest tenants, or is closed: a bound on each span. */
  readonly maxGroups?: number;
};

/**
 * Counts entries and bytes by tenant, class, stream, level and span of time, in segments (docs/adr/0023-one-reader-for-every-processor.md).
 * Only a record with entries opens a segment; each input may close some. Each minute it reports how far is counted.
 */
export const createVolume = ({ maxGroups: usual = 50_000 }: VolumeOptions = {}): Fold<VolumeState> & Configurable<VolumeState> => ({
  name: 'volume',
  init: () => new VolumeState(),
  fold(state, input) {
    const { segments } = state;
    const maxGroups = state.maxGroups ?? usual;
    const { closed, hasBegun } = state.pass(input);
    if (hasBegun) state.publishedAt = 0;
    else if (closed.length > 0) state.publishedAt = input.appendedAt;
    const outputs = closed.flatMap((one) => recordsOf(input.partition, one));
    if (segments[0] === null && input.appendedAt >= state.publishedAt + OPEN_MS_PER_MINUTE) {
      outputs.push(...nothingSince(state, input));
      state.publishedAt = input.appendedAt;
    }
    add(segments, input);
    state.took(input);
    for (const segment of segments) segment?.limit(maxGroups);
    const full = state.close(
      state.longest((segment) => segment.isFull(maxGroups)),
      state.next,
      input.appendedAt,
    );
    if (full.length > 0) state.publishedAt = input.appendedAt;
    return [...outputs, ...full.flatMap((one) => recordsOf(input.partition, one))];
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

/** The rows of a segment, which is open no more. */
function recordsOf(partition: number, { segment, span, until, closedAt, base, run }: Closed<Segment>): AbsoluteRecord[] {
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
