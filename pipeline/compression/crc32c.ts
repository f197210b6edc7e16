/** CRC-32C (Castagnoli), the checksum of the framed snappy format. */
const POLYNOMIAL = 0x82f63b78;

/** Eight tables, so that eight bytes go in one step ("slicing-by-8"). */
const TABLES: readonly Uint32Array[] = makeTables();

function makeTables(): Uint32Array[] {
  const tables = Array.from({ length: 8 }, () => new Uint32Array(256));
  for (let byte = 0; byte < 256; byte++) {
    let crc = byte;
    for (let bit = 0; bit < 8; bit++) crc = (crc & 1) === 1 ? (crc >>> 1) ^ POLYNOMIAL : crc >>> 1;
    (tables[0] as Uint32Array)[byte] = crc;
  }
  for (let table = 1; table < 8; table++) {
    const before = tables[table - 1] as Uint32Array;
    for (let byte = 0; byte < 256; byte++) {
      const crc = before[byte] as number;
      (tables[table] as Uint32Array)[byte] = (crc >>> 8) ^ ((tables[0] as Uint32Array)[crc & 0xff] as number);
    }
  }
  return tables;
}

/** The checksum of these bytes, as an unsigned 32-bit number. */
export function crc32c(bytes: Uint8Array): number {
  const [t0, t1, t2, t3, t4, t5, t6, t7] = TABLES as [
    Uint32Array,
    Uint32Array,
    Uint32Array,
    Uint32Array,
    Uint32Array,
    Uint32Array,
    Uint32Array,
    Uint32Array,
  ];
  let crc = 0xffffffff;
  let at = 0;
  for (const stop = bytes.length - 7; at < stop; at += 8) {
    const low =
      crc ^
      ((bytes[at] as number) | ((bytes[at + 1] as number) << 8) | ((bytes[at + 2] as number) << 16) | ((bytes[at + 3] as number) << 24));
    crc =
      (t7[low & 0xff] as number) ^
      (t6[(low >>> 8) & 0xff] as number) ^
      (t5[(low >>> 16) & 0xff] as number) ^
      (t4[low >>> 24] as number) ^
      (t3[bytes[at + 4] as number] as number) ^
      (t2[bytes[at + 5] as number] as number) ^
      (t1[bytes[at + 6] as number] as number) ^
      (t0[bytes[at + 7] as number] as number);
  }
  for (; at < bytes.length; at++) crc = (crc >>> 8) ^ (t0[(crc ^ (bytes[at] as number)) & 0xff] as number);
  return (crc ^ 0xffffffff) >>> 0;
}
