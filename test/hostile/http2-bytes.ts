/** What a client of HTTP/2 begins with (RFC 9113, 3.4): the preface, and settings that are empty. */
export const http2Start = (): Buffer => Buffer.concat([Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'), http2Frame(SETTINGS, 0, 0)]);

/** Types of frames, and the flag of headers that are whole. */
export const [DATA, HEADERS, RST_STREAM, CONTINUATION] = [0x00, 0x01, 0x03, 0x09];
const SETTINGS = 0x04;
export const END_HEADERS = 0x04;

/** A frame of HTTP/2. */
export function http2Frame(type: number, flags: number, stream: number, payload: Buffer = Buffer.alloc(0)): Buffer {
  const head = Buffer.alloc(9);
  head.writeUIntBE(payload.length, 0, 3);
  head.writeUInt8(type, 3);
  head.writeUInt8(flags, 4);
  head.writeUInt32BE(stream, 5);
  return Buffer.concat([head, payload]);
}

/** Headers by HPACK, each as a literal that is not indexed (RFC 7541, 6.2.2). */
export const hpack = (headers: readonly (readonly [name: string, value: string])[]): Buffer =>
  Buffer.concat(headers.flatMap(([name, value]) => [Buffer.from([0]), text(name), text(value)]));

/** The headers of a call that exports logs. */
export const exportHeaders = (key: string, more: readonly (readonly [string, string])[] = []): Buffer =>
  hpack([
    [':method', 'POST'],
    [':scheme', 'http'],
    [':path', '/opentelemetry.proto.collector.logs.v1.LogsService/Export'],
    [':authority', 'x'],
    ['content-type', 'application/grpc'],
    ['te', 'trailers'],
    ['authorization', `Bearer ${key}`],
    ...more,
  ]);

/** The beginning of a message of gRPC that says how long it is. */
export function messageStart(length: number): Buffer {
  const head = Buffer.alloc(5);
  head.writeUInt32BE(length, 1);
  return head;
}

function text(value: string): Buffer {
  const bytes = Buffer.from(value);
  const length: number[] = [];
  let rest = bytes.length;
  if (rest < 127) length.push(rest);
  else {
    length.push(127);
    for (rest -= 127; rest >= 128; rest = Math.floor(rest / 128)) length.push((rest % 128) | 0x80);
    length.push(rest);
  }
  return Buffer.concat([Buffer.from(length), bytes]);
}
