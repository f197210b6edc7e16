import { ENTRY_END } from './operations.ts';

const END = ENTRY_END.charCodeAt(0);

/** The parts of a stream that end with ENTRY_END. */
export async function* piecesOf(stream: AsyncIterable<string | Uint8Array> | Iterable<string | Uint8Array>): AsyncGenerator<Buffer> {
  let rest: Buffer = Buffer.alloc(0);
  for await (const part of stream) {
    const bytes = Buffer.from(part as Uint8Array);
    rest = rest.length === 0 ? bytes : Buffer.concat([rest, bytes]);
    let from = 0;
    for (let end = rest.indexOf(END); end >= 0; end = rest.indexOf(END, from)) {
      yield rest.subarray(from, end);
      from = end + 1;
    }
    rest = rest.subarray(from);
  }
}
