import { factsText, NAME, type Labels } from '../../samples/definition.ts';
import { KeyBytes } from '../../samples/key-bytes.ts';
import type { SamplesWriter } from '../../samples/samples-writer.ts';
import { anyText, TooDeep } from './any-text.ts';
import { exponentialPayload } from './exponential.ts';
import { MetricContexts, type MetricContext } from './metric-contexts.ts';
import { bitsOf, numberOf, setBits, type Attribute, type Bits, type Point, type PointAttributes, type PointExemplar, type PointMetric } from './metric-point.ts'; // prettier-ignore
import { labelName } from './prometheus-names.ts';
import { SeriesToken } from './series-token.ts';

const NO_RECORDED_VALUE = 1;
/** The NaN by which Prometheus marks the end of a series. */
const STALE: Bits = { isThere: true, low: 2, high: 0x7ff0_0000 };
const ONE = bitsOf(1);
const ZERO = bitsOf(0);
const SERVICE = { name: 'service.name', namespace: 'service.namespace', instance: 'service.instance.id' } as const;
const IDENTIFYING: ReadonlySet<string> = new Set(Object.values(SERVICE));
const TOO_DEEP = 'an attribute nested deeper than 64 levels';

/** Which of a point's series: the name's suffix, and the label that tells its numbers apart. */
const PARTS = [
  { suffix: '', label: '' },
  { suffix: '_sum', label: '' },
  { suffix: '_count', label: '' },
  { suffix: '_bucket', label: 'le' },
  { suffix: '', label: 'quantile' },
] as const;
const [PLAIN, SUM, COUNT, BUCKET, QUANTILE] = [0, 1, 2, 3, 4];

const key = new KeyBytes();
const token = new SeriesToken();
const contexts = new MetricContexts();
const counted = bitsOf(0);

/** Makes Prometheus' series of OTLP's points, as Prometheus' OTLP receiver does; deltas stay what they are. */
export class MetricsSeries {
  readonly #out: SamplesWriter;
  readonly #isAny: boolean;
  /** The encoding of the attributes (`TOKEN_MARKS`). */
  readonly #mark: number;
  /** `job` and `instance`. */
  #shared: Labels = [];
  #sharedText = '[]';
  #resource: readonly Attribute[] = [];
  /** The latest time of the resource's points. */
  #latest = 0;
  #metric: PointMetric | null = null;
  #context: MetricContext | null = null;
  #attributes: PointAttributes | null = null;
  /** They as labels, once they were read. */
  #own: ReadonlyMap<string, string> | string | null = null;
  /** Whether the token has the point's attributes. */
  #hasToken = false;
  #part = PLAIN;
  #number = 0;
  /** Data points seen, and those of which a row was rejected. */
  points = 0;
  rejected = 0;

  constructor(out: SamplesWriter, mark: number) {
    this.#out = out;
    this.#isAny = out.options.utf8Names;
    this.#mark = mark;
  }

  /** The attributes of the resource of what follows. */
  beginResource(attributes: readonly Attribute[]): void {
    const textOf = (name: string): string => textOrEmpty(attributes.find(([one]) => one === name)?.[1]);
    const [name, namespace, instance] = [textOf(SERVICE.name), textOf(SERVICE.namespace), textOf(SERVICE.instance)];
    const job = name === '' || namespace === '' ? name : `${namespace}/${name}`;
    this.#shared = [...(job === '' ? [] : [['job', job] as const]), ...(instance === '' ? [] : [['instance', instance] as const])];
    this.#sharedText = JSON.stringify(this.#shared);
    this.#resource = attributes;
    this.#latest = 0;
  }

  /** Adds `target_info`, where the resource has more than what its labels have. */
  endResource(): void {
    const others = this.#resource.filter(([name]) => !IDENTIFYING.has(name));
    if (this.#latest === 0 || others.length === 0 || this.#shared.length === 0) return;
    this.#metric = null;
    const facts = factsText({ kind: 'info', unit: '', help: 'Target metadata', isDelta: false });
    const own = this.#labelsIn(others);
    this.#useLabels(typeof own === 'string' ? own : keyOf('target_info', own, this.#shared, facts));
    this.#add(this.#latest, 0, ONE);
  }

  beginMetric(metric: PointMetric): void {
    this.#metric = metric;
    this.#context = contexts.of(metric, this.#shared, this.#sharedText, this.#isAny);
  }

  /** Takes a point of the metric. */
  point(point: Point, attributes: PointAttributes): void {
    const metric = this.#metric;
    if (metric === null || this.#context === null) throw new Error('BUG: a point without a metric.');
    const before = this.#out.rejected.count;
    this.points += 1;
    this.#attributes = attributes;
    this.#own = null;
    this.#hasToken = token.begin(this.#mark, this.#context.id, attributes);
    if (point.problem !== '') this.#out.reject(point.problem);
    else if (metric.kind === 'histogram') this.#histogram(point);
    else if (metric.kind === 'exponentialHistogram') this.#exponential(point);
    else if (metric.kind === 'summary') this.#summary(point);
    else this.#plain(point);
    if (this.#out.rejected.count === before) this.#latest = Math.max(this.#latest, point.time);
    else {
      this.rejected += 1;
      // corrupt bytes refuse the request, also where the point is not taken
      attributes.read();
    }
  }

  #plain(point: Point): void {
    if (!point.value.isThere && !isStale(point)) {
      this.#out.reject('a number without a value');
      return;
    }
    this.#put(point, PLAIN, 0, point.value);
    this.#exemplars(point.exemplars);
  }

  #histogram(point: Point): void {
    const { counts, bounds, count, sum, exemplars } = point;
    if (counts.length > 0 && counts.length !== bounds.length + 1) {
      this.#out.reject('a histogram that does not have one bucket more than bounds');
      return;
    }
    if (sum.isThere) this.#put(point, SUM, 0, sum);
    setBits(counted, count);
    this.#put(point, COUNT, 0, counted);
    let cumulative = 0;
    let least = -Infinity;
    for (let index = 0; index < bounds.length; index++) {
      const bound = bounds[index] as number;
      cumulative += counts[index] ?? 0;
      setBits(counted, cumulative);
      this.#put(point, BUCKET, bound, counted);
      this.#exemplars(exemplars, least, bound);
      least = bound;
    }
    setBits(counted, count);
    this.#put(point, BUCKET, Infinity, counted);
    this.#exemplars(exemplars, least);
  }

  #exponential(point: Point): void {
    const payload = exponentialPayload(point);
    if (typeof payload === 'string') {
      this.#out.reject(payload);
      return;
    }
    this.#use(PLAIN, 0);
    const { low, high } = isStale(point) ? STALE : point.sum.isThere ? point.sum : ZERO;
    this.#out.histogram(point.time, low, high, payload, point.start);
    this.#exemplars(point.exemplars);
  }

  #summary(point: Point): void {
    this.#put(point, SUM, 0, point.sum.isThere ? point.sum : ZERO);
    setBits(counted, point.count);
    this.#put(point, COUNT, 0, counted);
    for (const [quantile, bits] of point.quantiles) this.#put(point, QUANTILE, quantile, bits);
  }

  #put(point: Point, part: number, number: number, bits: Bits): void {
    this.#use(part, number);
    this.#add(point.time, point.start, isStale(point) ? STALE : bits);
  }

  #add(time: number, start: number, { low, high }: Bits): void {
    this.#out.number(time, low, high, start);
  }

  /** Exemplars of the series in use: of a bucket those above `above`, up to `upTo`. */
  #exemplars(exemplars: readonly PointExemplar[], above = -Infinity, upTo = Infinity): void {
    for (const { time, bits, traceId, spanId, attributes } of exemplars) {
      const value = numberOf(bits);
      if (Number.isFinite(above) || Number.isFinite(upTo)) if (!(value > above && value <= upTo)) continue;
      const labels = [
        ...(traceId === '' ? [] : [['trace_id', traceId] as const]),
        ...(spanId === '' ? [] : [['span_id', spanId] as const]),
        ...attributes.map(([name, one]) => [labelName(name, this.#isAny), textOrEmpty(one)] as const),
      ];
      this.#out.exemplar(time, bits.low, bits.high, labels);
    }
  }

  /** The series of the point that has this part of the metric. */
  #use(part: number, number: number): void {
    this.#part = part;
    this.#number = number;
    if (!this.#hasToken) {
      this.#useLabels(this.#labelsOf());
      return;
    }
    token.part(part, number);
    this.#out.useToken(token.bytes, 0, token.length, this.#labelsOf);
  }

  #useLabels(labels: KeyBytes | string): void {
    if (typeof labels === 'string') this.#out.refuseSeries(labels);
    else this.#out.useSeries(labels.bytes, 0, labels.length);
  }

  /** The labels of the series in use. */
  readonly #labelsOf = (): KeyBytes | string => {
    const { name, shared, facts } = this.#context as MetricContext;
    const { suffix, label } = PARTS[this.#part] as (typeof PARTS)[number];
    const more = label === '' ? [] : [[label, plainNumber(this.#number)] as const];
    this.#own ??= this.#labelsIn((this.#attributes as PointAttributes).read());
    return typeof this.#own === 'string' ? this.#own : keyOf(`${name}${suffix}`, this.#own, [...shared, ...more], facts);
  };

  /** Labels of attributes: those whose names become one are one, their values in the order of the attributes' keys. A string: why there are none. */
  #labelsIn(attributes: readonly Attribute[]): ReadonlyMap<string, string> | string {
    const labels = new Map<string, string>();
    try {
      for (const [attribute, value] of [...attributes].sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0))) {
        const [label, text] = [labelName(attribute, this.#isAny), anyText(value)];
        const before = labels.get(label);
        labels.set(label, before === undefined ? text : `${before};${text}`);
      }
    } catch (error) {
      if (!(error instanceof TooDeep)) throw error;
      return TOO_DEEP;
    }
    return labels;
  }
}

/** The labels of a series: `more` and the name go before what attributes are called. */
function keyOf(name: string, own: ReadonlyMap<string, string>, more: Labels, facts: string): KeyBytes {
  const labels = new Map(own);
  for (const [label, text] of more) labels.set(label, text);
  labels.set(NAME, name);
  key.clear();
  for (const [label, text] of labels) key.text(label, text);
  key.facts(facts);
  return key;
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
