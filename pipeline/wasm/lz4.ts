import { CorruptBytes } from '../core/corrupt-bytes.ts';
import { HttpError, payloadTooLarge } from '../core/errors.ts';
import { compressLz4Block, lz4Bound } from '../compression/lz4-block.ts';
import { inflateLz4Block } from '../compression/lz4.ts';
import { wasm, type WasmModule } from './module.ts';

export { lz4Bound };

/** What one block holds at most, before compression. */
export const MAX_BLOCK = 1_179_648;

/** LZ4 blocks; the form in WebAssembly and the one in TypeScript read what the other has written. */
export type Lz4 = {
  /** Callers may write what `compressInput` and `decompressInput` take here; any other call of this object overwrites it. */
  readonly input: Uint8Array;
  /** What those two give, until the next call of this object. */
  readonly output: Uint8Array;
  /** Makes a block of the first `size` bytes of `input`; gives its length. */
  compressInput(size: number): number;
  /** Whether the first `length` bytes of `input` are a valid block of exactly `size` bytes, which then stand in `output`. */
  decompressInput(length: number, size: number): boolean;
  /** Makes a block of bytes `start` to `end`, written to `target` from `at` on, which needs `lz4Bound` bytes; gives its length. */
  compress(source: Uint8Array, start: number, end: number, target: Uint8Array, at: number): number;
  /** Whether bytes `start` to `end` are a valid block of exactly `size` bytes, which then stand in `target` from `at` on. */
  decompress(source: Uint8Array, start: number, end: number, target: Uint8Array, at: number, size: number): boolean;
};

/** The form in WebAssembly, with the memory of this module. */
export function wasmLz4(module: WasmModule): Lz4 {
  const capacity = module.ROOM.value;
  const input = new Uint8Array(module.memory.buffer, module.INPUT.value, capacity);
  const output = new Uint8Array(module.memory.buffer, module.OUTPUT.value, capacity);
  const compressInput = (size: number): number => {
    checkSize(size);
    return module.lz4Compress(size);
  };
  const decompressInput = (length: number, size: number): boolean =>
    isSize(length, capacity) && isSize(size, MAX_BLOCK) && module.lz4Decompress(length, size) === 1;
  return {
    input,
    output,
    compressInput,
    decompressInput,
    compress(source, start, end, target, at) {
      checkRange(source, start, end);
      checkSize(end - start);
      checkRange(target, at, at + lz4Bound(end - start));
      input.set(source.subarray(start, end));
      const length = compressInput(end - start);
      target.set(output.subarray(0, length), at);
      return length;
    },
    decompress(source, start, end, target, at, size) {
      checkRange(source, start, end);
      checkRange(target, at, at + size);
      if (end - start > capacity) return false;
      input.set(source.subarray(start, end));
      if (!decompressInput(end - start, size)) return false;
      target.set(output.subarray(0, size), at);
      return true;
    },
  };
}

/** The form in TypeScript: the other one's oracle, and what works where that cannot run. */
export function typescriptLz4(): Lz4 {
  const input = new Uint8Array(lz4Bound(MAX_BLOCK));
  const output = new Uint8Array(input.length);
  const decompress: Lz4['decompress'] = (source, start, end, target, at, size) => {
    checkRange(source, start, end);
    checkRange(target, at, at + size);
    if (!isSize(size, MAX_BLOCK)) return false;
    try {
      const block = Buffer.from(source.buffer, source.byteOffset + start, end - start);
      const bytes = inflateLz4Block(block, size, (received, more) => payloadTooLarge(received, size, { more }));
      if (bytes.length !== size) return false;
      target.set(bytes, at);
      return true;
    } catch (error) {
      if (error instanceof HttpError || error instanceof CorruptBytes) return false;
      throw error;
    }
  };
  return {
    input,
    output,
    compressInput(size) {
      checkSize(size);
      return compressLz4Block(input, 0, size, output, 0);
    },
    decompressInput: (length, size) =>
      isSize(length, input.length) && isSize(size, MAX_BLOCK) && decompress(input, 0, length, output, 0, size),
    compress(source, start, end, target, at) {
      checkRange(source, start, end);
      checkSize(end - start);
      checkRange(target, at, at + lz4Bound(end - start));
      return compressLz4Block(source, start, end, target, at);
    },
    decompress,
  };
}

function isSize(size: number, most: number): boolean {
  return Number.isInteger(size) && size >= 0 && size <= most;
}

function checkSize(size: number): void {
  if (!isSize(size, MAX_BLOCK)) throw new RangeError(`A block holds 0 to ${String(MAX_BLOCK)} bytes, not ${String(size)}.`);
}

function checkRange(bytes: Uint8Array, start: number, end: number): void {
  if (!(isSize(start, end) && end <= bytes.length))
    throw new RangeError(`Bytes ${String(start)} to ${String(end)} are not among ${String(bytes.length)}.`);
}

/** The faster form that this process has. All calls share one input and one output: they are good for one synchronous step. */
const chosen = wasm === undefined ? typescriptLz4() : wasmLz4(wasm);

export const { input, output, compressInput, decompressInput, compress: lz4Compress, decompress: lz4Decompress } = chosen;
