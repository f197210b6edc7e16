import { factsText, NAME, type Kind, type Labels } from '../../samples/definition.ts';
import { KeyBytes } from '../../samples/key-bytes.ts';
import type { SamplesWriter } from '../../samples/samples-writer.ts';
import { anyText, TooDeep } from './any-text.ts';
import { exponentialPayload } from './exponential.ts';
import { bitsOf, type Attribute, type Point, type PointExemplar, type PointMetric } from './metric-point.ts';
import { labelName, metricName, unitName } from './prometheus-names.ts';

const NO_RECORDED_VALUE = 1;
/** The NaN by which Prometheus marks the end of a series. */
const STALE = 0x7ff0000000000002n;
const SERVICE = { name: 'service.name', namespace: 'service.namespace', instance: 'service.instance.id' } as const;
const IDENTIFYING: ReadonlySet<string> = new Set(Object.values(SERVICE));
const TOO_DEEP = 'an attribute nested deeper than 64 levels';

const KINDS: Readonly<Record<PointMetric['kind'], Kind>> = {
  ...{ gauge: 'gauge', sum: 'counter', histogram: 'histogram', exponentialHistogram: 'histogram', summary: 'summary' },
};

const key = new KeyBytes();
const double = new BigUint64Array(1);
const words = new Uint32Array(double.buffer);
const millisecondsOf = (nanoseconds: bigint): number => Number(nanoseconds / 1_000_000n);

/** Makes Prometheus' series of OTLP's points, as Prometheus' OTLP receiver does; deltas stay what they are. */
export class MetricsSeries {
  readonly #out: SamplesWriter;
  readonly #isAny: boolean;
  /** `job` and `instance`. */
  #shared: Labels = [];
  #resource: readonly Attribute[] = [];
  /** The latest time of the resource's points, nanoseconds. */
  #latest = 0n;
  #name = '';
  #facts = '';
  #metric: PointMetric | null = null;
  /** Data points seen, and those of which a row was rejected. */
  points = 0;
  rejected = 0;

  constructor(out: SamplesWriter) {
    this.#out = out;
    this.#isAny = out.options.utf8Names;
  }

  /** The attributes of the resource of what follows. */
  beginResource(attributes: readonly Attribute[]): void {
    const textOf = (name: string): string => textOrEmpty(attributes.find(([one]) => one === name)?.[1]);
    const [name, namespace, instance] = [textOf(SERVICE.name), textOf(SERVICE.namespace), textOf(SERVICE.instance)];
    const job = name === '' || namespace === '' ? name : `${namespace}/${name}`;
    this.#shared = [...(job === '' ? [] : [['job', job] as const]), ...(instance === '' ? [] : [['instance', instance] as const])];
    this.#resource = attributes;
    this.#latest = 0n;
  }

  /** Adds `target_info`, where the resource has more than what its labels have. */
  endResource(): void {
    const others = this.#resource.filter(([name]) => !IDENTIFYING.has(name));
    if (this.#latest === 0n || others.length === 0 || this.#shared.length === 0) return;
    this.#metric = null;
    this.#facts = factsText({ kind: 'info', unit: '', help: 'Target metadata', isDelta: false });
    this.#useSeries('target_info', others, []);
    this.#number(this.#latest, 0n, bitsOf(1));
  }

  beginMetric(metric: PointMetric): void {
    this.#metric = metric;
    this.#name = metricName(metric, this.#isAny);
    const { description, unit, isDelta, isMonotonic, kind } = metric;
    const shown = kind === 'sum' && !isMonotonic ? (isDelta ? 'unknown' : 'gauge') : KINDS[kind];
    this.#facts = factsText({ kind: shown, help: description, unit: unitName(unit), isDelta });
  }

  /** Takes a point of the metric. */
  point(point: Point): void {
    const metric = this.#metric;
    if (metric === null) throw new Error('BUG: a point without a metric.');
    const before = this.#out.rejected.count;
    this.points += 1;
    if (point.problem !== '') this.#out.reject(point.problem);
    else if (metric.kind === 'histogram') this.#histogram(point);
    else if (metric.kind === 'exponentialHistogram') this.#exponential(point);
    else if (metric.kind === 'summary') this.#summary(point);
    else this.#plain(point);
    if (this.#out.rejected.count > before) this.rejected += 1;
    else if (point.time > this.#latest) this.#latest = point.time;
  }

  #plain(point: Point): void {
    if (point.bits === null && !isStale(point)) {
      this.#out.reject('a number without a value');
      return;
    }
    this.#useSeries(this.#name, point.attributes, []);
    this.#number(point.time, point.start, isStale(point) ? STALE : (point.bits ?? 0n));
    this.#exemplars(point.exemplars);
  }

  #histogram(point: Point): void {
    const { counts, bounds, attributes, count, sum } = point;
    if (counts.length > 0 && counts.length !== bounds.length + 1) {
      this.#out.reject('a histogram that does not have one bucket more than bounds');
      return;
    }
    const put = (suffix: string, more: Labels, bits: bigint): void => {
      this.#useSeries(`${this.#name}_${suffix}`, attributes, more);
      this.#number(point.time, point.start, isStale(point) ? STALE : bits);
    };
    if (sum !== null) put('sum', [], sum);
    put('count', [], bitsOf(count));
    let cumulative = 0;
    let least = -Infinity;
    for (const [index, bound] of bounds.entries()) {
      cumulative += counts[index] ?? 0;
      put('bucket', [['le', plainNumber(bound)]], bitsOf(cumulative));
      this.#exemplars(point.exemplars, least, bound);
      least = bound;
    }
    put('bucket', [['le', '+Inf']], bitsOf(count));
    this.#exemplars(point.exemplars, least);
  }

  #exponential(point: Point): void {
    const payload = exponentialPayload(point);
    if (typeof payload === 'string') {
      this.#out.reject(payload);
      return;
    }
    this.#useSeries(this.#name, point.attributes, []);
    double[0] = isStale(point) ? STALE : (point.sum ?? 0n);
    const [low, high] = words as unknown as [number, number];
    this.#out.histogram(millisecondsOf(point.time), low, high, payload, millisecondsOf(point.start));
    this.#exemplars(point.exemplars);
  }

  #summary(point: Point): void {
    const put = (name: string, more: Labels, bits: bigint): void => {
      this.#useSeries(name, point.attributes, more);
      this.#number(point.time, point.start, isStale(point) ? STALE : bits);
    };
    put(`${this.#name}_sum`, [], point.sum ?? 0n);
    put(`${this.#name}_count`, [], bitsOf(point.count));
    for (const [quantile, bits] of point.quantiles) put(this.#name, [['quantile', plainNumber(quantile)]], bits);
  }

  #number(time: bigint, start: bigint, bits: bigint): void {
    double[0] = bits;
    this.#out.number(millisecondsOf(time), words[0] as number, words[1] as number, millisecondsOf(start));
  }

  /** Exemplars of the series in use: of a bucket those above `above`, up to `upTo`. */
  #exemplars(exemplars: readonly PointExemplar[], above = -Infinity, upTo = Infinity): void {
    for (const { time, bits, traceId, spanId, attributes } of exemplars) {
      double[0] = bits;
      const [low, high] = [words[0] as number, words[1] as number];
      const value = new Float64Array(double.buffer)[0] as number;
      if (Number.isFinite(above) || Number.isFinite(upTo)) if (!(value > above && value <= upTo)) continue;
      const labels = [
        ...(traceId === '' ? [] : [['trace_id', traceId] as const]),
        ...(spanId === '' ? [] : [['span_id', spanId] as const]),
        ...attributes.map(([name, one]) => [labelName(name, this.#isAny), textOrEmpty(one)] as const),
      ];
      this.#out.exemplar(millisecondsOf(time), low, high, labels);
    }
  }

  /** Labels of attributes whose names become one are one, their values in the order of the attributes' keys. */
  #useSeries(name: string, attributes: readonly Attribute[], more: Labels): void {
    const labels = new Map<string, string>();
    try {
      for (const [attribute, value] of [...attributes].sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0))) {
        const [label, text] = [labelName(attribute, this.#isAny), anyText(value)];
        const before = labels.get(label);
        labels.set(label, before === undefined ? text : `${before};${text}`);
      }
    } catch (error) {
      if (!(error instanceof TooDeep)) throw error;
      this.#out.refuseSeries(TOO_DEEP);
      return;
    }
    for (const [label, text] of [...this.#shared, ...more]) labels.set(label, text);
    labels.set(NAME, name);
    key.clear();
    for (const [label, text] of labels) key.text(label, text);
    key.facts(this.#facts);
    this.#out.useSeries(key.bytes, 0, key.length);
  }
}

const isStale = ({ flags }: Point): boolean => (flags & NO_RECORDED_VALUE) !== 0;

function textOrEmpty(value: unknown): string {
  try {
    return anyText(value);
  } catch (error) {
    if (error instanceof TooDeep) return '';
    throw error;
  }
}

/** A number without an exponent, as Go's strconv writes it with the format 'f'. */
function plainNumber(value: number): string {
  if (value === Infinity) return '+Inf';
  if (!Number.isFinite(value)) return Number.isNaN(value) ? 'NaN' : '-Inf';
  const text = String(value);
  const parts = /^(-?)(\d)(?:\.(\d+))?e([+-]\d+)$/.exec(text);
  if (parts === null) return text;
  const [, sign = '', first = '', rest = '', exponent = '0'] = parts;
  const [digits, power] = [first + rest, Number(exponent)];
  if (power < 0) return `${sign}0.${'0'.repeat(-power - 1)}${digits}`;
  return sign + digits.padEnd(power + 1, '0');
}
