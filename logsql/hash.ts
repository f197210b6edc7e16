import createXxhash from 'xxhash-wasm';

const xxhash = await createXxhash();

/** The upper 53 bits of the XXH64 (seed 0) of a text's UTF-8 bytes, in decimal. */
export const hashText = (text: string): string => (xxhash.h64(text) >> 11n).toString();
