import { count, seconds, uint16, uint32, uint64, uint8 } from '../rows/fixed-types.ts';
import { Layout } from '../rows/layout.ts';
import { bytes } from '../rows/string-types.ts';
import { SCOPE_SEGMENT, SCOPE_UNPUBLISHED, type SegmentKey, type VolumeRow } from './volume-row.ts';

const hasNoTenant = (scope: number): boolean => scope === SCOPE_SEGMENT || scope === SCOPE_UNPUBLISHED;

/** A row as it is in a record: each names its segment. */
export type SegmentRow = VolumeRow & SegmentKey;

/** The columns of a record of `counters.v1`, in their order. docs/topics.md is the specification. */
export const volumeLayout = new Layout<SegmentRow>('counters', [
  { name: 'tenant_id', type: uint32, member: 'tenantId' },
  { name: 'retention_days', type: uint16, member: 'retentionDays' },
  {
    name: 'scope',
    type: uint8,
    member: 'scope',
    isGood: (scope, row, { tenantId }) => (tenantId(row) === 0 ? hasNoTenant(scope) : scope < SCOPE_SEGMENT),
  },
  { name: 'span', type: uint32, member: 'span', isGood: (span) => span > 0 },
  { name: 'time', type: seconds, member: 'time' },
  { name: 'stream_id', type: uint64, member: 'streamId' },
  { name: 'level', type: bytes, member: 'level' },
  { name: 'log_part', type: uint16, member: 'partition' },
  { name: 'segment', type: count, member: 'segment' },
  {
    name: 'until',
    type: count,
    member: 'until',
    isGood: (until, row, { scope, segment }) => until >= segment(row) + (scope(row) === SCOPE_SEGMENT ? 0 : 1),
  },
  { name: 'run', type: count, member: 'run' },
  { name: 'entries', type: count, member: 'entries', isGood: (entries, row, { tenantId }) => entries > 0 || tenantId(row) === 0 },
  { name: 'bytes', type: count, member: 'bytes' },
]);

/** What a row takes before it is compressed. Bytes. */
export const volumeSize = ({ level }: VolumeRow): number => 74 + level.length;
