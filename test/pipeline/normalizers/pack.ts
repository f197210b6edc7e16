/** An extension of MessagePack. */
export class Ext {
  readonly type: number;
  readonly bytes: Buffer;
  constructor(type: number, bytes: Buffer) {
    this.type = type;
    this.bytes = bytes;
  }
}

/** Fluentd's EventTime. */
export function eventTime(seconds: number, nanos: number): Ext {
  const bytes = Buffer.alloc(8);
  bytes.writeUInt32BE(seconds, 0);
  bytes.writeUInt32BE(nanos, 4);
  return new Ext(0, bytes);
}

export type Packable = null | boolean | number | bigint | string | Buffer | Ext | readonly Packable[] | ReadonlyMap<string, Packable>;

const head = (first: number, width: number, value: number | bigint): Buffer => {
  const bytes = Buffer.alloc(1 + width);
  bytes[0] = first;
  if (width === 8) bytes.writeBigUInt64BE(BigInt(value), 1);
  else bytes.writeUIntBE(Number(value), 1, width);
  return bytes;
};

/** The MessagePack of a value, written independently of the reader: lengths always in 32 bits but for short strings and maps. */
export function pack(value: Packable): Buffer {
  if (value === null) return Buffer.from([0xc0]);
  if (typeof value === 'boolean') return Buffer.from([value ? 0xc3 : 0xc2]);
  if (typeof value === 'bigint') return value < 0n ? signed(value) : head(0xcf, 8, value);
  if (typeof value === 'number') return packNumber(value);
  if (typeof value === 'string') {
    const text = Buffer.from(value);
    return Buffer.concat([text.length < 32 ? Buffer.from([0xa0 | text.length]) : head(0xdb, 4, text.length), text]);
  }
  if (Buffer.isBuffer(value)) return Buffer.concat([head(0xc6, 4, value.length), value]);
  if (value instanceof Ext) return packExt(value);
  if (value instanceof Map) {
    const members = [...(value as ReadonlyMap<string, Packable>)].flatMap(([key, item]) => [pack(key), pack(item)]);
    return Buffer.concat([value.size < 16 ? Buffer.from([0x80 | value.size]) : head(0xdf, 4, value.size), ...members]);
  }
  const items = value as readonly Packable[];
  return Buffer.concat([items.length < 16 ? Buffer.from([0x90 | items.length]) : head(0xdd, 4, items.length), ...items.map(pack)]);
}

function signed(value: bigint): Buffer {
  const bytes = Buffer.alloc(9, 0xd3);
  bytes.writeBigInt64BE(value, 1);
  return bytes;
}

function packNumber(value: number): Buffer {
  if (Number.isInteger(value) && value >= -32 && value < 128) return Buffer.from([value & 0xff]);
  const bytes = Buffer.alloc(9, 0xcb);
  bytes.writeDoubleBE(value, 1);
  return bytes;
}

function packExt({ type, bytes }: Ext): Buffer {
  const fixed = [1, 2, 4, 8, 16].indexOf(bytes.length);
  const start = fixed < 0 ? head(0xc7, 1, bytes.length) : Buffer.from([0xd4 + fixed]);
  return Buffer.concat([start, Buffer.from([type & 0xff]), bytes]);
}

/** A map from members, with any name. */
export const map = (...members: (readonly [string, Packable])[]): ReadonlyMap<string, Packable> => new Map(members);
