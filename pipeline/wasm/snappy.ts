import type { TooLarge } from '../compression/corrupt.ts';
import { inflateBlock, inflateSnappy as typescriptInflate, isFramed, readLength } from '../compression/snappy.ts';
import { wasm, type WasmModule } from './module.ts';

type Inflate = (bytes: Buffer, cap: number, tooLarge: TooLarge) => Buffer;

/** Snappy in WebAssembly, with the memory of this module: blocks that fit into it. All else, and what is corrupt, is for the form in TypeScript. */
export function wasmSnappy(module: WasmModule): Inflate {
  const room = module.ROOM.value;
  const input = new Uint8Array(module.memory.buffer, module.INPUT.value, room);
  const output = Buffer.from(module.memory.buffer, module.OUTPUT.value, room);
  return (bytes, cap, tooLarge) => {
    if (isFramed(bytes)) return typescriptInflate(bytes, cap, tooLarge);
    const { length, after } = readLength(bytes);
    const size = bytes.length - after;
    if (length > Math.min(cap, room) || size > room) return inflateBlock(bytes, cap, tooLarge);
    input.set(after === 0 ? bytes : bytes.subarray(after));
    if (module.snappyDecompress(size, length) !== 1) return inflateBlock(bytes, cap, tooLarge);
    const inflated = Buffer.allocUnsafeSlow(length);
    output.copy(inflated, 0, 0, length);
    return inflated;
  };
}

/** Decompresses Snappy, block or framed, as `compression/snappy.ts` does, in the faster form that this process has. */
export const inflateSnappy: Inflate = wasm === undefined ? typescriptInflate : wasmSnappy(wasm);
