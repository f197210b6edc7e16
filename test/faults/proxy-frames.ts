/** A request as a proxy sees it: of Kafka the api key and how the rest begins, of HTTP the head (request line and headers). */
export type SeenRequest = { readonly apiKey: number; readonly head: string };

/** Bytes of a request in the order they came. `payload`: how many bytes of the frame (Kafka) or of the body (HTTP) came before them. */
export type Piece = {
  readonly request: SeenRequest;
  /** What answers it carries the same number. */ readonly id: number;
  readonly bytes: Buffer;
  readonly payload: number;
  readonly isHead: boolean;
  /** Nothing of the request comes after it. */ readonly isLast: boolean;
};

/** Takes bytes as they come, gives what they complete. */
export type Splitter<T> = (bytes: Buffer) => T[];

const MAX_FRAME_BYTES = 64 * 1024 * 1024;

/** Whole frames of Kafka's protocol: a size of four bytes, then so many (https://kafka.apache.org/protocol#protocol_common). */
function kafkaFrames(): Splitter<Buffer> {
  let parts: Buffer[] = [];
  let held = 0;
  return (bytes) => {
    parts.push(bytes);
    held += bytes.length;
    const frames: Buffer[] = [];
    for (;;) {
      if (held < 4) return frames;
      if ((parts[0]?.length ?? 0) < 4) parts = [Buffer.concat(parts)];
      const size = 4 + (parts[0] as Buffer).readInt32BE(0);
      if (size < 8 || size > MAX_FRAME_BYTES) throw new Error(`A Kafka frame of ${size} bytes.`);
      if (held < size) return frames;
      const all = parts.length === 1 ? (parts[0] as Buffer) : Buffer.concat(parts);
      frames.push(all.subarray(0, size));
      held -= size;
      parts = held === 0 ? [] : [all.subarray(size)];
    }
  };
}

/** Requests of Kafka's protocol, each in one piece. */
export function kafkaRequests(): Splitter<Piece> {
  const frames = kafkaFrames();
  return (bytes) =>
    frames(bytes).map((frame) => ({
      request: { apiKey: frame.readInt16BE(4), head: frame.toString('latin1', 12, 200) },
      id: frame.readInt32BE(8),
      bytes: frame,
      payload: 0,
      isHead: false,
      isLast: true,
    }));
}

/** Answers of Kafka's protocol, each whole, with the id of its request. */
export function kafkaAnswers(): Splitter<{ readonly id: number; readonly bytes: Buffer }> {
  const frames = kafkaFrames();
  return (bytes) => frames(bytes).map((frame) => ({ id: frame.readInt32BE(4), bytes: frame }));
}

/** What of an HTTP request comes next. */
type Expected =
  | { readonly what: 'head' | 'chunk size' | 'trailer' }
  | { readonly what: 'body' | 'chunk'; /** Bytes of it that are still to come. */ left: number };

/** Requests of HTTP/1.1 on one connection: the head in one piece, the body as it comes (RFC 9112, sections 6 and 7). */
export function httpRequests(): Splitter<Piece> {
  let expected: Expected = { what: 'head' };
  let line = Buffer.alloc(0);
  let request: SeenRequest = { apiKey: -1, head: '' };
  let id = 0;
  let payload = 0;

  /** Takes what is expected next from the front of the bytes; null: it is not whole yet. */
  function take(bytes: Buffer): Piece | null {
    if (expected.what === 'body' || expected.what === 'chunk') {
      const part = bytes.subarray(0, expected.left);
      expected.left -= part.length;
      if (expected.left === 0) expected = { what: expected.what === 'body' ? 'head' : 'chunk size' };
      return piece(part, false);
    }
    const end = expected.what === 'head' ? '\r\n\r\n' : '\r\n';
    const at = bytes.indexOf(end);
    if (at < 0) return null;
    const text = bytes.subarray(0, at + end.length);
    if (expected.what === 'head') {
      id += 1;
      payload = 0;
      request = { apiKey: -1, head: text.toString('latin1') };
      expected = bodyOf(request.head);
      return piece(text, true);
    }
    if (expected.what === 'trailer') expected = { what: at === 0 ? 'head' : 'trailer' };
    else {
      const size = Number.parseInt(text.toString('latin1'), 16);
      expected = size === 0 ? { what: 'trailer' } : { what: 'chunk', left: size + 2 };
    }
    return piece(text, false);
  }

  function piece(bytes: Buffer, isHead: boolean): Piece {
    const before = payload;
    if (!isHead) payload += bytes.length;
    return { request, id, bytes, payload: before, isHead, isLast: expected.what === 'head' };
  }

  return (bytes) => {
    let rest = line.length === 0 ? bytes : Buffer.concat([line, bytes]);
    const pieces: Piece[] = [];
    while (rest.length > 0) {
      const next = take(rest);
      if (next === null) break;
      pieces.push(next);
      rest = rest.subarray(next.bytes.length);
    }
    line = Buffer.from(rest);
    return pieces;
  };
}

function bodyOf(head: string): Expected {
  if (/^transfer-encoding:.*chunked/im.test(head)) return { what: 'chunk size' };
  const length = Number(/^content-length: *(\d+)/im.exec(head)?.[1] ?? 0);
  return length > 0 ? { what: 'body', left: length } : { what: 'head' };
}
