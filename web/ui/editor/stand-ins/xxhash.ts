/** In place of `xxhash-wasm`: the editor parses, and never hashes. */
const none = { h64: (): bigint => 0n };

export default (): Promise<typeof none> => Promise.resolve(none);
