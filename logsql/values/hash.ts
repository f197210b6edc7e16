import createXxhash from 'xxhash-wasm';

const xxhash = await createXxhash();

/** The lower 53 bits of the XXH64 (seed 0) of a string's UTF-8 bytes, in decimal: exact as a JSON number everywhere. */
export const hashText = (text: string): string => BigInt.asUintN(53, xxhash.h64(text)).toString();
