/** A row of events: when its first event is, milliseconds, and a line for each event. */
export type BodyRow = { readonly first: number; readonly body: Buffer };

const NUMBER_BYTES = 8;

/** Rows of RowBinary (Int64, String) out of chunks that end anywhere. */
export async function* bodyRows(chunks: AsyncIterable<Buffer>): AsyncGenerator<BodyRow> {
  let parts: Buffer[] = [];
  let [held, needed] = [0, 0];
  for await (const chunk of chunks) {
    parts.push(chunk);
    held += chunk.length;
    if (held < needed) continue;
    const bytes = parts.length === 1 ? chunk : Buffer.concat(parts, held);
    let at = 0;
    for (;;) {
      const body = bodyAt(bytes, at);
      needed = body.end - at;
      if (body.end > bytes.length) break;
      yield { first: Number(bytes.readBigInt64LE(at)), body: bytes.subarray(body.start, body.end) };
      at = body.end;
      if (at === bytes.length) break;
    }
    const rest = bytes.subarray(at);
    parts = rest.length === 0 ? [] : [rest];
    held = rest.length;
    if (held === 0) needed = 0;
  }
}

/** Where the body of the row lies that begins at `at`; an end behind the bytes where it is not whole, or not known yet. */
function bodyAt(bytes: Buffer, at: number): { readonly start: number; readonly end: number } {
  let [length, factor] = [0, 1];
  for (let i = at + NUMBER_BYTES; i < bytes.length; factor *= 128) {
    const byte = bytes[i++] as number;
    length += (byte & 127) * factor;
    if (byte < 128) return { start: i, end: i + length };
  }
  return { start: bytes.length, end: bytes.length + 1 };
}

/** An event of a row: when it is, milliseconds, its type, and where its JSON begins and ends with its line. */
export type EventLine = { readonly time: number; readonly type: number; readonly start: number; readonly end: number };

const [NEWLINE, SPACE, ZERO] = [0x0a, 0x20, 0x30];

/** The event whose line begins at `at`; null behind the last one. */
export function eventAt({ first, body }: BodyRow, at: number): EventLine | null {
  if (at >= body.length) return null;
  let [i, after] = [at, 0];
  for (; body[i] !== SPACE; i++) after = after * 10 + (body[i] as number) - ZERO;
  const type = (body[i + 1] as number) - ZERO;
  const end = body.indexOf(NEWLINE, i + 3);
  return { time: first + after, type, start: i + 3, end: end + 1 };
}
