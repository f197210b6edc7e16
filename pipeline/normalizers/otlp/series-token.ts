import type { PointAttributes } from './metric-point.ts';

/** Where the number of a context, the part of the metric, its number, and the attributes begin. */
const [CONTEXT_AT, PART_AT, NUMBER_AT, ATTRIBUTES_AT] = [1, 9, 10, 18];
/** Longer attributes are no part of a token. */
const ATTRIBUTE_BYTES = 65_536;

/** Who writes tokens: no other format's bytes begin so. */
export const TOKEN_MARKS = { json: 1, protobuf: 2 } as const;

/**
 * What a series of OTLP is known by: the context of its metric, which part of a histogram or a summary it is, and the attributes of its points as they lie
 * in the body. So a known series makes no string.
 */
export class SeriesToken {
  bytes: Buffer = Buffer.alloc(1024);
  length = ATTRIBUTES_AT;

  /** Begins the token of a point; false where its attributes are too long for one, or have no bytes. */
  begin(mark: number, context: number, { bytes, length }: PointAttributes): boolean {
    if (length < 0 || length > ATTRIBUTE_BYTES) return false;
    this.length = ATTRIBUTES_AT + length;
    if (this.length > this.bytes.length) this.bytes = Buffer.alloc(2 * this.length);
    this.bytes[0] = mark;
    this.bytes.writeDoubleLE(context, CONTEXT_AT);
    bytes.copy(this.bytes, ATTRIBUTES_AT, 0, length);
    return true;
  }

  /** Sets which part of the metric the series is: of a bucket and a quantile with its number. */
  part(part: number, number: number): void {
    this.bytes[PART_AT] = part;
    this.bytes.writeDoubleLE(number, NUMBER_AT);
  }
}
