/** Ids of traces and spans, as clients write them (https://opentelemetry.io/docs/specs/otlp/#json-protobuf-encoding). */

/** Takes the id that is `source[start..end)`: its bytes, or hexadecimal digits of any case. False where it has another length or is none. */
export function idOfBytes(target: Buffer, source: Buffer, start: number, end: number): boolean {
  if (end - start !== target.length) return idOfDigits(target, source, start, end);
  for (let at = start, to = 0; at < end; at++, to++) target[to] = source[at] as number;
  return true;
}

/** Takes the id whose text is `source[start..end)`: hexadecimal digits, or base64, which old exporters write and which is shorter. */
export function idOfText(target: Buffer, source: Buffer, start: number, end: number): boolean {
  const length = end - start;
  const shortest = Math.ceil((target.length * 4) / 3);
  const longest = 4 * Math.ceil(target.length / 3);
  if (length !== shortest && length !== longest) return idOfDigits(target, source, start, end);
  const bytes = Buffer.from(source.toString('latin1', start, end), 'base64');
  return bytes.length === target.length && idOfBytes(target, bytes, 0, bytes.length);
}

function idOfDigits(target: Buffer, source: Buffer, start: number, end: number): boolean {
  if (end - start !== 2 * target.length) return false;
  let wrong = 0;
  for (let at = start, to = 0; at < end; at += 2, to++) {
    const byte = (digit(source[at] as number) << 4) | digit(source[at + 1] as number);
    wrong |= byte;
    target[to] = byte;
  }
  return wrong >= 0;
}

/** The value of a hexadecimal digit; negative for another byte. */
function digit(byte: number): number {
  if (byte >= 0x30 && byte <= 0x39) return byte - 0x30;
  const lower = byte | 0x20;
  return lower >= 0x61 && lower <= 0x66 ? lower - 0x57 : -1;
}

export function isZero(id: Buffer): boolean {
  for (const byte of id) if (byte !== 0) return false;
  return true;
}
