import { columnHead } from '../logs/columns/layout.ts';

/**
 * The columns of a record of `counters.v1`, in their order, as they stand in its value: as those of a record of `logs.v1`, for each its
 * name, its type and its data in ClickHouse's Native format. docs/topics.md is the specification.
 */
const COLUMNS = [
  ['tenant_id', 'UInt32'],
  ['retention_days', 'UInt16'],
  ['scope', 'UInt8'],
  ['span', 'UInt32'],
  ['time', "DateTime64(0, 'UTC')"],
  ['stream_id', 'UInt64'],
  ['level', 'String'],
  ['log_part', 'UInt16'],
  ['segment', 'UInt64'],
  ['until', 'UInt64'],
  ['run', 'UInt64'],
  ['entries', 'UInt64'],
  ['bytes', 'UInt64'],
] as const;

export type VolumeColumn = (typeof COLUMNS)[number][0];

export const VOLUME_COLUMNS: readonly VolumeColumn[] = COLUMNS.map(([name]) => name);

/** A column as `input()` declares it. */
export const VOLUME_STRUCTURE = COLUMNS.map(([name, type]) => `${name} ${type}`).join(', ');

/** What stands before each column's data. */
export const VOLUME_HEADS = Object.fromEntries(COLUMNS.map(([name, type]) => [name, columnHead(name, type)])) as Readonly<
  Record<VolumeColumn, Buffer>
>;

/** What a row takes before it is compressed, without its level. */
export const ROW_BYTES = 69;
