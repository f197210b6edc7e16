/**
 * `npm run proto`: writes ../schema.ts and ../metrics-schema.ts, the tables that the readers of OTLP walk by, from the copies of OpenTelemetry's .proto files beside this file.
 * `npm run proto -- --check` writes nothing and fails where one is out of date.
 * The copies are those of opentelemetry-proto 1.7.0 (https://github.com/open-telemetry/opentelemetry-proto), unchanged.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { Enum, parse, Root, types, type Field, type Type } from 'protobufjs';

const FILES = ['common', 'resource', 'trace', 'logs', 'metrics', 'trace_service', 'logs_service', 'metrics_service'];

/** The messages of the copies, by their full names. */
export function otlpMessages(): Root {
  const root = new Root();
  for (const name of FILES) parse(readFileSync(path.join(import.meta.dirname, `${name}.proto`), 'utf8'), root);
  root.resolveAll();
  return root;
}

/** Names of tables, the messages that they are of, and the fields that are read of them. */
type Tables = readonly (readonly [table: string, message: string, fields: string])[];
const TABLES: Tables = [
  ['REQUEST', 'collector.logs.v1.ExportLogsServiceRequest', 'resourceLogs'],
  ['RESOURCE_LOGS', 'logs.v1.ResourceLogs', 'resource scopeLogs'],
  ['RESOURCE', 'resource.v1.Resource', 'attributes'],
  ['SCOPE_LOGS', 'logs.v1.ScopeLogs', 'scope logRecords'],
  ['SCOPE', 'common.v1.InstrumentationScope', 'name version attributes'],
  [
    'LOG_RECORD',
    'logs.v1.LogRecord',
    'timeUnixNano severityNumber severityText body attributes traceId spanId observedTimeUnixNano eventName',
  ],
  ['TRACES_REQUEST', 'collector.trace.v1.ExportTraceServiceRequest', 'resourceSpans'],
  ['RESOURCE_SPANS', 'trace.v1.ResourceSpans', 'resource scopeSpans schemaUrl'],
  ['SPANS_RESOURCE', 'resource.v1.Resource', 'attributes droppedAttributesCount'],
  ['SCOPE_SPANS', 'trace.v1.ScopeSpans', 'scope spans schemaUrl'],
  ['SPANS_SCOPE', 'common.v1.InstrumentationScope', 'name version attributes droppedAttributesCount'],
  ['SPAN', 'trace.v1.Span', '*'],
  ['EVENT', 'trace.v1.Span.Event', '*'],
  ['LINK', 'trace.v1.Span.Link', '*'],
  ['STATUS', 'trace.v1.Status', '*'],
  ['KEY_VALUE', 'common.v1.KeyValue', '*'],
  ['ANY_VALUE', 'common.v1.AnyValue', '*'],
  ['LIST', 'common.v1.ArrayValue', '*'],
];

/** Of metrics. Lists of numbers may come packed or one by one, so what stands before a field does not follow from its type alone. */
const METRICS_TABLES: Tables = [
  ['METRICS_REQUEST', 'collector.metrics.v1.ExportMetricsServiceRequest', 'resourceMetrics'],
  ['RESOURCE_METRICS', 'metrics.v1.ResourceMetrics', 'resource scopeMetrics'],
  ['SCOPE_METRICS', 'metrics.v1.ScopeMetrics', 'metrics'],
  ['METRIC', 'metrics.v1.Metric', 'name description unit gauge sum histogram exponentialHistogram summary'],
  // those of gauges, histograms and summaries have the same numbers
  ['METRIC_DATA', 'metrics.v1.Sum', 'dataPoints aggregationTemporality isMonotonic'],
  ['NUMBER_POINT', 'metrics.v1.NumberDataPoint', 'startTimeUnixNano timeUnixNano asDouble exemplars asInt attributes flags'],
  [
    'HISTOGRAM_POINT',
    'metrics.v1.HistogramDataPoint',
    'startTimeUnixNano timeUnixNano count sum bucketCounts explicitBounds exemplars attributes flags',
  ],
  [
    'EXPONENTIAL_POINT',
    'metrics.v1.ExponentialHistogramDataPoint',
    'attributes startTimeUnixNano timeUnixNano count sum scale zeroCount positive negative flags exemplars zeroThreshold',
  ],
  ['SUMMARY_POINT', 'metrics.v1.SummaryDataPoint', 'startTimeUnixNano timeUnixNano count sum quantileValues attributes flags'],
  ['BUCKETS', 'metrics.v1.ExponentialHistogramDataPoint.Buckets', '*'],
  ['QUANTILE', 'metrics.v1.SummaryDataPoint.ValueAtQuantile', '*'],
  ['EXEMPLAR', 'metrics.v1.Exemplar', '*'],
];

const METRICS_HEAD = `/**
 * Made by \`npm run proto\` from the .proto files in proto/: edit proto/generate.ts instead.
 * The messages of OTLP that metrics are made of, as far as they are read: the numbers of the fields, by the names that the JSON encoding has.
 */
`;

const HEAD = `/**
 * Made by \`npm run proto\` from the .proto files in proto/: edit proto/generate.ts instead.
 * The messages of OTLP that logs and traces are made of, as far as they are read. A table has the numbers of the fields, by the names that the
 * JSON encoding has; its \`…_TAGS\` have what stands before each of them in protobuf: the number times 8, plus the wire type.
 */
`;

/** The fields of a table. Throws where the message does not have one of them. */
function fieldsOf(message: Type, wanted: string): readonly Field[] {
  const names = wanted === '*' ? message.fieldsArray.map(({ name }) => name) : wanted.split(' ');
  return names
    .map((name) => {
      const field = message.fields[name];
      if (field === undefined) throw new Error(`${message.fullName} has no field ${name}.`);
      return field;
    })
    .sort((a, b) => a.id - b.id);
}

/** What stands before the values of a field. */
function tagOf({ id, type, resolvedType }: Field): number {
  const wireTypes: Readonly<Record<string, number>> = types.basic;
  return id * 8 + (resolvedType instanceof Enum ? types.basic.int32 : (wireTypes[type] ?? types.basic.bytes));
}

const tableOf = (name: string, fields: readonly Field[], number: (field: Field) => number): string =>
  `export const ${name} = {\n${fields.map((field) => `  ${field.name}: ${String(number(field))},\n`).join('')}} as const;\n`;

/** The tables that are made: where they are, and what they have to be. */
export function otlpSchemas(): readonly { readonly file: string; readonly text: string }[] {
  const root = otlpMessages();
  const textOf = (head: string, tables: Tables, hasTags: boolean): string => {
    const texts = tables.map(([name, message, wanted]) => {
      const fields = fieldsOf(root.lookupType(`opentelemetry.proto.${message}`), wanted);
      return tableOf(name, fields, ({ id }) => id) + (hasTags ? tableOf(`${name}_TAGS`, fields, tagOf) : '');
    });
    return `${head}\n${texts.join('\n')}`;
  };
  const at = (name: string): string => path.resolve(import.meta.dirname, '..', name);
  return [
    { file: at('schema.ts'), text: textOf(HEAD, TABLES, true) },
    { file: at('metrics-schema.ts'), text: textOf(METRICS_HEAD, METRICS_TABLES, false) },
  ];
}

/** Writes the tables where they are out of date, or only says so. Gives the exit code. */
function main(argv: readonly string[]): number {
  const isCheck = argv.includes('--check');
  const old = otlpSchemas().filter(({ file, text }) => readFileSync(file, 'utf8') !== text);
  for (const { file, text } of old) {
    if (!isCheck) writeFileSync(file, text);
    process.stdout.write(`${path.basename(file)} ${isCheck ? 'is out of date: run npm run proto' : 'was written'}\n`);
  }
  return isCheck && old.length > 0 ? 1 : 0;
}

if (process.argv[1] === import.meta.filename) process.exitCode = main(process.argv.slice(2));
