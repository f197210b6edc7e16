/** Writes protobuf's wire format for tests: what a field is, is the caller's to know. */

export function varint(value: number | bigint): Buffer {
  const bytes: number[] = [];
  let rest = BigInt.asUintN(64, BigInt(value));
  for (; rest >= 0x80n; rest >>= 7n) bytes.push(Number(rest & 0x7fn) | 0x80);
  return Buffer.from([...bytes, Number(rest)]);
}

/** A field with a length: text, bytes, or a message made of its fields. */
export function bytesField(field: number, ...parts: readonly (string | Buffer)[]): Buffer {
  const value = Buffer.concat(parts.map((part) => Buffer.from(part)));
  return Buffer.concat([varint(field * 8 + 2), varint(value.length), value]);
}

export const varintField = (field: number, value: number | bigint): Buffer => Buffer.concat([varint(field * 8), varint(value)]);

export function fixed64Field(field: number, value: bigint): Buffer {
  const bytes = Buffer.alloc(8);
  bytes.writeBigUInt64LE(value);
  return Buffer.concat([varint(field * 8 + 1), bytes]);
}

export function doubleField(field: number, value: number): Buffer {
  const bytes = Buffer.alloc(8);
  bytes.writeDoubleLE(value);
  return Buffer.concat([varint(field * 8 + 1), bytes]);
}
