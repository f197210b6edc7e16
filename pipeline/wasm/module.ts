import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { packageRoot } from '../core/package-root.ts';

/** What of the interface is used here; the types of Node leave it out. Undefined where Node was started without it. */
declare const WebAssembly:
  | {
      readonly Module: new (bytes: Uint8Array) => object;
      readonly Instance: new (module: object) => { readonly exports: unknown };
      readonly CompileError: ErrorConstructor;
    }
  | undefined;

/** What `assembly/index.ts` exports. Offsets and sizes are bytes of its memory, which has a fixed size. */
export type WasmModule = {
  readonly memory: { readonly buffer: ArrayBuffer; grow(pages: number): number };
  readonly INPUT: { readonly value: number };
  readonly OUTPUT: { readonly value: number };
  readonly ROOM: { readonly value: number };
  lz4Compress(size: number): number;
  /** 1 or 0. */
  lz4Decompress(length: number, size: number): number;
  /** 1 or 0. */
  snappyDecompress(length: number, size: number): number;
  crc32c(before: number, size: number): number;
  readonly PIECE: { readonly value: number };
  readonly PIECE_ROOM: { readonly value: number };
  readonly TAPE: { readonly value: number };
  readonly TAPE_FIELDS: { readonly value: number };
  /** The offset after the object, or 0. */
  scanObject(at: number, end: number): number;
  fieldCount(): number;
  /** 1 or 0. */
  isCutOff(): number;
  keepWhole(name: number): void;
  forgetSpellings(seed: number): void;
  learnSpelling(object: number, length: number, name: number): void;
};

/** Where `main/build-wasm.mjs` writes it; sources and compiled code read the same file. */
const FILE = path.join('dist', 'pipeline', 'wasm', 'logweir.wasm');

/** The one instance of this process; undefined where it was not built, or where this machine cannot run it. */
export const wasm: WasmModule | undefined = load(path.join(packageRoot(), FILE));

/** Compiles and starts a module; undefined where that cannot be done, so that callers take their TypeScript form. */
export function load(file: string): WasmModule | undefined {
  if (typeof WebAssembly === 'undefined' || !existsSync(file)) return undefined;
  try {
    return new WebAssembly.Instance(new WebAssembly.Module(readFileSync(file))).exports as WasmModule;
  } catch (error) {
    // a damaged file, or a machine without the instructions that it uses
    if (error instanceof WebAssembly.CompileError) return undefined;
    throw error;
  }
}
