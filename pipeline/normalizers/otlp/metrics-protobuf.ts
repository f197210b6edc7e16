import { fixed64Tag, lengthTag, ProtobufReader, varintTag } from '../../wire/protobuf.ts';
import { eachField } from './protobuf-value.ts';
import { bitsOf, METRIC_KINDS, setBits, Point, type Attribute, type Bits, type MetricKind, type PointAttributes, type PointBuckets, type PointExemplar } from './metric-point.ts'; // prettier-ignore
import type { MetricsSeries } from './metrics-series.ts';
import {
  BUCKETS,
  EXEMPLAR,
  EXPONENTIAL_POINT,
  HISTOGRAM_POINT,
  METRIC,
  METRIC_DATA,
  METRICS_REQUEST,
  NUMBER_POINT,
  QUANTILE,
  RESOURCE_METRICS,
  SCOPE_METRICS,
  SUMMARY_POINT,
} from './metrics-schema.ts';
import { ANY_VALUE, KEY_VALUE, LIST, RESOURCE } from './schema.ts';

/** A value nested deeper is left out: what looks at it refuses it first. */
const MAX_DEPTH = 70;
const DELTA = 1;
/** A count of buckets that a row cannot have. */
const MAX_ITEMS = 100_000;
const TOO_MANY = 'more than 100000 buckets';

/** Reads an ExportMetricsServiceRequest in protobuf. Fields may come in any order. */
export function readMetricsProtobuf(body: Buffer, out: MetricsSeries): void {
  new Decoder(body, out).request();
}

class Decoder {
  readonly #wire: ProtobufReader;
  readonly #out: MetricsSeries;
  readonly #point = new Point();
  readonly #attributes: RawAttributes;

  constructor(body: Buffer, out: MetricsSeries) {
    this.#wire = new ProtobufReader(body);
    this.#out = out;
    this.#attributes = new RawAttributes((places) => this.#pairs(places));
  }

  request(): void {
    eachField(this.#wire, lengthTag(METRICS_REQUEST.resourceMetrics), () => {
      this.#resourceMetrics();
    });
  }

  #resourceMetrics(): void {
    const wire = this.#wire;
    const { at, end } = wire;
    const attributes: Attribute[] = [];
    eachField(wire, lengthTag(RESOURCE_METRICS.resource), () => {
      eachField(wire, lengthTag(RESOURCE.attributes), () => attributes.push(this.#pair(0)));
    });
    this.#out.beginResource(attributes);
    wire.seek(at, end);
    eachField(wire, lengthTag(RESOURCE_METRICS.scopeMetrics), () => {
      eachField(wire, lengthTag(SCOPE_METRICS.metrics), () => {
        this.#metric();
      });
    });
    this.#out.endResource();
  }

  /** Name and unit may stand behind the points. */
  #metric(): void {
    const wire = this.#wire;
    const { at, end } = wire;
    const texts = { name: '', description: '', unit: '' };
    let kind: MetricKind | null = null;
    let [start, to] = [0, 0];
    while (wire.at < end) {
      const tag = wire.tag();
      const text = TEXTS.find((name) => tag === lengthTag(METRIC[name]));
      const data = METRIC_KINDS.find((name) => tag === lengthTag(METRIC[name]));
      if (text !== undefined) texts[text] = this.#text();
      else if (data === undefined) wire.skip(tag);
      else {
        kind = data;
        const outer = wire.enter();
        [start, to] = [wire.at, wire.end];
        wire.leave(outer);
      }
    }
    if (kind !== null) {
      wire.seek(start, to);
      this.#data(kind, texts);
    }
    wire.seek(at, end);
    wire.seek(end, end);
  }

  #data(kind: MetricKind, texts: { readonly name: string; readonly description: string; readonly unit: string }): void {
    const wire = this.#wire;
    const { at, end } = wire;
    let [isDelta, isMonotonic] = [false, false];
    while (wire.at < end) {
      const tag = wire.tag();
      if (tag === varintTag(METRIC_DATA.aggregationTemporality)) isDelta = wire.varint32() === DELTA;
      else if (tag === varintTag(METRIC_DATA.isMonotonic)) isMonotonic = wire.varint32() !== 0;
      else wire.skip(tag);
    }
    const isSum = kind === 'sum';
    const isCounted = isSum || kind === 'histogram' || kind === 'exponentialHistogram';
    this.#out.beginMetric({ ...texts, kind, isDelta: isCounted && isDelta, isMonotonic: isSum && isMonotonic });
    wire.seek(at, end);
    eachField(wire, lengthTag(METRIC_DATA.dataPoints), () => {
      const point = this.#point;
      point.clear();
      this.#attributes.clear();
      while (wire.at < wire.end) this.#field(kind, wire.tag(), point);
      this.#out.point(point, this.#attributes);
    });
  }

  #field(kind: MetricKind, tag: number, point: Point): void {
    if (kind === 'gauge' || kind === 'sum') this.#numberField(tag, point);
    else if (kind === 'histogram') this.#histogramField(tag, point);
    else if (kind === 'exponentialHistogram') this.#exponentialField(tag, point);
    else this.#summaryField(tag, point);
  }

  #numberField(tag: number, point: Point): void {
    if (tag === fixed64Tag(NUMBER_POINT.asDouble)) this.#bits(point.value);
    else if (tag === fixed64Tag(NUMBER_POINT.asInt)) setBits(point.value, this.#wire.sfixed64());
    else this.#common(tag, point, NUMBER_POINT);
  }

  #histogramField(tag: number, point: Point): void {
    const wire = this.#wire;
    if (tag === fixed64Tag(HISTOGRAM_POINT.count)) point.count = wire.fixed64();
    else if (tag === fixed64Tag(HISTOGRAM_POINT.sum)) this.#bits(point.sum);
    else if (tag === lengthTag(HISTOGRAM_POINT.bucketCounts)) this.#packed(point, point.counts, () => wire.fixed64());
    else if (tag === fixed64Tag(HISTOGRAM_POINT.bucketCounts)) point.counts.push(wire.fixed64());
    else if (tag === lengthTag(HISTOGRAM_POINT.explicitBounds)) this.#packed(point, point.bounds, () => wire.double());
    else if (tag === fixed64Tag(HISTOGRAM_POINT.explicitBounds)) point.bounds.push(wire.double());
    else this.#common(tag, point, HISTOGRAM_POINT);
  }

  #exponentialField(tag: number, point: Point): void {
    const wire = this.#wire;
    if (tag === fixed64Tag(EXPONENTIAL_POINT.count)) point.count = wire.fixed64();
    else if (tag === fixed64Tag(EXPONENTIAL_POINT.sum)) this.#bits(point.sum);
    else if (tag === varintTag(EXPONENTIAL_POINT.scale)) point.scale = zigzag(wire.varint32());
    else if (tag === fixed64Tag(EXPONENTIAL_POINT.zeroCount)) point.zeroCount = wire.fixed64();
    else if (tag === fixed64Tag(EXPONENTIAL_POINT.zeroThreshold)) point.zeroThreshold = wire.double();
    else if (tag === lengthTag(EXPONENTIAL_POINT.positive)) point.positive = this.#buckets(point);
    else if (tag === lengthTag(EXPONENTIAL_POINT.negative)) point.negative = this.#buckets(point);
    else this.#common(tag, point, EXPONENTIAL_POINT);
  }

  #summaryField(tag: number, point: Point): void {
    const wire = this.#wire;
    if (tag === fixed64Tag(SUMMARY_POINT.count)) point.count = wire.fixed64();
    else if (tag === fixed64Tag(SUMMARY_POINT.sum)) this.#bits(point.sum);
    else if (tag === lengthTag(SUMMARY_POINT.quantileValues)) this.#quantile(point);
    else this.#common(tag, point, { ...SUMMARY_POINT, exemplars: -1 });
  }

  #common(
    tag: number,
    point: Point,
    fields: Readonly<Record<'startTimeUnixNano' | 'timeUnixNano' | 'attributes' | 'flags' | 'exemplars', number>>,
  ): void {
    const wire = this.#wire;
    if (tag === fixed64Tag(fields.startTimeUnixNano)) point.start = this.#time();
    else if (tag === fixed64Tag(fields.timeUnixNano)) point.time = this.#time();
    else if (tag === varintTag(fields.flags)) point.flags = wire.varint32();
    else if (tag === lengthTag(fields.attributes)) {
      const outer = wire.enter();
      this.#attributes.add(wire.bytes, wire.at, wire.end);
      wire.leave(outer);
    } else if (tag === lengthTag(fields.exemplars)) point.exemplars.push(this.#exemplar());
    else wire.skip(tag);
  }

  #packed(point: Point, into: number[], read: () => number): void {
    const wire = this.#wire;
    const outer = wire.enter();
    if (wire.end - wire.at > 8 * MAX_ITEMS) point.problem = TOO_MANY;
    else while (wire.at < wire.end) into.push(read());
    wire.leave(outer);
  }

  #buckets(point: Point): PointBuckets {
    const wire = this.#wire;
    const outer = wire.enter();
    const counts: number[] = [];
    let offset = 0;
    while (wire.at < wire.end) {
      const tag = wire.tag();
      if (tag === varintTag(BUCKETS.offset)) offset = zigzag(wire.varint32());
      else if (tag === varintTag(BUCKETS.bucketCounts)) counts.push(wire.uint64());
      else if (tag === lengthTag(BUCKETS.bucketCounts)) {
        const inner = wire.enter();
        if (wire.end - wire.at > MAX_ITEMS) point.problem = TOO_MANY;
        else while (wire.at < wire.end) counts.push(wire.uint64());
        wire.leave(inner);
      } else wire.skip(tag);
    }
    wire.leave(outer);
    return { offset, counts };
  }

  #quantile(point: Point): void {
    const wire = this.#wire;
    const outer = wire.enter();
    let quantile = 0;
    const value = bitsOf(0);
    while (wire.at < wire.end) {
      const tag = wire.tag();
      if (tag === fixed64Tag(QUANTILE.quantile)) quantile = wire.double();
      else if (tag === fixed64Tag(QUANTILE.value)) this.#bits(value);
      else wire.skip(tag);
    }
    wire.leave(outer);
    point.quantiles.push([quantile, value]);
  }

  #exemplar(): PointExemplar {
    const wire = this.#wire;
    const outer = wire.enter();
    let [time, traceId, spanId] = [0, '', ''];
    const bits = bitsOf(0);
    const attributes: Attribute[] = [];
    while (wire.at < wire.end) {
      const tag = wire.tag();
      if (tag === fixed64Tag(EXEMPLAR.timeUnixNano)) time = this.#time();
      else if (tag === fixed64Tag(EXEMPLAR.asDouble)) this.#bits(bits);
      else if (tag === fixed64Tag(EXEMPLAR.asInt)) setBits(bits, wire.sfixed64());
      else if (tag === lengthTag(EXEMPLAR.traceId)) traceId = this.#text('hex');
      else if (tag === lengthTag(EXEMPLAR.spanId)) spanId = this.#text('hex');
      else if (tag === lengthTag(EXEMPLAR.filteredAttributes)) {
        const inner = wire.enter();
        attributes.push(this.#pair(0));
        wire.leave(inner);
      } else wire.skip(tag);
    }
    wire.leave(outer);
    return { time, bits, traceId, spanId, attributes };
  }

  /** Nanoseconds as whole milliseconds. */
  #time(): number {
    this.#wire.nanoseconds(split);
    return split.seconds * 1000 + Math.floor(split.nanos / 1e6);
  }

  #bits(into: Bits): void {
    this.#wire.words(into);
    into.isThere = true;
  }

  /** The KeyValues at these places. */
  #pairs(places: readonly number[]): Attribute[] {
    const wire = this.#wire;
    const { at, end } = wire;
    const attributes: Attribute[] = [];
    for (let place = 0; place < places.length; place += 2) {
      wire.seek(places[place] as number, places[place + 1] as number);
      attributes.push(this.#pair(0));
    }
    wire.seek(at, end);
    return attributes;
  }

  /** The KeyValue that was entered. */
  #pair(depth: number): Attribute {
    const wire = this.#wire;
    let [key, value]: [string, unknown] = ['', null];
    while (wire.at < wire.end) {
      const tag = wire.tag();
      if (tag === lengthTag(KEY_VALUE.key)) key = this.#text();
      else if (tag === lengthTag(KEY_VALUE.value)) {
        const outer = wire.enter();
        value = this.#any(depth);
        wire.leave(outer);
      } else wire.skip(tag);
    }
    return [key, value];
  }

  /** The AnyValue that was entered, as OTLP's JSON has it. */
  #any(depth: number): object {
    const wire = this.#wire;
    let value: object = {};
    while (wire.at < wire.end) {
      const tag = wire.tag();
      if (tag === lengthTag(ANY_VALUE.stringValue)) value = { stringValue: this.#text() };
      else if (tag === varintTag(ANY_VALUE.boolValue)) value = { boolValue: wire.varint32() !== 0 };
      else if (tag === varintTag(ANY_VALUE.intValue)) value = { intValue: wire.int64Text() };
      else if (tag === fixed64Tag(ANY_VALUE.doubleValue)) value = { doubleValue: wire.double() };
      else if (tag === lengthTag(ANY_VALUE.bytesValue)) value = { bytesValue: this.#text('base64') };
      else if (tag === lengthTag(ANY_VALUE.arrayValue)) value = { arrayValue: { values: this.#values(() => this.#any(depth + 1), depth) } };
      else if (tag === lengthTag(ANY_VALUE.kvlistValue))
        value = { kvlistValue: { values: this.#values(() => this.#member(depth + 1), depth) } };
      else wire.skip(tag);
    }
    return value;
  }

  #member(depth: number): object {
    const [key, value] = this.#pair(depth);
    return { key, value };
  }

  #values(read: () => object, depth: number): object[] {
    const wire = this.#wire;
    const values: object[] = [];
    const outer = wire.enter();
    if (depth < MAX_DEPTH) eachField(wire, lengthTag(LIST.values), () => values.push(read()));
    wire.leave(outer);
    return values;
  }

  #text(encoding: 'utf8' | 'hex' | 'base64' = 'utf8'): string {
    const wire = this.#wire;
    const outer = wire.enter();
    const text = wire.bytes.toString(encoding, wire.at, wire.end);
    wire.leave(outer);
    return text;
  }
}

/** The KeyValues of a point, one behind the other, each behind its length; and where they lie in the body. */
class RawAttributes implements PointAttributes {
  bytes: Buffer = Buffer.alloc(1024);
  length = 0;
  readonly #places: number[] = [];
  readonly #pairs: (places: readonly number[]) => Attribute[];

  constructor(pairs: (places: readonly number[]) => Attribute[]) {
    this.#pairs = pairs;
  }

  clear(): void {
    this.length = 0;
    this.#places.length = 0;
  }

  add(source: Buffer, start: number, end: number): void {
    const to = this.length + LENGTH_BYTES + end - start;
    if (to > this.bytes.length) {
      const larger = Buffer.alloc(2 * to);
      this.bytes.copy(larger, 0, 0, this.length);
      this.bytes = larger;
    }
    this.bytes.writeUInt32LE(end - start, this.length);
    source.copy(this.bytes, this.length + LENGTH_BYTES, start, end);
    this.length = to;
    this.#places.push(start, end);
  }

  read(): Attribute[] {
    return this.#pairs(this.#places);
  }
}

const LENGTH_BYTES = 4;
const split = { seconds: 0, nanos: 0 };
const TEXTS = ['name', 'description', 'unit'] as const;
/** A sint32 of its varint. */
const zigzag = (value: number): number => (value >>> 1) ^ -(value & 1);
