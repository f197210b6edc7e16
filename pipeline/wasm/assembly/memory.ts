// The module's memory, laid out once and never grown. The first 64 KiB are the compiler's own.

/** What goes into one block at most. */
export const MAX_BLOCK: usize = 1_179_648;

/** Copies go in steps of 16 bytes and may pass their end by less than that, within the room that stands after each buffer. */
const BUFFER: usize = 19 * 65_536;

/** LZ4's table of where four bytes were seen. */
export const SEEN: usize = 65_536;
/** CRC-32C's sixteen tables of 256 numbers. */
export const CRC_TABLES: usize = SEEN + 65_536;
/** What a function works on. The compressed form of MAX_BLOCK bytes that do not compress fits too. */
export const INPUT: usize = CRC_TABLES + 65_536;
/** What a function gives. */
export const OUTPUT: usize = INPUT + BUFFER;
/** Bytes of input and of output that callers may use. */
export const ROOM: usize = BUFFER - 64;
