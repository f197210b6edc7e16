/** The description of the paths of ingest, by the names of their wire formats (docs/ingest.md). */
import Joi from 'joi';
import { anyMembers, JSON_TYPE, jsonBody, list, members, TEXT_TYPE, text, whole, type Answer, type Operation } from '../http/operation.ts';

const PROTOBUF_TYPE = 'application/x-protobuf';
const FORM_TYPE = 'application/x-www-form-urlencoded';
const bytes = Joi.binary();
const json = anyMembers();
const either = Joi.alternatives(json, Joi.array());

const accepted = members(
  { status: Joi.string().valid('ok'), accepted: whole('Rows that are stored.') },
  {
    rejected: whole('Rows that are not.'),
    errors: list(anyMembers()).description('Of rows that were rejected: index and reason, 100 at most.'),
  },
);
const answered = (schema: Joi.Schema): Answer => ({
  description: 'What was accepted is on the log, and is stored once.',
  content: { [JSON_TYPE]: schema },
});
const empty: Answer = { description: 'What was accepted is on the log, and is stored once.' };
const otlp: Answer = {
  description: 'As OpenTelemetry answers; `partialSuccess` where rows were rejected.',
  content: { [JSON_TYPE]: Joi.object({ partialSuccess: anyMembers() }), [PROTOBUF_TYPE]: bytes },
};
const partial: Answer = {
  description: 'Some rows were rejected, the others are kept.',
  content: { [JSON_TYPE]: members({ detail: text() }) },
};

/** A wire format: what it is, the bodies that it takes, and its answers. */
type Format = { readonly summary: string; readonly bodies: Readonly<Record<string, Joi.Schema>>; readonly answers: Operation['answers'] };
const FORMATS: Readonly<Record<string, Format>> = {
  json: {
    summary: 'Entries as JSON: an object, an array or lines',
    bodies: { [JSON_TYPE]: either, 'application/x-ndjson': text() },
    answers: { 200: answered(accepted) },
  },
  es_bulk: {
    summary: "Elasticsearch's bulk requests",
    bodies: { 'application/x-ndjson': text(), [JSON_TYPE]: text() },
    answers: { 200: answered(members({ took: whole(), errors: Joi.boolean(), items: list(anyMembers()) })) },
  },
  loki: { summary: "Loki's push, JSON or Protobuf", bodies: { [JSON_TYPE]: json, [PROTOBUF_TYPE]: bytes }, answers: { 204: empty } },
  otlp_logs: {
    summary: "OpenTelemetry's logs, JSON or Protobuf",
    bodies: { [JSON_TYPE]: json, [PROTOBUF_TYPE]: bytes },
    answers: { 200: otlp },
  },
  otlp_traces: {
    summary: "OpenTelemetry's traces, JSON or Protobuf",
    bodies: { [JSON_TYPE]: json, [PROTOBUF_TYPE]: bytes },
    answers: { 200: otlp },
  },
  otlp_metrics: {
    summary: "OpenTelemetry's metrics, JSON or Protobuf",
    bodies: { [JSON_TYPE]: json, [PROTOBUF_TYPE]: bytes },
    answers: { 200: otlp },
  },
  zipkin: { summary: "Zipkin's spans, JSON v2", bodies: { [JSON_TYPE]: Joi.array() }, answers: { 202: empty } },
  remote_write: {
    summary: "Prometheus' remote write 1.0 and 2.0",
    bodies: { [PROTOBUF_TYPE]: bytes },
    answers: { 204: empty, 400: partial },
  },
  influx: { summary: "InfluxDB's line protocol", bodies: { [TEXT_TYPE]: text() }, answers: { 204: empty, 400: partial } },
  gelf: { summary: "Graylog's GELF", bodies: { [JSON_TYPE]: json }, answers: { 202: empty } },
  fluent: {
    summary: "Fluent Bit's and Fluentd's records, JSON or MessagePack",
    bodies: { [JSON_TYPE]: either, 'application/msgpack': bytes },
    answers: { 200: answered(accepted) },
  },
  cloudwatch: {
    summary: 'CloudWatch by Amazon Data Firehose',
    bodies: { [JSON_TYPE]: json },
    answers: { 200: answered(members({ requestId: text(), timestamp: whole() })) },
  },
  hec_event: {
    summary: "Splunk's HTTP Event Collector, events",
    bodies: { [JSON_TYPE]: text() },
    answers: { 200: answered(members({ text: text(), code: whole() }, { ackId: whole() })) },
  },
  hec_raw: {
    summary: "Splunk's HTTP Event Collector, raw lines",
    bodies: { [TEXT_TYPE]: text() },
    answers: { 200: answered(members({ text: text(), code: whole() }, { ackId: whole() })) },
  },
  rrweb: {
    summary: "Session replay: rrweb's events",
    bodies: { [JSON_TYPE]: either, [TEXT_TYPE]: text() },
    answers: {
      202: answered(members({ status: Joi.string().valid('ok') }, { accepted: whole(), rejected: whole(), errors: list(anyMembers()) })),
    },
  },
  vercel: {
    summary: "Vercel's log drain",
    bodies: { [JSON_TYPE]: either, 'application/x-ndjson': text() },
    answers: { 200: answered(accepted) },
  },
  syslog: { summary: 'Syslog messages by HTTP, a line each', bodies: { [TEXT_TYPE]: text() }, answers: { 200: answered(accepted) } },
  heroku: { summary: "Heroku's log drain", bodies: { 'application/logplex-1': text() }, answers: { 200: answered(accepted) } },
  drain: {
    summary: 'Lines of any platform: JSON, logplex or text',
    bodies: { [JSON_TYPE]: either, 'application/logplex-1': text(), [TEXT_TYPE]: text() },
    answers: { 200: answered(accepted) },
  },
};

/** The description of a path of a format; none of a format that is not in the table, as of signals of others. */
export function describedFormat(name: string, path: string): { readonly operation?: Operation } {
  const format = FORMATS[name];
  if (format === undefined) return {};
  const content = name === 'es_bulk' || name === 'influx' ? { ...format.bodies, [FORM_TYPE]: text() } : format.bodies;
  const operation: Operation = {
    ...{ id: idOf('send', path), tag: 'ingest', summary: format.summary, body: { content }, answers: format.answers },
    ...(path.includes(':index') || path.includes('{index}') ? { path: Joi.object({ index: Joi.string() }) } : {}),
    errors: name === 'remote_write' ? [408, 413, 415] : [408, 413],
  };
  return { operation };
}

/** A name of an operation, of its path: `sendApiV1Ingest`. */
const idOf = (verb: string, path: string): string =>
  verb +
  path
    .replace(/\*$/, 'rest')
    .split(/[^A-Za-z0-9]+/)
    .map((part) => part.charAt(0).toUpperCase() + part.slice(1))
    .join('');

const ACKNOWLEDGED: Pick<Operation, 'body' | 'never'> = { body: jsonBody(members({ acks: list(whole()) })), never: [429] };

/** The description of what clients request around sending, and is only acknowledged. */
export const probed = (verb: string, path: string, summary: string): Operation => ({
  ...{ id: idOf(verb, path), tag: 'ingest', summary },
  // only what acknowledges reads a body, and nothing counts them
  ...(verb === 'acknowledge' ? ACKNOWLEDGED : { never: [400, 408, 413, 429] }),
  ...(/[{:]index/.test(path) ? { path: Joi.object({ index: Joi.string() }) } : {}),
  answers: { 200: { description: 'As its clients expect it.', content: { [JSON_TYPE]: Joi.any() } } },
});
