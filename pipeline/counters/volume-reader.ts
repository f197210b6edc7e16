import { readFrames } from '../logs/columns/frames.ts';
import { MAX_ROWS } from '../logs/columns/layout.ts';
import { StringView } from '../logs/columns/string-view.ts';
import { VOLUME_HEADS, type VolumeColumn } from './layout.ts';
import { SCOPE_SEGMENT, type SegmentKey, type VolumeRow } from './volume-row.ts';

/** A row as it is read: each says which segment it is of. */
export type ReadRow = VolumeRow & SegmentKey;

const DAY = 86_400;
/** The first day of which the log has entries, and the last second that it can tell. Seconds. */
const FIRST_TIME = -2_208_988_800 - DAY;
const LAST_TIME = 9_223_372_036;

/** Why a value is not the rows that its headers say. */
class Wrong extends Error {}

const levels = new StringView();

/**
 * Reads the value of a record, and checks all of it: frames, names and types of the columns, that each has `count` values that can be, and
 * that nothing is left over. So it can be passed on as it is. Returns what is wrong as a string.
 */
export function readVolume(value: Buffer, count: number): ReadRow[] | string {
  if (count < 1 || count > MAX_ROWS) return `its header count must be 1 to ${String(MAX_ROWS)}`;
  const bytes = readFrames(value, Buffer.alloc(0));
  if (bytes === null) return 'its frames cannot be decompressed';
  try {
    return read(new Columns(bytes, count), bytes, count);
  } catch (error) {
    if (error instanceof Wrong) return error.message;
    throw error;
  }
}

function read(columns: Columns, bytes: Buffer, count: number): ReadRow[] {
  const tenantId = columns.numbers('tenant_id', 4);
  const retentionDays = columns.numbers('retention_days', 2);
  const scope = columns.numbers('scope', 1, (number, row) => (tenantId[row] === 0 ? number === SCOPE_SEGMENT : number < SCOPE_SEGMENT));
  const span = columns.numbers('span', 4, (number) => number > 0);
  const time = columns.numbers('time', 8, (number) => number >= FIRST_TIME && number <= LAST_TIME);
  const streams = columns.fixed('stream_id', 8);
  const level = columns.strings('level');
  const partition = columns.numbers('log_part', 2);
  const segment = columns.numbers('segment', 8, isCount);
  const until = columns.numbers(
    'until',
    8,
    (number, row) => isCount(number) && number >= (segment[row] as number) + (scope[row] === SCOPE_SEGMENT ? 0 : 1),
  );
  const run = columns.numbers('run', 8, isCount);
  const entries = columns.numbers('entries', 8, (number, row) => isCount(number) && (number > 0 || scope[row] === SCOPE_SEGMENT));
  const sizes = columns.numbers('bytes', 8, isCount);
  columns.end();
  const { starts, ends } = level;
  return Array.from({ length: count }, (_, row) => ({
    tenantId: tenantId[row] as number,
    retentionDays: retentionDays[row] as number,
    scope: scope[row] as ReadRow['scope'],
    span: span[row] as number,
    time: time[row] as number,
    streamLow: bytes.readUInt32LE(streams + 8 * row),
    streamHigh: bytes.readUInt32LE(streams + 8 * row + 4),
    level: bytes.subarray(starts[row], ends[row]),
    partition: partition[row] as number,
    segment: segment[row] as number,
    until: until[row] as number,
    run: run[row] as number,
    entries: entries[row] as number,
    bytes: sizes[row] as number,
  }));
}

const isCount = (number: number): boolean => number >= 0 && Number.isSafeInteger(number);

/** The columns of a value, one after the other. */
class Columns {
  readonly #bytes: Buffer;
  readonly #count: number;
  #at = 0;

  constructor(bytes: Buffer, count: number) {
    this.#bytes = bytes;
    this.#count = count;
  }

  /** Where the values of a column begin that take `width` bytes each. */
  fixed(column: VolumeColumn, width: number): number {
    this.#head(column);
    const at = this.#at;
    this.#at += width * this.#count;
    if (this.#at > this.#bytes.length) throw new Wrong(`column ${column} ends before its last value`);
    return at;
  }

  /** Integers, of eight bytes signed ones. */
  numbers(column: VolumeColumn, width: 1 | 2 | 4 | 8, isGood: (number: number, row: number) => boolean = () => true): Float64Array {
    const from = this.fixed(column, width);
    const bytes = this.#bytes;
    return Float64Array.from({ length: this.#count }, (_, row) => {
      const at = from + width * row;
      const number = width === 8 ? bytes.readInt32LE(at + 4) * 4_294_967_296 + bytes.readUInt32LE(at) : bytes.readUIntLE(at, width);
      if (!isGood(number, row)) throw new Wrong(`column ${column} has a value that cannot be`);
      return number;
    });
  }

  /** Texts; valid until the next value is read. */
  strings(column: VolumeColumn): StringView {
    this.#head(column);
    if (!levels.read(this.#bytes, this.#at, this.#count)) throw new Wrong(`column ${column} ends before its last value`);
    this.#at = levels.to;
    return levels;
  }

  end(): void {
    const left = this.#bytes.length - this.#at;
    if (left > 0) throw new Wrong(`${String(left)} bytes follow its last column`);
  }

  #head(column: VolumeColumn): void {
    const head = VOLUME_HEADS[column];
    if (!head.equals(this.#bytes.subarray(this.#at, this.#at + head.length)))
      throw new Wrong(`column ${column} of the expected type is not in its place`);
    this.#at += head.length;
  }
}
