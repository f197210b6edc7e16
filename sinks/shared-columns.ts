import { isOn } from '../pipeline/core/fault-points.ts';
import { count, milliseconds, uint16, uint32 } from '../pipeline/rows/fixed-types.ts';
import { FRAME_HEAD, writeFrameHead } from '../pipeline/rows/frames.ts';
import { columnHead, MAX_ROWS, varint } from '../pipeline/rows/native.ts';

/** Where a record lies. */
export type Position = {
  /** Append time, milliseconds. */
  readonly arrived: number;
  readonly partition: number;
  readonly offset: number;
};

/** What all rows of a record share, but for `kafka_idx`, which is their place in it. */
export type SharedValues = Position & { readonly tenantId: number; readonly retentionDays: number };

/** The columns that the sink adds to those of a record. The index is the last, since an LZ4 block must end with literals. */
export const SHARED_COLUMNS = [
  { name: 'tenant_id', type: uint32 },
  { name: 'arrived', type: milliseconds },
  { name: 'kafka_part', type: uint16 },
  { name: 'kafka_off', type: count },
  { name: 'retention_days', type: uint16 },
  { name: 'kafka_idx', type: uint32 },
].map(({ name, type }) => ({ name, type, head: columnHead(name, type.name) }));

/** The same with the append time as a number: where a table has it in a dictionary. */
export const NUMBERED_COLUMNS = SHARED_COLUMNS.map((column) =>
  column.name === 'arrived'
    ? { name: 'arrived_ms', type: { ...milliseconds, name: 'Int64' }, head: columnHead('arrived_ms', 'Int64') }
    : column,
);

/** Those of rows that each have their own tenant and class. */
export const POSITION_COLUMNS = SHARED_COLUMNS.filter(({ name }) => name !== 'tenant_id' && name !== 'retention_days');

/** The index where no record has more rows than 16 bits can count: ClickHouse widens it. */
const INDEX_HEAD = columnHead('kafka_idx', 'UInt16');

/** 0, 1, 2, … as `kafka_idx` has them. */
const ORDINALS = Buffer.from(Uint16Array.from({ length: MAX_ROWS }, (_, row) => row).buffer);
const HAS_POSITIONS = isOn('positions');

/**
 * The frame that stands before a record's own: the head of the block (`columns` in all, `rows`) and the shared columns. A value that
 * all rows have is written once, as a literal, and repeated by an LZ4 match that overlaps itself; so a row costs two bytes, its index.
 */
export const sharedFrame = (
  { tenantId, arrived, partition, offset, retentionDays }: SharedValues,
  columns: number,
  rows: number,
  shared = SHARED_COLUMNS,
): Buffer => frameOf(shared, [tenantId, arrived, partition, HAS_POSITIONS ? offset : 0, retentionDays], columns, rows);

/** The same of `POSITION_COLUMNS`. */
export const positionFrame = ({ arrived, partition, offset }: Position, columns: number, rows: number): Buffer =>
  frameOf(POSITION_COLUMNS, [arrived, partition, offset], columns, rows);

/** Of these columns the last is the index. */
function frameOf(shared: typeof SHARED_COLUMNS, values: readonly number[], columns: number, rows: number): Buffer {
  // a length takes a byte for each 255, and the columns together are 26 bytes a row
  const block = new LiteralBlock(512 + 2 * rows + Math.ceil(rows / 9));
  block.literal(varint(columns));
  block.literal(varint(rows));
  values.forEach((value, column) => {
    const { type, head } = shared[column] as (typeof SHARED_COLUMNS)[number];
    block.literal(head);
    block.literal(littleEndian(value, type.width));
    block.repeat(type.width, rows - 1);
  });
  block.literal(INDEX_HEAD);
  block.literal(HAS_POSITIONS ? ORDINALS.subarray(0, 2 * rows) : Buffer.alloc(2 * rows));
  return block.frame();
}

/** A frame without compression, of bytes that are few. */
export function literalFrame(bytes: Buffer): Buffer {
  const block = new LiteralBlock(FRAME_HEAD + bytes.length + Math.ceil(bytes.length / 255) + 16);
  block.literal(bytes);
  return block.frame();
}

/** A number below 2^53, little-endian. */
function littleEndian(value: number, width: number): Buffer {
  const bytes = Buffer.alloc(8);
  bytes.writeBigInt64LE(BigInt(value));
  return bytes.subarray(0, width);
}

const MIN_MATCH = 4;

/** Writes an LZ4 block (https://github.com/lz4/lz4/blob/dev/doc/lz4_Block_format.md) whose matches are known beforehand. */
class LiteralBlock {
  readonly #bytes: Buffer;
  #length = FRAME_HEAD;
  /** Literals that wait for the match that follows them. */
  readonly #open: Buffer[] = [];
  #openBytes = 0;
  /** Bytes that the block gives. */
  #size = 0;

  constructor(size: number) {
    this.#bytes = Buffer.allocUnsafe(size);
  }

  literal(bytes: Buffer): void {
    this.#open.push(bytes);
    this.#openBytes += bytes.length;
    this.#size += bytes.length;
  }

  /** Repeats the last `width` bytes `times` times. */
  repeat(width: number, times: number): void {
    const length = width * times;
    if (length >= MIN_MATCH) {
      this.#sequence(length - MIN_MATCH);
      this.#length = this.#bytes.writeUInt16LE(width, this.#length);
      this.#more(length - MIN_MATCH);
      this.#size += length;
    } else if (times > 0) {
      const last = this.#open.at(-1) as Buffer;
      for (let i = 0; i < times; i++) this.literal(last);
    }
  }

  frame(): Buffer {
    this.#sequence(0);
    // what is written beyond a buffer is lost without a word
    if (this.#length > this.#bytes.length) throw new Error('BUG: a frame of shared columns is longer than was planned.');
    writeFrameHead(this.#bytes, 0, this.#length - FRAME_HEAD, this.#size);
    return this.#bytes.subarray(0, this.#length);
  }

  /** The token, and the literals. */
  #sequence(match: number): void {
    this.#bytes[this.#length++] = (Math.min(this.#openBytes, 15) << 4) | Math.min(match, 15);
    this.#more(this.#openBytes);
    for (const bytes of this.#open) this.#length += bytes.copy(this.#bytes, this.#length);
    this.#open.length = 0;
    this.#openBytes = 0;
  }

  /** What of a length does not fit into its four bits of the token. */
  #more(length: number): void {
    if (length < 15) return;
    let rest = length - 15;
    for (; rest >= 255; rest -= 255) this.#bytes[this.#length++] = 255;
    this.#bytes[this.#length++] = rest;
  }
}
