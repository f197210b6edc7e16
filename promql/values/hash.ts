/** The place of a series between 0 and 1, by which `limit_ratio` chooses: that of Prometheus, so that it chooses the same ones. */
import createXxhash from 'xxhash-wasm';
import type { Labels } from './labels.ts';

const xxhash = await createXxhash();

/** A string behind its length: one byte, or 255 and three bytes. */
function sized(text: string): Buffer {
  const bytes = Buffer.from(text);
  const { length } = bytes;
  const size = length < 255 ? [length] : [255, length & 255, (length >> 8) & 255, (length >> 16) & 255];
  return Buffer.concat([Buffer.from(size), bytes]);
}

/** The hash of a series' labels as a share of the greatest one. */
export const ratioOf = (labels: Labels): number => Number(xxhash.h64Raw(Buffer.concat(labels.flat.map(sized)))) / 2 ** 64;
