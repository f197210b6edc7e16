/** In place of Node's Buffer: the little that modules of the parser need of it as they are loaded. */
const encoder = new TextEncoder();

const StandIn = {
  from: (source: string | ArrayLike<number>): Uint8Array => (typeof source === 'string' ? encoder.encode(source) : Uint8Array.from(source)),
  alloc: (size: number): Uint8Array => new Uint8Array(size),
  allocUnsafe: (size: number): Uint8Array => new Uint8Array(size),
  byteLength: (text: string): number => encoder.encode(text).length,
};

if (!('Buffer' in globalThis)) Object.assign(globalThis, { Buffer: StandIn });

export {};
