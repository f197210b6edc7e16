import { ByteReader, ByteWriter, unlessCutOff } from '../../core/snapshot-bytes.ts';

const VERSION = 2;
/** More than a partial ever has. */
const MOST = 100_000;
/** A partial is cut after about this number of bytes. */
const PARTIAL_BYTES = 256 * 1024;

/** A pattern that came: its number, as halves, an entry's message and severity, and the earliest time of its entries, milliseconds since 1970. */
export type SeenPattern = {
  readonly high: number;
  readonly low: number;
  readonly severity: number;
  readonly first: number;
  /** As a template is made of it: bytes, a character for each of them. */
  readonly message: string;
  /** The label set of its stream, in the same form; empty where it is too long. */
  readonly stream: string;
};

/** The values of the partials that report these patterns. */
export function encodeSeen(patterns: readonly SeenPattern[]): Buffer[] {
  const cuts: SeenPattern[][] = [];
  let budget = 0;
  for (const pattern of patterns) {
    const size = pattern.message.length + pattern.stream.length + 32;
    budget -= size;
    if (budget < 0) {
      cuts.push([]);
      budget = PARTIAL_BYTES - size;
    }
    cuts.at(-1)?.push(pattern);
  }
  return cuts.map((together) => {
    const to = new ByteWriter();
    for (const number of [VERSION, together.length]) to.count(number);
    for (const { high, low, severity, first, message, stream } of together) {
      to.word(high);
      to.word(low);
      to.count(severity);
      to.count(first);
      to.text(message);
      to.text(stream);
    }
    return to.finish();
  });
}

/** Reads a value; null where it is not such a partial. */
export function readSeen(value: Buffer): SeenPattern[] | null {
  const from = new ByteReader(value);
  return unlessCutOff(() => {
    if (from.count() !== VERSION) return null;
    const patterns: SeenPattern[] = [];
    for (let left = from.count(MOST); left > 0; left--)
      patterns.push({
        ...{ high: from.word(), low: from.word(), severity: from.count(0xff), first: from.count() },
        ...{ message: from.text(), stream: from.text() },
      });
    return from.isAtEnd ? patterns : null;
  });
}
