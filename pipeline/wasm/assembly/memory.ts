// The module's memory, laid out once and never grown. The first 64 KiB are the compiler's own.

/** What goes into one block at most. */
export const MAX_BLOCK: usize = 1_179_648;

/** Copies go in steps of 16 bytes and may pass their end by less than that, within the space that follows each buffer. */
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

/** The piece of a body that is scanned; reads go in steps of 16 bytes and may pass its end. */
export const PIECE: usize = OUTPUT + BUFFER;
export const PIECE_ROOM: usize = 4 * 65_536 - 64;
/** The fields of the object that was scanned: for each four numbers of 32 bits. */
export const TAPE: usize = PIECE + 4 * 65_536;
export const TAPE_FIELDS: u32 = 1024;
/** What the scanner knows of names, by their number: the scan in which one was seen last. */
export const NAMES_SEEN: usize = TAPE + 16_384;
/** The spelling that an object in a field of this name began with last; place 0 is for the top. */
export const FIRST_SPELLINGS: usize = NAMES_SEEN + 65_536;
export const MAX_NAMES: u32 = 16_383;
/** Spellings of names, each `SPELLING_SIZE` bytes (`spellings.ts`), and the table that finds them. */
export const SPELLINGS: usize = FIRST_SPELLINGS + 65_536;
export const SPELLING_SIZE: usize = 24;
export const MAX_SPELLINGS: u32 = 16_384;
export const SLOTS: usize = SPELLINGS + 6 * 65_536;
export const SLOT_COUNT: u32 = 32_768;
/** The bytes of spellings; what is compared in steps of 8 bytes may pass the end of one. */
export const TOKENS: usize = SLOTS + 2 * 65_536;
export const TOKENS_ROOM: usize = 8 * 65_536;
