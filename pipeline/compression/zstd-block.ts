import {
  BackwardBits,
  buildFse,
  constantTable,
  decodeHuffman,
  fail,
  readFse,
  readHuffman,
  type FseTable,
  type HuffmanTable,
} from './zstd-entropy.ts';

/** Most bytes of one block. */
export const MAX_BLOCK_BYTES = 131_072;

/** What the blocks of a frame hand on to each other. */
export type FrameState = {
  /** Where the frame's content begins in `out`: no match may reach before it. */
  readonly begin: number;
  readonly maxBlock: number;
  readonly repeat: [number, number, number];
  huffman: HuffmanTable | null;
  tables: SequenceTables | null;
};

type SequenceTables = { readonly literals: FseTable; readonly offsets: FseTable; readonly matches: FseTable };
type Section = { readonly size: number; readonly after: number };

/** The literals of the block being read, with space for the widest copy; one for the process, used synchronously. */
const LITERALS = new Uint8Array(MAX_BLOCK_BYTES);

/** Decodes the compressed block `bytes[start, end)` to `out` at `to`, where `state.maxBlock` bytes fit; gives the new end. */
export function decodeBlock(state: FrameState, bytes: Uint8Array, start: number, end: number, out: Uint8Array, to: number): number {
  const literals = readLiterals(state, bytes, start, end);
  let at = literals.after;
  if (at >= end) fail('a block has no sequences section');
  let count = bytes[at++] as number;
  if (count > 127) {
    count =
      count === 255 ? 0x7f00 + (bytes[at] as number) + ((bytes[at + 1] as number) << 8) : ((count - 128) << 8) + (bytes[at] as number);
    at += count >= 0x7f00 ? 2 : 1;
  }
  if (count === 0) {
    if (at !== end) fail('something follows the sequences of a block');
    return appendLiterals(state, 0, literals.size, out, to, to);
  }
  at = readTables(state, bytes, at, end);
  return runSequences(state, count, new BackwardBits(bytes, at, end), literals.size, out, to);
}

/** RFC 8878, 3.1.1.3.1: fills LITERALS. */
function readLiterals(state: FrameState, bytes: Uint8Array, start: number, end: number): Section {
  if (start >= end) fail('a block has no literals section');
  const head = bytes[start] as number;
  const type = head & 3;
  const format = (head >> 2) & 3;
  const word = head + ((bytes[start + 1] as number) << 8) + ((bytes[start + 2] as number) << 16);
  if (type > 1) return readCompressedLiterals(state, type === 2, format, bytes, start, end);
  const size = (format & 1) === 0 ? head >> 3 : (format === 1 ? word & 0xffff : word) >> 4;
  const from = start + ((format & 1) === 0 ? 1 : format === 1 ? 2 : 3);
  const after = from + (type === 0 ? size : 1);
  if (size > state.maxBlock || after > end) fail('the literals of a block leave its bounds');
  if (type === 0) LITERALS.set(bytes.subarray(from, after), 0);
  else LITERALS.fill(bytes[from] as number, 0, size);
  return { size, after };
}

function readCompressedLiterals(
  state: FrameState,
  ownTree: boolean,
  format: number,
  bytes: Uint8Array,
  start: number,
  end: number,
): Section {
  const widths = format < 2 ? 10 : format === 2 ? 14 : 18;
  const headBytes = format < 2 ? 3 : format === 2 ? 4 : 5;
  const low =
    ((bytes[start] as number) |
      ((bytes[start + 1] as number) << 8) |
      ((bytes[start + 2] as number) << 16) |
      ((bytes[start + 3] as number) << 24)) >>>
    4;
  const long = low + (format === 3 ? (bytes[start + 4] as number) * 2 ** 28 : 0);
  const size = long % (1 << widths);
  const packed = Math.floor(long / (1 << widths)) % (1 << widths);
  let from = start + headBytes;
  const after = from + packed;
  if (size > state.maxBlock || after > end) fail('the literals of a block leave its bounds');
  if (ownTree) {
    const { table, after: next } = readHuffman(bytes, from, after);
    state.huffman = table;
    from = next;
  }
  if (state.huffman === null) return fail('a block uses a Huffman tree that was never sent');
  if (format === 0) decodeHuffman(state.huffman, bytes, from, after, LITERALS, 0, size);
  else decodeFourStreams(state.huffman, bytes, from, after, size);
  return { size, after };
}

/** Four streams, whose first three lengths stand before them; each but the last has a quarter of the literals, rounded up. */
function decodeFourStreams(table: HuffmanTable, bytes: Uint8Array, start: number, end: number, size: number): void {
  if (start + 6 > end) fail('the lengths of the literals are missing');
  const share = (size + 3) >> 2;
  if (share * 3 > size) fail('the literals are too few for four streams');
  let from = start + 6;
  for (let stream = 0; stream < 4; stream++) {
    const length = (bytes[start + stream * 2] as number) + ((bytes[start + stream * 2 + 1] as number) << 8);
    const stop = stream === 3 ? end : from + length;
    if (stop > end) fail('a stream of literals leaves its bounds');
    decodeHuffman(table, bytes, from, stop, LITERALS, share * stream, stream === 3 ? size : share * (stream + 1));
    from = stop;
  }
}

const spread = (...runs: readonly (readonly [number, number])[]): number[] =>
  runs.flatMap(([count, times]) => new Array<number>(times).fill(count));

/** RFC 8878, 3.1.1.3.2.2: the distributions that need not be sent. */
const DEFAULTS: SequenceTables = {
  literals: buildFse([4, 3, ...spread([2, 11], [1, 3], [2, 9]), 3, 2, ...spread([1, 5], [-1, 4])], 6),
  offsets: buildFse(spread([1, 6], [2, 3], [1, 15], [-1, 5]), 5),
  matches: buildFse([1, 4, 3, ...spread([2, 6], [1, 37], [-1, 7])], 6),
};

/** Extra bits of the codes of literal and match lengths, and the lengths the codes begin with. */
const LITERAL_BITS = Uint8Array.from([...spread([0, 16]), 1, 1, 1, 1, 2, 2, 3, 3, 4, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16]);
const MATCH_BITS = Uint8Array.from([...spread([0, 32]), 1, 1, 1, 1, 2, 2, 3, 3, 4, 4, 5, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16]);
const LITERAL_BASE = bases(LITERAL_BITS, 0);
const MATCH_BASE = bases(MATCH_BITS, 3);
/** No offset can have more bits: 2^27 bytes are more than any body. */
const MAX_OFFSET_CODE = 27;

function bases(bits: Uint8Array, first: number): Uint32Array {
  let next = first;
  return Uint32Array.from(bits, (width) => {
    const own = next;
    next += 2 ** width;
    return own;
  });
}

/** Reads the modes and tables of the sequences; gives the offset after them. */
function readTables(state: FrameState, bytes: Uint8Array, start: number, end: number): number {
  if (start >= end) fail('the modes of the sequences are missing');
  const modes = bytes[start] as number;
  if ((modes & 3) !== 0) fail('reserved bits are set');
  let at = start + 1;
  const read = (mode: number, standard: FseTable, before: FseTable | undefined, maxLog: number, maxSymbol: number): FseTable => {
    if (mode === 0) return standard;
    if (mode === 3) return before ?? fail('a block repeats tables that were never sent');
    if (mode === 1) {
      const symbol = bytes[at++] as number;
      return at <= end && symbol <= maxSymbol ? constantTable(symbol) : fail('a code is out of range');
    }
    const { table, after } = readFse(bytes, at, end, maxLog, maxSymbol);
    at = after;
    return table;
  };
  const before = state.tables;
  const literals = read(modes >> 6, DEFAULTS.literals, before?.literals, 9, LITERAL_BITS.length - 1);
  const offsets = read((modes >> 4) & 3, DEFAULTS.offsets, before?.offsets, 8, 31);
  const matches = read((modes >> 2) & 3, DEFAULTS.matches, before?.matches, 9, MATCH_BITS.length - 1);
  state.tables = { literals, offsets, matches };
  return at;
}

/** Decodes and carries out the sequences: literals, then a copy of what came before. Every length is checked before it is used. */
function runSequences(state: FrameState, count: number, bits: BackwardBits, literalSize: number, out: Uint8Array, begin: number): number {
  const { literals, offsets, matches } = state.tables as SequenceTables;
  const stop = begin + state.maxBlock;
  let literalState = bits.read(literals.log);
  let offsetState = bits.read(offsets.log);
  let matchState = bits.read(matches.log);
  let from = 0;
  let to = begin;
  for (let left = count; left > 0; left--) {
    const offsetCode = offsets.symbols[offsetState] as number;
    const matchCode = matches.symbols[matchState] as number;
    const literalCode = literals.symbols[literalState] as number;
    if (offsetCode > MAX_OFFSET_CODE) fail('a match reaches too far back');
    const sent = 2 ** offsetCode + bits.read(offsetCode);
    const matchLength = (MATCH_BASE[matchCode] as number) + bits.read(MATCH_BITS[matchCode] as number);
    const literalLength = (LITERAL_BASE[literalCode] as number) + bits.read(LITERAL_BITS[literalCode] as number);
    const offset = takeOffset(state.repeat, sent, literalLength);
    if (bits.left < 0 || from + literalLength > literalSize || to + literalLength + matchLength > stop)
      fail('a sequence leaves its bounds');
    to = copyLiterals(from, literalLength, out, to);
    from += literalLength;
    if (offset === 0 || offset > to - state.begin) fail('a match reaches before the frame');
    to = copyMatch(out, to, offset, matchLength);
    if (left === 1) break;
    literalState = (literals.base[literalState] as number) + bits.read(literals.bits[literalState] as number);
    matchState = (matches.base[matchState] as number) + bits.read(matches.bits[matchState] as number);
    offsetState = (offsets.base[offsetState] as number) + bits.read(offsets.bits[offsetState] as number);
  }
  if (bits.left !== 0) fail('the bits of the sequences do not come out even');
  return appendLiterals(state, from, literalSize, out, to, begin);
}

/** The distance a sequence means: a new one, or one of the last three (RFC 8878, 3.1.1.5). */
function takeOffset(repeat: [number, number, number], sent: number, literalLength: number): number {
  if (sent > 3) {
    repeat[2] = repeat[1];
    repeat[1] = repeat[0];
    return (repeat[0] = sent - 3);
  }
  const index = sent - (literalLength === 0 ? 0 : 1);
  if (index === 0) return repeat[0];
  const offset = index === 3 ? repeat[0] - 1 : (repeat[index] as number);
  if (index > 1) repeat[2] = repeat[1];
  repeat[1] = repeat[0];
  return (repeat[0] = offset);
}

function appendLiterals(state: FrameState, from: number, size: number, out: Uint8Array, to: number, begin: number): number {
  if (to + size - from > begin + state.maxBlock) fail('a block has too many literals');
  return copyLiterals(from, size - from, out, to);
}

function copyLiterals(from: number, length: number, out: Uint8Array, to: number): number {
  if (length > 64) out.set(LITERALS.subarray(from, from + length), to);
  else for (let i = 0; i < length; i++) out[to + i] = LITERALS[from + i] as number;
  return to + length;
}

function copyMatch(out: Uint8Array, to: number, offset: number, length: number): number {
  if (length > 64 && offset >= length) out.copyWithin(to, to - offset, to - offset + length);
  else for (let i = to, stop = to + length; i < stop; i++) out[i] = out[i - offset] as number;
  return to + length;
}
