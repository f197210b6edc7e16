import { invalidBody } from '../../core/errors.ts';
import { validUtf8 } from '../../logs/writer.ts';
import { CLOSE_ARRAY, CLOSE_OBJECT, OPEN_ARRAY, OPEN_OBJECT, QUOTE } from '../../wire/bytes.ts';
import { skipSpace, skipValue } from '../../wire/json-tokens.ts';
import { nextElement, nextMember, openArray, openObject } from '../../wire/json-walk.ts';
import { jsonErrorReason } from '../shared/json-error.ts';
import type { MemberNames } from '../shared/json-members.ts';
import { textOf } from './any-text.ts';
import { otlpNames, readUnixNano } from './json-value.ts';
import { METRIC_KINDS, Point, setBits, type Attribute, type MetricKind, type PointAttributes } from './metric-point.ts';
import { attributesIn, bucketsOf, exemplarsOf, NO_NUMBER, NotANumber, numberAt, quantilesOf, valueAt } from './metrics-json-values.ts';
import { METRIC, METRIC_DATA, METRICS_REQUEST, RESOURCE_METRICS, SCOPE_METRICS } from './metrics-schema.ts';
import type { MetricsSeries } from './metrics-series.ts';

const NULL = 0x6e;
const REQUEST_NAMES = otlpNames(METRICS_REQUEST);
const RESOURCE_NAMES = otlpNames(RESOURCE_METRICS);
const SCOPE_NAMES = otlpNames(SCOPE_METRICS);
const METRIC_NAMES = otlpNames(METRIC);
const DATA_NAMES = otlpNames(METRIC_DATA);
/** Members of points of all kinds, whose numbers in protobuf differ by kind. */
const POINT = {
  ...{ attributes: 1, startTimeUnixNano: 2, timeUnixNano: 3, asDouble: 4, asInt: 5, flags: 6, exemplars: 7 },
  ...{ count: 8, sum: 9, bucketCounts: 10, explicitBounds: 11, quantileValues: 12 },
  ...{ scale: 13, zeroCount: 14, zeroThreshold: 15, positive: 16, negative: 17 },
} as const;
const POINT_NAMES = otlpNames(POINT);
const DELTA: ReadonlySet<unknown> = new Set([1, '1', 'AGGREGATION_TEMPORALITY_DELTA']);

/** Reads an ExportMetricsServiceRequest in OTLP's JSON (https://opentelemetry.io/docs/specs/otlp/#json-protobuf-encoding). */
export function readMetricsJson(body: Buffer, out: MetricsSeries): void {
  new Decoder(validUtf8(body), out).request();
}

/** Takes the member of this number whose value begins at `at`; returns the offset after it, or -1. */
type Visit = (field: number, at: number) => number;

/** Where the parts of a metric lie that its points need before they are read; -1: nowhere. */
type MetricParts = { kind: MetricKind; points: number; isDelta: boolean; isMonotonic: boolean };

class Decoder {
  readonly #body: Buffer;
  readonly #end: number;
  readonly #out: MetricsSeries;
  readonly #point = new Point();
  readonly #attributes: RawAttributes;
  /** Whether the point has had its `asDouble`, which goes before `asInt`. */
  #hasDouble = false;

  constructor(body: Buffer, out: MetricsSeries) {
    this.#body = body;
    this.#end = body.length;
    this.#out = out;
    this.#attributes = new RawAttributes(body);
  }

  request(): void {
    const body = this.#body;
    const end = this.#end;
    const start = skipSpace(body, 0, end);
    const isOther = start < end && body[start] !== OPEN_OBJECT && skipValue(body, start, end) > 0;
    if (isOther) throw invalidBody('The body is not an object; send {"resourceMetrics":[…]}.');
    const after = this.#members(REQUEST_NAMES, start, (field, at) =>
      field === METRICS_REQUEST.resourceMetrics
        ? this.#objects('resourceMetrics', at, (one) => this.#resourceMetrics(one))
        : this.#skip(at),
    );
    if (after < 0) throw invalidBody(`The body is ${jsonErrorReason(body, 0, end)}.`);
    const rest = skipSpace(body, after, end);
    if (rest < end) throw invalidBody(`After the request, at byte ${String(rest)}: expected the end of the body.`);
  }

  /** Visits the members of the object at `at`; returns the offset after it, or -1. */
  #members(names: MemberNames, at: number, visit: Visit): number {
    const body = this.#body;
    let i = openObject(body, at, this.#end);
    while (i >= 0 && body[i] !== CLOSE_OBJECT) {
      i = names.find(body, i, this.#end);
      if (i < 0) return -1;
      i = nextMember(body, visit(names.field, i), this.#end);
    }
    return i < 0 ? -1 : i + 1;
  }

  #skip(at: number): number {
    return skipValue(this.#body, at, this.#end);
  }

  /** An array of objects, or null, which is an empty one. */
  #objects(name: string, at: number, read: (at: number) => number): number {
    const body = this.#body;
    if (body[at] === NULL) return this.#skip(at);
    if (body[at] !== OPEN_ARRAY) throw invalidBody(`${name} is not an array.`);
    let i = openArray(body, at, this.#end);
    while (i >= 0 && body[i] !== CLOSE_ARRAY) {
      if (body[i] !== OPEN_OBJECT) throw invalidBody(`An element of ${name} is not an object.`);
      i = nextElement(body, read(i), this.#end);
    }
    return i < 0 ? -1 : i + 1;
  }

  /** Metrics that stand behind their resource, as most senders write them, are read as they come; others are passed over first. */
  #resourceMetrics(at: number): number {
    const seen = { resource: false, scopes: -1 };
    const scopes = (from: number): number => this.#objects('scopeMetrics', from, (one) => this.#scopeMetrics(one));
    const after = this.#members(RESOURCE_NAMES, at, (field, value) => {
      if (field === RESOURCE_METRICS.resource && !seen.resource) {
        const end = this.#skip(value);
        if (end < 0) return -1;
        this.#out.beginResource(attributesIn(this.#body, value, end));
        seen.resource = true;
        return end;
      }
      if (field !== RESOURCE_METRICS.scopeMetrics) return this.#skip(value);
      if (seen.resource) return scopes(value);
      seen.scopes = value;
      return this.#skip(value);
    });
    if (after < 0) return -1;
    if (!seen.resource) this.#out.beginResource([]);
    if (seen.scopes >= 0) scopes(seen.scopes);
    this.#out.endResource();
    return after;
  }

  #scopeMetrics(at: number): number {
    return this.#members(SCOPE_NAMES, at, (field, value) =>
      field === SCOPE_METRICS.metrics ? this.#objects('metrics', value, (one) => this.#metric(one)) : this.#skip(value),
    );
  }

  /** What the points need may stand behind them: so it is looked for first. */
  #metric(at: number): number {
    const texts = { name: '', description: '', unit: '' };
    let parts: MetricParts | null = null;
    const after = this.#members(METRIC_NAMES, at, (field, value) => {
      const kind = KINDS.get(field);
      if (kind !== undefined && this.#body[value] === OPEN_OBJECT) {
        const found: MetricParts = { kind, points: -1, isDelta: false, isMonotonic: false };
        // of several the last in the protocol's order counts
        if (parts === null || METRIC_KINDS.indexOf(kind) >= METRIC_KINDS.indexOf(parts.kind)) parts = found;
        return this.#data(value, found);
      }
      const end = this.#skip(value);
      if (end < 0) return -1;
      if (field === METRIC.name) texts.name = textOf(valueAt(this.#body, value, end));
      else if (field === METRIC.description) texts.description = textOf(valueAt(this.#body, value, end));
      else if (field === METRIC.unit) texts.unit = textOf(valueAt(this.#body, value, end));
      return end;
    });
    const found = parts as MetricParts | null;
    if (after < 0 || found === null) return after;
    const { kind, points, isDelta, isMonotonic } = found;
    const isSum = kind === 'sum';
    const isCounted = isSum || kind === 'histogram' || kind === 'exponentialHistogram';
    this.#out.beginMetric({ ...texts, kind, isDelta: isCounted && isDelta, isMonotonic: isSum && isMonotonic });
    if (points >= 0) this.#objects('dataPoints', points, (one) => this.#dataPoint(kind, one));
    return after;
  }

  #data(at: number, found: MetricParts): number {
    return this.#members(DATA_NAMES, at, (field, value) => {
      const end = this.#skip(value);
      if (end < 0) return -1;
      if (field === METRIC_DATA.dataPoints) found.points = value;
      else if (field === METRIC_DATA.aggregationTemporality) found.isDelta = DELTA.has(valueAt(this.#body, value, end));
      else if (field === METRIC_DATA.isMonotonic) found.isMonotonic = valueAt(this.#body, value, end) === true;
      return end;
    });
  }

  /** The point at `at`, which is JSON. */
  #dataPoint(kind: MetricKind, at: number): number {
    const point = this.#point;
    const attributes = this.#attributes;
    point.clear();
    attributes.start = 0;
    attributes.end = 0;
    this.#hasDouble = false;
    const after = this.#members(POINT_NAMES, at, (field, value) => {
      const end = this.#skip(value);
      if (field === POINT.attributes) {
        attributes.start = value;
        attributes.end = end;
      } else if (this.#body[value] !== NULL) this.#field(point, field, value, end);
      return end;
    });
    const { scale, positive, negative } = point;
    if (kind === 'exponentialHistogram' && ![scale, positive.offset, negative.offset].every(Number.isInteger)) point.problem = NO_NUMBER;
    this.#out.point(point, attributes);
    return after;
  }

  #field(point: Point, field: number, at: number, end: number): void {
    try {
      this.#take(point, field, at, end);
    } catch (error) {
      if (!(error instanceof NotANumber)) throw error;
      point.problem = NO_NUMBER;
    }
  }

  #take(point: Point, field: number, at: number, end: number): void {
    const body = this.#body;
    switch (field) {
      case POINT.timeUnixNano:
        point.time = this.#time(at, end);
        break;
      case POINT.startTimeUnixNano:
        point.start = this.#time(at, end);
        break;
      case POINT.asDouble:
        setBits(point.value, numberAt(body, at, end));
        this.#hasDouble = true;
        break;
      case POINT.asInt:
        if (!this.#hasDouble) setBits(point.value, numberAt(body, at, end));
        break;
      case POINT.count:
        point.count = numberAt(body, at, end);
        break;
      case POINT.sum:
        setBits(point.sum, numberAt(body, at, end));
        break;
      case POINT.bucketCounts:
        this.#numbers(at, point.counts);
        break;
      case POINT.explicitBounds:
        this.#numbers(at, point.bounds);
        break;
      case POINT.flags:
        point.flags = numberAt(body, at, end) & MAX_INT32;
        break;
      default:
        this.#rare(point, field, at, end);
    }
  }

  #rare(point: Point, field: number, at: number, end: number): void {
    const body = this.#body;
    if (field === POINT.exemplars) point.exemplars = exemplarsOf(valueAt(body, at, end));
    else if (field === POINT.quantileValues) point.quantiles.push(...quantilesOf(valueAt(body, at, end)));
    else if (field === POINT.scale) point.scale = numberAt(body, at, end);
    else if (field === POINT.zeroCount) point.zeroCount = numberAt(body, at, end);
    else if (field === POINT.zeroThreshold) point.zeroThreshold = numberAt(body, at, end);
    else if (field === POINT.positive) point.positive = bucketsOf(valueAt(body, at, end));
    else if (field === POINT.negative) point.negative = bucketsOf(valueAt(body, at, end));
  }

  /** The numbers of the array at `at`; another value is an empty one. */
  #numbers(at: number, into: number[]): void {
    const body = this.#body;
    into.length = 0;
    if (body[at] !== OPEN_ARRAY) return;
    let i = openArray(body, at, this.#end);
    while (body[i] !== CLOSE_ARRAY) {
      const end = this.#skip(i);
      into.push(numberAt(body, i, end));
      i = nextElement(body, end, this.#end);
    }
  }

  /** Nanoseconds as whole milliseconds. */
  #time(at: number, end: number): number {
    split.seconds = 0;
    split.nanos = 0;
    if (this.#body[at] === QUOTE && end === at + 2) return 0;
    if (!readUnixNano(this.#body, at, end, split)) throw new NotANumber();
    return split.seconds * 1000 + Math.floor(split.nanos / 1e6);
  }
}

const KINDS: ReadonlyMap<number, MetricKind> = new Map(METRIC_KINDS.map((kind) => [METRIC[kind], kind]));
const MAX_INT32 = 0x7fff_ffff;
const split = { seconds: 0, nanos: 0 };

/** The attributes of a point, as they lie in the body. */
class RawAttributes implements PointAttributes {
  readonly bytes: Buffer;
  start = 0;
  end = 0;

  constructor(body: Buffer) {
    this.bytes = body;
  }

  read(): Attribute[] {
    return attributesIn(this.bytes, this.start, this.end);
  }
}
