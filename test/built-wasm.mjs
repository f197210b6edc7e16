// Mocha loads this before the tests, which run from the sources and find the WebAssembly module in dist/.
import path from 'node:path';
import { ensureWasm } from '../main/build-wasm.mjs';

await ensureWasm({ root: path.resolve(import.meta.dirname, '..') });
