/** A field of protobuf that has a length. */
function field(number: number, value: Buffer): Buffer {
  const length: number[] = [];
  let rest = value.length;
  for (; rest >= 0x80; rest >>= 7) length.push((rest & 0x7f) | 0x80);
  return Buffer.concat([Buffer.from([number * 8 + 2, ...length, rest]), value]);
}

/** An ExportLogsServiceRequest with one record of this body. */
export const otlpRecord = (text: string): Buffer => field(1, field(2, field(2, field(5, field(1, Buffer.from(text))))));
