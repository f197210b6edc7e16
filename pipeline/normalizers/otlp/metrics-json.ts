import { invalidBody } from '../../core/errors.ts';
import { readJson } from '../../core/read-json.ts';
import { memberOf, textOf } from './any-text.ts';
import { bitsOf, METRIC_KINDS, Point, setBits, type Attribute, type MetricKind, type PointAttributes, type PointBuckets, type PointExemplar } from './metric-point.ts'; // prettier-ignore
import type { MetricsSeries } from './metrics-series.ts';

type Members = Readonly<Record<string, unknown>>;
const DELTA: ReadonlySet<unknown> = new Set([1, '1', 'AGGREGATION_TEMPORALITY_DELTA']);
const NO_NUMBER = 'a member that must be a number is none';

/** Reads an ExportMetricsServiceRequest in OTLP's JSON (https://opentelemetry.io/docs/specs/otlp/#json-protobuf-encoding). */
export function readMetricsJson(body: Buffer, out: MetricsSeries): void {
  const request = parsed(body);
  for (const resourceMetrics of listOf(request, 'resourceMetrics')) {
    const resource = memberOf(resourceMetrics, 'resource');
    out.beginResource(isMembers(resource) ? attributesOf(resource, 'attributes') : []);
    for (const scopeMetrics of listOf(resourceMetrics, 'scopeMetrics'))
      for (const metric of listOf(scopeMetrics, 'metrics')) readMetric(metric, out);
    out.endResource();
  }
}

function parsed(body: Buffer): Members {
  let value: unknown;
  try {
    value = readJson(body.toString('utf8'));
  } catch (error) {
    throw invalidBody(`The body is not JSON: ${(error as Error).message}.`);
  }
  if (!isMembers(value)) throw invalidBody('The body is not an object; send {"resourceMetrics":[…]}.');
  return value;
}

const isMembers = (value: unknown): value is Members => typeof value === 'object' && value !== null && !Array.isArray(value);

/** The objects of an array, null being an empty one. Throws HttpError 400 for anything else. */
function listOf(object: Members, name: string): readonly Members[] {
  const list = memberOf(object, name) ?? [];
  if (!Array.isArray(list)) throw invalidBody(`${name} is not an array.`);
  if (!list.every(isMembers)) throw invalidBody(`An element of ${name} is not an object.`);
  return list;
}

function readMetric(metric: Members, out: MetricsSeries): void {
  const kind = METRIC_KINDS.findLast((name) => isMembers(memberOf(metric, name)));
  if (kind === undefined) return;
  const data = memberOf(metric, kind) as Members;
  const isSum = kind === 'sum';
  const isCounted = isSum || kind === 'histogram' || kind === 'exponentialHistogram';
  out.beginMetric({
    ...{ name: textOf(metric['name']), description: textOf(metric['description']), unit: textOf(metric['unit']), kind },
    isDelta: isCounted && DELTA.has(memberOf(data, 'aggregationTemporality')),
    isMonotonic: isSum && memberOf(data, 'isMonotonic') === true,
  });
  const point = new Point();
  const attributes = new JsonAttributes();
  for (const one of listOf(data, 'dataPoints')) {
    point.clear();
    attributes.take(memberOf(one, 'attributes'));
    readPoint(kind, one, point);
    out.point(point, attributes);
  }
}

/** A member that must be a number and is none makes a point that is rejected. */
class NotANumber extends Error {}

function readPoint(kind: MetricKind, from: Members, point: Point): void {
  try {
    point.time = millisecondsOf(memberOf(from, 'timeUnixNano'));
    point.start = millisecondsOf(memberOf(from, 'startTimeUnixNano'));
    point.flags = Number(bigOf(memberOf(from, 'flags')) & 0xffff_ffffn);
    point.exemplars = itemsOf(from, 'exemplars').map(exemplarOf);
    if (kind === 'gauge' || kind === 'sum') {
      const value = valueOf(from);
      if (value !== null) setBits(point.value, value);
    } else readCounts(kind, from, point);
  } catch (error) {
    if (!(error instanceof NotANumber)) throw error;
    point.problem = NO_NUMBER;
  }
}

function readCounts(kind: MetricKind, from: Members, point: Point): void {
  const sum = memberOf(from, 'sum');
  point.count = numberOf(memberOf(from, 'count'));
  if (sum !== undefined && sum !== null) setBits(point.sum, numberOf(sum));
  if (kind === 'histogram') {
    point.counts = numbersOf(from, 'bucketCounts');
    point.bounds = numbersOf(from, 'explicitBounds');
  } else if (kind === 'summary')
    point.quantiles = itemsOf(from, 'quantileValues').map((one) => [numberOf(one['quantile']), bitsOf(numberOf(one['value']))]);
  else {
    point.scale = numberOf(memberOf(from, 'scale'));
    point.zeroCount = numberOf(memberOf(from, 'zeroCount'));
    point.zeroThreshold = numberOf(memberOf(from, 'zeroThreshold'));
    point.positive = bucketsOf(memberOf(from, 'positive'));
    point.negative = bucketsOf(memberOf(from, 'negative'));
    if (!Number.isInteger(point.scale) || !Number.isInteger(point.positive.offset) || !Number.isInteger(point.negative.offset)) throw new NotANumber(); // prettier-ignore
  }
}

const itemsOf = (from: Members, name: string): readonly Members[] => {
  const list = memberOf(from, name);
  return Array.isArray(list) ? list.filter(isMembers) : [];
};

const numbersOf = (from: Members, name: string): number[] => {
  const list = memberOf(from, name);
  return Array.isArray(list) ? list.map(numberOf) : [];
};

const bucketsOf = (from: unknown): PointBuckets =>
  isMembers(from) ? { offset: numberOf(from['offset']), counts: numbersOf(from, 'bucketCounts') } : { offset: 0, counts: [] };

/** The attributes of a point; their bytes are their JSON, which takes less time than reading them. */
class JsonAttributes implements PointAttributes {
  bytes: Buffer = Buffer.alloc(1024);
  length = 0;
  #list: unknown = null;

  take(list: unknown): void {
    this.#list = list;
    const text = textOfList(list);
    if (text === null) {
      this.length = -1;
      return;
    }
    if (text.length * UNIT_BYTES > this.bytes.length) this.bytes = Buffer.alloc(2 * text.length * UNIT_BYTES);
    this.length = this.bytes.write(text);
  }

  read(): Attribute[] {
    return attributesOf({ attributes: this.#list }, 'attributes');
  }
}

/** Bytes of UTF-8 for a unit of a string. */
const UNIT_BYTES = 3;

/** The JSON of a list, what is none being empty; null where it is nested too deep for it. */
function textOfList(list: unknown): string | null {
  try {
    return Array.isArray(list) ? JSON.stringify(list) : '';
  } catch (error) {
    if (error instanceof RangeError) return null;
    throw error;
  }
}

const attributesOf = (from: Members, name: string): Attribute[] => itemsOf(from, name).map((pair) => [textOf(pair['key']), pair['value']]);

/** Ids are hexadecimal. */
const idOf = (value: unknown): string => (typeof value === 'string' && /^[0-9a-fA-F]*$/.test(value) ? value.toLowerCase() : '');

const exemplarOf = (from: Members): PointExemplar => ({
  time: millisecondsOf(memberOf(from, 'timeUnixNano')),
  bits: bitsOf(valueOf(from) ?? 0),
  ...{ traceId: idOf(memberOf(from, 'traceId')), spanId: idOf(memberOf(from, 'spanId')) },
  attributes: attributesOf(from, 'filteredAttributes'),
});

/** The bits of `asDouble` or `asInt`; null where there is neither. */
function valueOf(from: Members): number | null {
  const value = memberOf(from, 'asDouble') ?? memberOf(from, 'asInt');
  return value === undefined || value === null ? null : numberOf(value);
}

/** A number, or its text: int64 are strings, and so are NaN and Infinity. Missing: 0. */
function numberOf(value: unknown): number {
  if (value === undefined || value === null) return 0;
  if (typeof value === 'number') return value;
  if (typeof value === 'string' && (value === 'NaN' || (value.trim() !== '' && !Number.isNaN(Number(value))))) return Number(value);
  throw new NotANumber();
}

/** Nanoseconds as whole milliseconds. */
const millisecondsOf = (value: unknown): number => Number(bigOf(value) / 1_000_000n);

/** A 64-bit number of nanoseconds or flags, without a sign. */
function bigOf(value: unknown): bigint {
  if (value === undefined || value === null || value === '') return 0n;
  if (typeof value === 'string' && /^\d{1,20}$/.test(value)) return BigInt(value);
  const number = numberOf(value);
  if (!(number >= 0 && number < 2 ** 64)) throw new NotANumber();
  return BigInt(Math.floor(number));
}
