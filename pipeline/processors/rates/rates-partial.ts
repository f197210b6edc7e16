import { ByteReader, ByteWriter, CutOff } from '../../core/snapshot-bytes.ts';
import { MinuteCounts } from './minute-counts.ts';

const VERSION = 1;
/** More than a partial ever has. */
const MOST = 1_000_000;

/** What a partition has counted of a stream since it told last. */
export type StreamCounts = {
  /** Its id, a character for each of its eight bytes. */
  readonly id: string;
  /** Its label set, told once an hour; null in between. */
  readonly stream: string | null;
  readonly counts: MinuteCounts;
};

/** The value of a partial: what was counted of a tenant, stream by stream. None says that nothing came. */
export function encodeRates(streams: readonly StreamCounts[]): Buffer {
  const to = new ByteWriter();
  to.count(VERSION);
  to.count(streams.length);
  for (const { id, stream, counts } of streams) {
    to.text(id);
    to.text(stream === null ? '' : Buffer.from(stream).toString('latin1'));
    counts.write(to);
  }
  return to.finish();
}

/** What a value says; null where it is no such partial. */
export function readRates(value: Buffer): StreamCounts[] | null {
  const from = new ByteReader(value);
  try {
    if (from.count() !== VERSION) return null;
    const streams = Array.from({ length: from.count(MOST) }, () => {
      const [id, text] = [from.text(), from.text()];
      return { id, stream: text === '' ? null : Buffer.from(text, 'latin1').toString(), counts: MinuteCounts.read(from, MOST) };
    });
    return from.isAtEnd ? streams : null;
  } catch (error) {
    if (error instanceof CutOff) return null;
    throw error;
  }
}
