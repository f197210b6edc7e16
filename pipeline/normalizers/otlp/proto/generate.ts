/**
 * `npm run proto`: writes ../schema.ts, the tables that the readers of OTLP walk by, from the copies of OpenTelemetry's .proto files beside this file.
 * `npm run proto -- --check` writes nothing and fails where it is out of date.
 * The copies are those of opentelemetry-proto 1.7.0 (https://github.com/open-telemetry/opentelemetry-proto), unchanged.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { Enum, parse, Root, types, type Field, type Type } from 'protobufjs';

const FILES = ['common', 'resource', 'trace', 'logs', 'trace_service', 'logs_service'];
export const SCHEMA_FILE = path.resolve(import.meta.dirname, '..', 'schema.ts');

/** The messages of the copies, by their full names. */
export function otlpMessages(): Root {
  const root = new Root();
  for (const name of FILES) parse(readFileSync(path.join(import.meta.dirname, `${name}.proto`), 'utf8'), root);
  root.resolveAll();
  return root;
}

/** Names of tables, the messages that they are of, and the fields that are read of them. */
const TABLES: readonly (readonly [table: string, message: string, fields: string])[] = [
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

/** What ../schema.ts has to be. */
export function otlpSchema(): string {
  const root = otlpMessages();
  const tables = TABLES.map(([name, message, wanted]) => {
    const fields = fieldsOf(root.lookupType(`opentelemetry.proto.${message}`), wanted);
    return tableOf(name, fields, ({ id }) => id) + tableOf(`${name}_TAGS`, fields, tagOf);
  });
  return `${HEAD}\n${tables.join('\n')}`;
}

/** Writes the tables where they are out of date, or only says so. Gives the exit code. */
function main(argv: readonly string[]): number {
  const isCheck = argv.includes('--check');
  const should = otlpSchema();
  if (readFileSync(SCHEMA_FILE, 'utf8') === should) return 0;
  if (!isCheck) writeFileSync(SCHEMA_FILE, should);
  process.stdout.write(`schema.ts ${isCheck ? 'is out of date: run npm run proto' : 'was written'}\n`);
  return isCheck ? 1 : 0;
}

if (process.argv[1] === import.meta.filename) process.exitCode = main(process.argv.slice(2));
