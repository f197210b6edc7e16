import { crc32c as typescriptCrc32c } from '../compression/crc32c.ts';
import { wasm, type WasmModule } from './module.ts';

/** CRC-32C in WebAssembly, with the memory of this module. Bytes of any length: they go through its input piece by piece. */
export function wasmCrc32c(module: WasmModule): (bytes: Uint8Array) => number {
  const capacity = module.ROOM.value;
  const input = new Uint8Array(module.memory.buffer, module.INPUT.value, capacity);
  return (bytes) => {
    let crc = 0;
    for (let at = 0; at < bytes.length; at += capacity) {
      const piece = bytes.subarray(at, at + capacity);
      input.set(piece);
      crc = module.crc32c(crc, piece.length);
    }
    return crc >>> 0;
  };
}

/** The checksum of these bytes, as an unsigned 32-bit number, in the faster form that this process has. */
export const crc32c = wasm === undefined ? typescriptCrc32c : wasmCrc32c(wasm);
