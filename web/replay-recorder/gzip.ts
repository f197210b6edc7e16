/** A text compressed, where the browser can; else as it is. */
export async function gzip(text: string): Promise<{ readonly body: Uint8Array<ArrayBuffer>; readonly isGzip: boolean }> {
  const bytes = new TextEncoder().encode(text);
  if (!('CompressionStream' in globalThis)) return { body: bytes, isGzip: false };
  const stream = new Blob([bytes]).stream().pipeThrough(new CompressionStream('gzip'));
  return { body: new Uint8Array(await new Response(stream).arrayBuffer()), isGzip: true };
}
