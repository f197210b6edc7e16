// CRC-32C (Castagnoli), sixteen bytes in one step ("slicing-by-16").
import { CRC_TABLES, INPUT, ROOM } from './memory';

const POLYNOMIAL: u32 = 0x82f63b78;

let isReady = false;

function makeTables(): void {
  for (let byte: u32 = 0; byte < 256; byte++) {
    let crc = byte;
    for (let bit = 0; bit < 8; bit++) crc = (crc >> 1) ^ ((crc & 1) * POLYNOMIAL);
    store<u32>(CRC_TABLES + (byte << 2), crc);
  }
  for (let at: usize = 256; at < 16 * 256; at++) {
    const before = load<u32>(CRC_TABLES + ((at - 256) << 2));
    store<u32>(CRC_TABLES + (at << 2), (before >> 8) ^ load<u32>(CRC_TABLES + ((before & 255) << 2)));
  }
  isReady = true;
}

function look(table: usize, byte: u32): u32 {
  return load<u32>(CRC_TABLES + (table << 10) + ((byte & 255) << 2));
}

function four(table: usize, word: u32): u32 {
  return look(table + 3, word) ^ look(table + 2, word >> 8) ^ look(table + 1, word >> 16) ^ look(table, word >> 24);
}

/** The checksum so far, continued with the first `size` bytes of the input; it begins and ends with 0. */
export function crc32c(before: u32, size: usize): u32 {
  if (!isReady) makeTables();
  const end = INPUT + min<usize>(size, ROOM);
  let crc = ~before;
  let at = INPUT;
  for (; at + 16 <= end; at += 16) {
    crc = four(12, load<u32>(at) ^ crc) ^ four(8, load<u32>(at, 4)) ^ four(4, load<u32>(at, 8)) ^ four(0, load<u32>(at, 12));
  }
  for (; at < end; at++) crc = (crc >> 8) ^ look(0, crc ^ load<u8>(at));
  return ~crc;
}
