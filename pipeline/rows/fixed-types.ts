import type { ColumnType, FixedType } from './column-type.ts';

const HALF = 4_294_967_296;
const DAY = 86_400;
/** The first day of which the log has entries, and the last second that it can represent. Seconds. */
const FIRST_TIME = -2_208_988_800 - DAY;
const LAST_TIME = 9_223_372_036;

/** True for seconds since 1970 that the log can represent. */
export const isTime = (number: number): boolean => number >= FIRST_TIME && number <= LAST_TIME;

type Fixed<Value> = {
  readonly name: string;
  readonly width: number;
  readonly set: (to: DataView, at: number, value: Value) => void;
  readonly get: (from: DataView, at: number) => Value;
  /** What a column of this type may have. */
  readonly isOne: (value: Value) => boolean;
  /** Whether all bytes are such a value, so that reading need not look at them. */
  readonly isAny?: true;
};

function bufferOf(length: number): { readonly bytes: Uint8Array; readonly data: DataView } {
  const bytes = new Uint8Array(length);
  return { bytes, data: new DataView(bytes.buffer) };
}

/** Of columns that are put, which is over before the next one: one of few rows costs less than memory of its own. */
const SCRATCH = bufferOf(4096);

/** Values that take `width` bytes each. */
const fixed = <Value>({ name, width, set, get, isOne, isAny }: Fixed<Value>): FixedType<Value> => ({
  name,
  width,
  put(to, values) {
    const length = width * values.length;
    const { bytes, data } = length <= SCRATCH.bytes.length ? SCRATCH : bufferOf(length);
    for (let row = 0; row < values.length; row++) {
      const value = values[row] as Value;
      if (!isOne(value)) throw new Error(`BUG: ${String(value)} cannot be in a column of type ${name}.`);
      set(data, width * row, value);
    }
    to.put(bytes.length === length ? bytes : bytes.subarray(0, length));
  },
  read(from) {
    const at = from.fixed(width);
    const { data, count } = from;
    if (isAny !== true)
      for (let row = 0; row < count; row++) if (!isOne(get(data, at + width * row))) throw from.wrong('has a value that cannot be');
    return (row) => get(data, at + width * row);
  },
});

const isWithin =
  (most: number) =>
  (value: number): boolean =>
    Number.isInteger(value) && value >= 0 && value <= most;

export const uint8 = fixed<number>({
  ...{ name: 'UInt8', width: 1, isOne: isWithin(0xff), isAny: true },
  set: (to, at, value) => to.setUint8(at, value),
  get: (from, at) => from.getUint8(at),
});

export const uint16 = fixed<number>({
  ...{ name: 'UInt16', width: 2, isOne: isWithin(0xffff), isAny: true },
  set: (to, at, value) => to.setUint16(at, value, true),
  get: (from, at) => from.getUint16(at, true),
});

export const uint32 = fixed<number>({
  ...{ name: 'UInt32', width: 4, isOne: isWithin(0xffff_ffff), isAny: true },
  set: (to, at, value) => to.setUint32(at, value, true),
  get: (from, at) => from.getUint32(at, true),
});

/** Integers below 2^53, of 64 bits. */
const integer = (name: string, isOne: (value: number) => boolean): FixedType<number> =>
  fixed({
    ...{ name, width: 8, isOne },
    set(to, at, value) {
      const high = Math.floor(value / HALF);
      to.setUint32(at, value - high * HALF, true);
      to.setInt32(at + 4, high, true);
    },
    get: (from, at) => from.getInt32(at + 4, true) * HALF + from.getUint32(at, true),
  });

/** A UInt64 below 2^53, as a number: counts and offsets. */
export const count = integer('UInt64', isWithin(Number.MAX_SAFE_INTEGER));

/** Whole seconds since 1970, from 1900 to 2262. */
export const seconds = integer("DateTime64(0, 'UTC')", (value) => Number.isInteger(value) && isTime(value));

/** Whole milliseconds since 1970, from 1900 to 2262. */
export const milliseconds = integer("DateTime64(3, 'UTC')", (value) => Number.isInteger(value) && isTime(value / 1000));

/** Any UInt64: ids. */
export const uint64 = fixed<bigint>({
  ...{ name: 'UInt64', width: 8, isOne: (value) => BigInt.asUintN(64, value) === value, isAny: true },
  set: (to, at, value) => to.setBigUint64(at, value, true),
  get: (from, at) => from.getBigUint64(at, true),
});

const isInt64 = (value: bigint): boolean => BigInt.asIntN(64, value) === value;

export const int64 = fixed<bigint>({
  ...{ name: 'Int64', width: 8, isOne: isInt64, isAny: true },
  set: (to, at, value) => to.setBigInt64(at, value, true),
  get: (from, at) => from.getBigInt64(at, true),
});

/** Nanoseconds since 1970, from 1900 to 2262. */
export const nanoseconds: ColumnType<bigint> = {
  ...int64,
  name: "DateTime64(9, 'UTC')",
  read(from) {
    const at = from.nanoseconds();
    const { data } = from;
    return (row) => data.getBigInt64(at + 8 * row, true);
  },
};

/** A Float64 that is finite. */
export const finite = fixed<number>({
  ...{ name: 'Float64', width: 8, isOne: Number.isFinite },
  set: (to, at, value) => to.setFloat64(at, value, true),
  get: (from, at) => from.getFloat64(at, true),
});

/** Any Float64, as its bits: JavaScript does not keep which NaN one is, and Prometheus marks the end of a series by one of them. */
export const floatBits: FixedType<bigint> = { ...uint64, name: 'Float64' };

/** `length` bytes each: ids of traces and spans. What is read is valid until the next value is. */
export const fixedBytes = (length: number): FixedType<Buffer> =>
  fixed({
    ...{ name: `FixedString(${String(length)})`, width: length, isOne: (value) => value.length === length, isAny: true },
    set: (to, at, value) => new Uint8Array(to.buffer).set(value, at),
    get: (from, at) => Buffer.from(from.buffer, from.byteOffset + at, length),
  });
