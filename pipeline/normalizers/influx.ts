import { isUtf8 } from 'node:buffer';
import { invalidBody, invalidParameter } from '../core/errors.ts';
import { NAME } from '../samples/definition.ts';
import { KeyBytes } from '../samples/key-bytes.ts';
import { SAMPLES } from '../samples/sample.ts';
import type { SamplesWriter } from '../samples/samples-writer.ts';
import { LineFault, LineReader } from './influx/line.ts';
import { fieldValue } from './influx/value.ts';
import type { Ack, IngestRequest, Normalizer, Written } from './normalizer.ts';
import { METRICS_CAPS, METRICS_PLANE, partialAnswer } from './shared/metrics-answer.ts';
import { plainName } from './shared/metric-names.ts';

/** How many of a unit a millisecond has, or how many milliseconds the unit has. */
const PRECISIONS: Readonly<Record<string, readonly [divide: bigint, multiply: bigint]>> = {
  ...{ ns: [1_000_000n, 1n], n: [1_000_000n, 1n], us: [1000n, 1n], u: [1000n, 1n], µ: [1000n, 1n], µs: [1000n, 1n] },
  ...{ ms: [1n, 1n], s: [1n, 1000n], m: [1n, 60_000n], h: [1n, 3_600_000n] },
};
/** Parameters of a request that become labels of all its series, where a line has no such tag. */
const NAMES = ['db', 'bucket', 'org'] as const;
/** A field of this name is the measurement itself, as Telegraf and influxdb_exporter name it. */
const VALUE = 'value';

const key = new KeyBytes();
const double = new Float64Array(1);
const bits = new Uint32Array(double.buffer);

/** InfluxDB's line protocol, of the APIs of versions 1 and 2: each field that is a number is a sample. */
export const influx: Normalizer<SamplesWriter> = {
  ...METRICS_PLANE,
  name: 'influx',
  signal: SAMPLES,
  paths: ['/write', '/api/v2/write'],
  caps: METRICS_CAPS,
  batchSettings: '`metric_batch_size` in Telegraf, `batch_size` of the write options in the clients',
  methods: ['POST'],

  normalize({ body, query, receivedAt }: IngestRequest, out: SamplesWriter): void {
    const precision = query.get('precision') || 'ns';
    const scale = Object.hasOwn(PRECISIONS, precision) ? PRECISIONS[precision] : undefined;
    if (scale === undefined)
      throw invalidParameter(`precision is ${JSON.stringify(precision.slice(0, 50))}; it is one of ${Object.keys(PRECISIONS).join(', ')}.`);
    if (!isUtf8(body)) throw invalidBody('The body is not UTF-8.');
    const shared = NAMES.flatMap((name): [string, string][] => (query.get(name) ? [[name, query.get(name) ?? '']] : []));
    const now = Number(receivedAt / 1_000_000n);
    const lines = new LineReader(body);
    while (lines.next()) {
      out.line = lines.number;
      try {
        lines.read();
        takeLine(lines, body, out, { shared, now, scale });
      } catch (error) {
        if (!(error instanceof LineFault)) throw error;
        out.reject(error.message);
      }
    }
  },

  ack(_request: IngestRequest, written: Written): Ack {
    return partialAnswer(written, 'samples and lines') ?? { status: 204 };
  },
};

type Shared = {
  readonly shared: readonly (readonly [string, string])[];
  readonly now: number;
  readonly scale: readonly [bigint, bigint];
};

/** All values of a line are read before the first is taken: a bad line gives nothing. */
function takeLine(lines: LineReader, body: Buffer, out: SamplesWriter, { shared, now, scale }: Shared): void {
  const values = lines.fields.map(({ name, start, end }) => fieldValue(body, start, end, name));
  const time = lines.timestamp === '' ? now : millisecondsOf(BigInt(lines.timestamp), scale);
  const isAny = out.options.utf8Names;
  const nameOf = (name: string, isMetric = false): string => (isAny ? name : plainName(name, isMetric));
  const own = new Set(lines.tags.map(([name]) => name));
  const labels = [...shared.filter(([name]) => !own.has(name)), ...lines.tags].map(([name, value]) => [nameOf(name), value] as const);
  for (const [index, { name }] of lines.fields.entries()) {
    const value = values[index] ?? null;
    if (value === null) continue;
    key.clear();
    key.text(NAME, nameOf(name === VALUE ? lines.measurement : `${lines.measurement}_${name}`, true));
    for (const [label, text] of labels) key.text(label, text);
    out.useSeries(key.bytes, 0, key.length);
    double[0] = value;
    out.number(time, bits[0] as number, bits[1] as number);
  }
}

/** Rounded towards the past. */
function millisecondsOf(time: bigint, [divide, multiply]: readonly [bigint, bigint]): number {
  const scaled = time * multiply;
  const floor = scaled / divide;
  return Number(scaled % divide < 0n ? floor - 1n : floor);
}
