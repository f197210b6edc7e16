// What the module gives to pipeline/wasm/module.ts.
export { INPUT, OUTPUT, ROOM } from './memory';
export { crc32c } from './crc32c';
export { lz4Compress, lz4Decompress } from './lz4';
export { snappyDecompress } from './snappy';
export { PIECE, PIECE_ROOM, TAPE, TAPE_FIELDS } from './memory';
export { fieldCount, isCutOff, keepWhole, scanObject } from './objects';
export { forgetSpellings, learnSpelling } from './spellings';
