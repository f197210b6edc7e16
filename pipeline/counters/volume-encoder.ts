import { framesOf, type FrameWriter } from '../logs/columns/frames.ts';
import { varint } from '../logs/columns/layout.ts';
import { VOLUME_HEADS, type VolumeColumn } from './layout.ts';
import type { SegmentKey, VolumeRow } from './volume-row.ts';

const HALF = 4_294_967_296;

/** The value of a record with these rows of a segment. */
export function encodeVolume(key: SegmentKey, rows: readonly VolumeRow[]): Buffer {
  if (columns.capacity < rows.length) columns = new Columns(rows.length);
  const filled = columns;
  filled.fill(key, rows);
  return framesOf((to) => filled.put(to, rows.length));
}

/** The columns of one record, in memory that serves the next one too. */
class Columns {
  readonly capacity: number;
  readonly #tenant: Uint32Array;
  readonly #retention: Uint16Array;
  readonly #scope: Uint8Array;
  readonly #span: Uint32Array;
  readonly #part: Uint16Array;
  /** Numbers of 64 bits as their halves, the low one first. */
  readonly #time: Uint32Array;
  readonly #stream: Uint32Array;
  readonly #segment: Uint32Array;
  readonly #until: Uint32Array;
  readonly #run: Uint32Array;
  readonly #entries: Uint32Array;
  readonly #bytes: Uint32Array;
  #levels: Uint8Array = new Uint8Array(0);

  constructor(capacity: number) {
    const halves = (): Uint32Array => new Uint32Array(2 * capacity);
    this.capacity = capacity;
    this.#tenant = new Uint32Array(capacity);
    this.#retention = new Uint16Array(capacity);
    this.#scope = new Uint8Array(capacity);
    this.#span = new Uint32Array(capacity);
    this.#part = new Uint16Array(capacity);
    [this.#time, this.#stream, this.#segment, this.#until] = [halves(), halves(), halves(), halves()];
    [this.#run, this.#entries, this.#bytes] = [halves(), halves(), halves()];
  }

  fill({ partition, span, segment, until, run }: SegmentKey, rows: readonly VolumeRow[]): void {
    const stream = this.#stream;
    for (let i = 0; i < rows.length; i++) {
      const row = rows[i] as VolumeRow;
      this.#tenant[i] = row.tenantId;
      this.#retention[i] = row.retentionDays;
      this.#scope[i] = row.scope;
      stream[2 * i] = row.streamLow;
      stream[2 * i + 1] = row.streamHigh;
      setNumber(this.#time, i, row.time);
      setNumber(this.#segment, i, segment);
      setNumber(this.#until, i, until);
      setNumber(this.#run, i, run);
      setNumber(this.#entries, i, row.entries);
      setNumber(this.#bytes, i, row.bytes);
    }
    this.#span.fill(span, 0, rows.length);
    this.#part.fill(partition, 0, rows.length);
    this.#levels = levelsOf(rows);
  }

  put(to: FrameWriter, count: number): void {
    const column = (name: VolumeColumn, numbers: Uint8Array | Uint16Array | Uint32Array, width: number): void => {
      to.put(VOLUME_HEADS[name]);
      to.put(new Uint8Array(numbers.buffer, 0, count * width));
    };
    column('tenant_id', this.#tenant, 4);
    column('retention_days', this.#retention, 2);
    column('scope', this.#scope, 1);
    column('span', this.#span, 4);
    column('time', this.#time, 8);
    column('stream_id', this.#stream, 8);
    to.put(VOLUME_HEADS.level);
    to.put(this.#levels);
    column('log_part', this.#part, 2);
    column('segment', this.#segment, 8);
    column('until', this.#until, 8);
    column('run', this.#run, 8);
    column('entries', this.#entries, 8);
    column('bytes', this.#bytes, 8);
  }
}

/** Most records have no more rows. */
let columns = new Columns(4500);

/** A signed integer below 2^53. */
function setNumber(halves: Uint32Array, index: number, number: number): void {
  const high = Math.floor(number / HALF);
  halves[2 * index] = number - high * HALF;
  halves[2 * index + 1] = high;
}

/** Strings, each behind its length. */
function levelsOf(rows: readonly VolumeRow[]): Uint8Array {
  const bytes = new Uint8Array(rows.reduce((sum, { level }) => sum + level.length + 5, 0));
  let at = 0;
  for (const { level } of rows) {
    const { length } = level;
    if (length < 128) bytes[at++] = length;
    else {
      bytes.set(varint(length), at);
      at += varint(length).length;
    }
    bytes.set(level, at);
    at += length;
  }
  return bytes.subarray(0, at);
}
