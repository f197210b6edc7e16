import { fixed64Tag, lengthTag, ProtobufReader, varintTag } from '../wire/protobuf.ts';

/**
 * Fields of Prometheus' native histograms, in remote write 1.0 and 2.0 alike
 * (https://github.com/prometheus/prometheus/blob/main/prompb/types.proto). A payload is such a message without sum and times, which are columns.
 */
export const HISTOGRAM = {
  ...{ countInt: 1, countFloat: 2, sum: 3, schema: 4, zeroThreshold: 5, zeroCountInt: 6, zeroCountFloat: 7 },
  ...{ negativeSpans: 8, negativeDeltas: 9, negativeCounts: 10, positiveSpans: 11, positiveDeltas: 12, positiveCounts: 13 },
  ...{ resetHint: 14, timestamp: 15, customValues: 16, startTimestamp: 17 },
} as const;
const SPAN = { offset: 1, length: 2 } as const;

/** Schemas: exponential ones, and that of buckets with bounds of their own. */
const [LEAST_SCHEMA, MOST_SCHEMA, CUSTOM_SCHEMA] = [-9, 52, -53];

/** So many buckets from an offset on: after the end of the span before. */
export type Span = { readonly offset: number; readonly length: number };

/** A native histogram: counts of buckets are absolute. Floats whether they came so. */
export type NativeHistogram = {
  readonly schema: number;
  readonly zeroThreshold: number;
  readonly zeroCount: number;
  readonly count: number;
  readonly positiveSpans: readonly Span[];
  readonly positive: readonly number[];
  readonly negativeSpans: readonly Span[];
  readonly negative: readonly number[];
  /** Upper bounds of the schema -53. */
  readonly customValues: readonly number[];
  /** 0 unknown, 1 a reset, 2 none, 3 a gauge. */
  readonly resetHint: number;
  readonly isFloat: boolean;
};

type Read = {
  -readonly [Member in keyof NativeHistogram]: NativeHistogram[Member] extends readonly (infer Item)[] ? Item[] : NativeHistogram[Member];
};

/** Reads a payload. Throws HttpError 400 where the bytes are corrupt. */
export function readHistogram(payload: Buffer): NativeHistogram {
  const wire = new ProtobufReader(payload);
  const read: Read = {
    ...{ schema: 0, zeroThreshold: 0, zeroCount: 0, count: 0, resetHint: 0, isFloat: false },
    ...{ positiveSpans: [], positive: [], negativeSpans: [], negative: [], customValues: [] },
  };
  while (wire.at < wire.end) readField(wire, wire.tag(), read);
  return read;
}

function readField(wire: ProtobufReader, tag: number, read: Read): void {
  switch (tag) {
    case varintTag(HISTOGRAM.countInt):
      read.count = wire.uint64();
      break;
    case fixed64Tag(HISTOGRAM.countFloat):
      read.count = wire.double();
      read.isFloat = true;
      break;
    case varintTag(HISTOGRAM.schema):
      read.schema = zigzag(wire.uint64());
      break;
    case fixed64Tag(HISTOGRAM.zeroThreshold):
      read.zeroThreshold = wire.double();
      break;
    case varintTag(HISTOGRAM.zeroCountInt):
      read.zeroCount = wire.uint64();
      break;
    case fixed64Tag(HISTOGRAM.zeroCountFloat):
      read.zeroCount = wire.double();
      break;
    case varintTag(HISTOGRAM.resetHint):
      read.resetHint = wire.varint32();
      break;
    default:
      readBuckets(wire, tag, read);
  }
}

function readBuckets(wire: ProtobufReader, tag: number, read: Read): void {
  switch (tag) {
    case lengthTag(HISTOGRAM.negativeSpans):
      read.negativeSpans.push(readSpan(wire));
      break;
    case lengthTag(HISTOGRAM.positiveSpans):
      read.positiveSpans.push(readSpan(wire));
      break;
    case lengthTag(HISTOGRAM.negativeDeltas):
      readDeltas(wire, read.negative);
      break;
    case lengthTag(HISTOGRAM.positiveDeltas):
      readDeltas(wire, read.positive);
      break;
    case lengthTag(HISTOGRAM.negativeCounts):
      readDoubles(wire, read.negative);
      break;
    case lengthTag(HISTOGRAM.positiveCounts):
      readDoubles(wire, read.positive);
      break;
    case lengthTag(HISTOGRAM.customValues):
      readDoubles(wire, read.customValues);
      break;
    default:
      wire.skip(tag);
  }
}

const zigzag = (value: number): number => (value % 2 === 0 ? value / 2 : -(value + 1) / 2);

function readSpan(wire: ProtobufReader): Span {
  const outer = wire.enter();
  let [offset, length] = [0, 0];
  while (wire.at < wire.end) {
    const tag = wire.tag();
    if (tag === varintTag(SPAN.offset)) offset = zigzag(wire.uint64());
    else if (tag === varintTag(SPAN.length)) length = wire.varint32();
    else wire.skip(tag);
  }
  wire.leave(outer);
  return { offset, length };
}

function readDeltas(wire: ProtobufReader, into: number[]): void {
  const outer = wire.enter();
  let count = into.at(-1) ?? 0;
  while (wire.at < wire.end) into.push((count += zigzag(wire.uint64()))); // prettier-ignore
  wire.leave(outer);
}

function readDoubles(wire: ProtobufReader, into: number[]): void {
  const outer = wire.enter();
  while (wire.at < wire.end) into.push(wire.double());
  wire.leave(outer);
}

/** Why a histogram cannot be taken; empty where it can. */
export function histogramFault(histogram: NativeHistogram): string {
  const { schema, positive, negative, positiveSpans, negativeSpans, zeroCount, count, customValues, isFloat } = histogram;
  const isCustom = schema === CUSTOM_SCHEMA;
  if (!isCustom && (schema < LEAST_SCHEMA || schema > MOST_SCHEMA)) return `a histogram of the unknown schema ${String(schema)}`;
  if (spansFault(positiveSpans, positive.length) || spansFault(negativeSpans, negative.length))
    return 'a histogram whose spans do not have as many buckets as it has counts';
  if (isCustom && (negative.length > 0 || zeroCount !== 0 || !isRising(customValues)))
    return 'a histogram of own bounds that are not in their order, or with a zero bucket or negative buckets';
  if ([...positive, ...negative, zeroCount, count].some((one) => one < 0)) return 'a histogram with a negative count';
  const sum = positive.reduce(
    (all, one) => all + one,
    negative.reduce((all, one) => all + one, zeroCount),
  );
  return !isFloat && sum > count ? 'a histogram whose buckets have more than its count' : '';
}

const spansFault = (spans: readonly Span[], buckets: number): boolean =>
  spans.reduce((sum, { length }) => sum + length, 0) !== buckets || spans.some(({ offset }, index) => index > 0 && offset < 0);

const isRising = (values: readonly number[]): boolean =>
  values.every((value, index) => !Number.isNaN(value) && (index === 0 || value > (values[index - 1] as number)));
