/**
 * The UTF-8 bytes of a string that is kept for long, in memory of their own. `Buffer.from` cuts short ones out of a shared pool of
 * 8 KiB, so that one that is kept keeps all of it.
 */
export function ownBytes(text: string): Buffer {
  const bytes = Buffer.alloc(Buffer.byteLength(text));
  bytes.write(text);
  return bytes;
}
